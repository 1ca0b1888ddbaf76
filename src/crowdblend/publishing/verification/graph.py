"""Statistics of a network: the very numbers that were planned, each with its error and confidence."""

from __future__ import annotations

from collections import Counter
from typing import Any

from crowdblend.publishing.verification.consistency import mechanisms, require_files
from crowdblend.publishing.verification.counts import read_rows
from crowdblend.reading.release import PublishedRelease, contradiction


def check(published: PublishedRelease) -> None:
    """Refuse other rows, or errors and noise that are not the stated ones."""
    planned: list[dict[str, Any]] = published.require("statistics", list)
    scales = [dict(part.details)["scale"] for part in mechanisms(published, "statistic")]
    if Counter(scales) != Counter(made["scale"] for made in planned):
        raise contradiction("it states other statistics than its derivation is about")
    (path,) = require_files(published, "data")
    classes = ["class"] if any(made.get("labels") for made in planned) else []
    rows = read_rows(path, ["statistic", *classes, "value", "error", "confidence"])
    expected = [
        (made["statistic"], label, made["error"], published.parameter("confidence"))
        for made in planned
        for label in made.get("labels") or [None]
    ]
    found = [(row["statistic"], row.get("class") or None, row["error"], row["confidence"]) for row in rows]
    if found != expected:
        raise contradiction(f"{path.name} has other rows than the statistics that were planned")

"""Statistics: the very numbers that were planned, each within its range and with its error."""

from __future__ import annotations

from typing import Any

from crowdblend.publishing.verification.counts import read_rows
from crowdblend.publishing.verification.published import PublishedFolder, contradiction

TOTALS = ("totals.sum", "totals.histogram")


def check(published: PublishedFolder) -> None:
    """Refuse other rows, errors that are not the stated ones, and impossible shares and counts."""
    planned: dict[str, Any] = published.fact("statistics", dict)
    if len(published.mechanisms(*TOTALS)) != len(planned):
        raise contradiction("it states other statistics than its derivation is about")
    (path,) = published.files("data")
    rows = read_rows(path, ["statistic", "bin", "value", "error"])
    expected = [(name, label) for name, made in planned.items() for label in _bins(published, made)]
    if [(row["statistic"], row["bin"] or None) for row in rows] != expected:
        raise contradiction(f"{path.name} has other rows than the statistics that were planned")
    for row in rows:
        made = planned[row["statistic"]]
        largest = 1.0 if "fraction" in made else published.parameter("people")
        if row["error"] != made["error"] or not ("average" in made or 0 <= row["value"] <= largest):
            raise contradiction(f"{path.name} has an error that was not planned, or an impossible number")


def _bins(published: PublishedFolder, made: dict[str, Any]) -> list[str | None]:
    """The labels of a histogram's column, as the certificate declares them; a single number has none."""
    if "histogram" not in made:
        return [None]
    domains: list[dict[str, Any]] = published.fact("columns", dict)[made["histogram"]]
    return [str(label) for label in domains[0]["labels"]]

"""Statistics of a network: exactly the numbers that were planned, each with its error and confidence."""

from __future__ import annotations

from crowdblend.kinds.graph.facts import GraphFacts
from crowdblend.kinds.shared.facts import contradiction
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_files, require_rows


def check(release: PublishedRelease) -> None:
    """Refuse other rows, or errors that are not those of the noise."""
    facts = release.facts
    assert isinstance(facts, GraphFacts)
    (file,) = require_files(release, "data")
    classes = ["class"] if any(one.shares for one in facts.statistics) else []
    rows = require_rows(file, ["statistic", *classes, "value", "error", "confidence"], ("statistic", "class"))
    expected = [
        (one.label, label, one.error, facts.stated_confidence)
        for one in facts.statistics
        for label in one.shares or (None,)
    ]
    found = [(row["statistic"], row.get("class"), row["error"], row["confidence"]) for row in rows]
    if found != expected:
        raise contradiction(f"{file.name} has other rows than the statistics that were planned")
    ends = []
    for one, claim in zip(facts.statistics, facts.guarantees_of_statistics, strict=True):
        width = 1.0 if one.shares else float(claim.premises[0].conclusion.width)
        # Rounding may go beyond the range by a step.
        ends += [(one.low, one.low + width + one.resolution)] * len(one.shares or (None,))
    if not all(low <= row["value"] <= high for row, (low, high) in zip(rows, ends, strict=True)):
        raise contradiction(f"{file.name} has an impossible number")

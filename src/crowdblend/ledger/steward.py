"""What only the steward may know of a release, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def steward_sentences(internal: Mapping[str, Any]) -> list[str]:
    """What the numbers of an entry mean for the one who released it; they are never published.

    >>> steward_sentences({"rows_dropped": 1200})
    ['1,200 rows were dropped: of people with several rows, only as many random ones count as the policy allows.']
    """
    dropped = internal.get("rows_dropped")
    if dropped is None:
        return []
    if dropped == 0:
        return ["No row was dropped: nobody who is counted has more rows than the policy allows."]
    rows = "1 row was" if dropped == 1 else f"{dropped:,} rows were"
    return [f"{rows} dropped: of people with several rows, only as many random ones count as the policy allows."]

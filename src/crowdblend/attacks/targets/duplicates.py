"""The cheapest way to satisfy k-anonymity: publish every row k times (LQS 3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Row = TypeVar("Row", bound=Hashable)


def duplicated(rows: Sequence[Row], k: int) -> list[Row]:
    """Every row, k times.

    >>> is_k_anonymous(duplicated(["alone"], 3), 3), is_k_anonymous(["alone"], 3)
    (True, False)
    """
    return [row for row in rows for _ in range(k)]


def is_k_anonymous(table: Sequence[Hashable], k: int) -> bool:
    """Whether every row appears at least k times: the whole of what k-anonymity asks for."""
    return all(times >= k for times in Counter(table).values())

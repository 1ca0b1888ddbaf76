"""Ranges and listed conjunctions as classes of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.synopsis.queries import Explicit, check_universe, vc_bound

# A range over that many values is asked in twenty thousand ways.
MOST_VALUES = 200
MOST_LISTED = 100_000_000


def ranges(values: int) -> Explicit:
    """All ranges of one ordered column: from any value to any other. Intervals shatter two points and never three.

    Measured are the single values: a person is in one of them only, which more than makes up for adding up many.
    """
    if values > MOST_VALUES:
        message = f"Ranges must be over at most {MOST_VALUES} values, got {values}. Use wider intervals."
        raise InvalidInput(message, where="queries", code="synopsis.cells")
    pairs = [(low, high) for low in range(values) for high in range(low + 1, values + 1)]
    adds = np.zeros((len(pairs), values), np.int8)
    for row, (low, high) in zip(adds, pairs, strict=True):
        row[low:high] = 1
    return Explicit((values,), np.eye(values, dtype=np.int8), adds, min(2, vc_bound(len(pairs))), "ranges")


def list_conjunctions(shape: tuple[int, ...], conditions: Sequence[Mapping[int, int]]) -> Explicit:
    """Return a list of conjunctions, each as column → value, by their places."""
    if not conditions:
        message = "A list of queries must have at least one, got none. Add a query."
        raise InvalidInput(message, where="queries", code="synopsis.no-queries")
    check_universe(shape)
    if len(conditions) * math.prod(shape) > MOST_LISTED:
        raise InvalidInput(
            f"Listed queries times different rows must be at most {MOST_LISTED:,}, got {len(conditions):,} times "
            f"{math.prod(shape):,}. List fewer queries or recode the columns more coarsely.",
            where="queries",
            code="synopsis.queries",
        )
    measured = np.zeros((len(conditions), *shape), np.int8)
    for row, wanted in zip(measured, conditions, strict=True):
        row[tuple(wanted.get(column, slice(None)) for column in range(len(shape)))] = 1
    flat = measured.reshape(len(conditions), -1)
    return Explicit(shape, flat, None, vc_bound(len(conditions)), "listed")

"""Ranges, half-planes and listed conjunctions as classes of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cmp_to_key

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.synopsis.queries import Explicit, check_size, check_universe, vc_bound

# A range over that many values is asked in twenty thousand ways.
MOST_VALUES = 200
MOST_GRID = 400
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


def half_planes(wide: int, high: int) -> Explicit:
    """Return all half-planes on a grid of two ordered columns, by the middle of their intervals' places.

    Turn a line around the grid. Between two directions in which grid points line up the order of all points is strict,
    and every half-plane cuts off a beginning of such an order; ties at the directions themselves add no other set.
    """
    if wide * high > MOST_GRID:
        message = (
            f"Half-planes must be over a grid of at most {MOST_GRID} cells, got {wide * high}. Use wider intervals."
        )
        raise InvalidInput(message, where="queries", code="synopsis.cells")
    points = [(x, y) for x in range(wide) for y in range(high)]
    found: set[bytes] = set()
    for a, b in _between(wide, high):
        order = np.argsort([a * x + b * y for x, y in points], kind="stable")
        chosen = np.zeros(len(points), np.int8)
        for point in order:
            chosen[point] = 1
            found.add(chosen.tobytes())
        check_size(len(found))
    satisfied = np.array([np.frombuffer(row, np.int8) for row in sorted(found)])
    return Explicit(
        (wide, high),
        np.eye(len(points), dtype=np.int8),
        satisfied,
        min(3, vc_bound(len(satisfied))),
        "half-planes",
    )


def _between(wide: int, high: int) -> list[tuple[int, int]]:
    """One direction strictly between every two neighbouring ones in which two grid points are level."""
    steps = {
        (dx // math.gcd(dx, dy), dy // math.gcd(dx, dy))
        for dx in range(1 - wide, wide)
        for dy in range(1 - high, high)
        if (dx, dy) != (0, 0)
    }
    # A step (dx, dy) is level in the direction (−dy, dx); the four axes bound the turn where there are no others.
    level = {(-dy, dx) for dx, dy in steps} | {(1, 0), (0, 1), (-1, 0), (0, -1)}
    turned = sorted(level, key=cmp_to_key(_by_angle))
    return [(a + c, b + d) for (a, b), (c, d) in zip(turned, turned[1:] + turned[:1], strict=True)]


def _by_angle(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Compare by the angle from the positive axis, in whole numbers."""
    halves = [int(y < 0 or (y == 0 and x < 0)) for x, y in (one, other)]
    if halves[0] != halves[1]:
        return halves[0] - halves[1]
    return one[1] * other[0] - one[0] * other[1]


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

"""Tables of several publications made to agree: the closest ones whose common margins are the same.

Publications of different people, or with noise of their own, give two numbers for the same margin. Whatever is computed
from published values costs no privacy, so that readers may have one set of tables instead.

Let x be the estimates of all cells of all tables, one below the other, and V the squares of their standard errors.
Among all y with A·y = 0, where a row of A is a margin of one table minus the same margin of another, the weighted
squares (y − x)ᵀ V⁻¹ (y − x) are smallest at y = x − V·Aᵀ·(A·V·Aᵀ)⁺·A·x. Sums are right on average where the estimates
are. A cell that is not published enters as the middle of what it may hold, with half of its range as standard error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.reading.margins import Margin

Floats = NDArray[np.float64]
# Solving takes time with the cube of the margins that two tables share, and memory with their square.
MOST_SHARED, MOST_NUMBERS = 3_000, 50_000_000
# Half of a 95 % interval in standard errors.
_HALF = 1.96


@dataclass(frozen=True)
class _Table:
    """The cells of one publication: labels, estimates and their squared standard errors, and where they begin."""

    margin: Margin
    estimates: Floats
    variances: Floats
    start: int

    @property
    def places(self) -> NDArray[np.int64]:
        return np.arange(self.start, self.start + len(self.estimates))

    def groups(self, columns: tuple[str, ...]) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
        """The labels of a margin, and for every cell which of them it has."""
        at = [self.margin.columns.index(name) for name in columns]
        numbers: dict[tuple[str, ...], int] = {}
        of = [numbers.setdefault(tuple(row[place] for place in at), len(numbers)) for row in self.margin.rows]
        return list(numbers), np.array(of, np.int64)


def consistent_estimates(margins: Mapping[str, Margin]) -> Mapping[str, pa.Table]:
    """Every table with an estimate that agrees with all others, beside its own; refuses what cannot be solved."""
    tables = dict(_tables(margins))
    if len(tables) < 2:
        message = "Estimates are made consistent where two or more publications count people in cells."
        raise InvalidInput(message, remedy="Read them as they are.", where="consistent", code="reading.consistent")
    x = np.concatenate([table.estimates for table in tables.values()])
    variances = np.concatenate([table.variances for table in tables.values()])
    rows = list(_differences(list(tables.values())))
    if len(x) * len(rows) > MOST_NUMBERS or len(rows) > MOST_SHARED:
        message = f"There are too many cells for consistent estimates: up to {MOST_SHARED:,} margins may be in common."
        raise InvalidInput(message, remedy="Read them as they are.", where="consistent", code="reading.consistent")
    y = _closest(x, variances, rows)
    return {name: _consistent_table(table, y[table.places]) for name, table in tables.items()}


def _tables(margins: Mapping[str, Margin]) -> Iterator[tuple[str, _Table]]:
    start = 0
    for name, margin in margins.items():
        found = margin.intervals
        low, high = found.low.astype(np.float64), found.high.astype(np.float64)
        estimate = np.where(np.isnan(found.estimate), (low + high) / 2, found.estimate)
        spread = np.maximum((high - low) / 2, 0.5) / np.where(np.isnan(found.estimate), 1.0, _HALF)
        yield name, _Table(margin, estimate, spread**2, start)
        start += len(estimate)


def _differences(tables: list[_Table]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for every margin that two tables share the cells of the one and of the other that add up to it."""
    for one, other in combinations(tables, 2):
        shared = tuple(name for name in one.margin.columns if name in other.margin.columns)
        (labels, own), (_, theirs) = one.groups(shared), other.groups(shared)
        numbers = {label: at for at, label in enumerate(other.groups(shared)[0])}
        for at, label in enumerate(labels):
            if label in numbers:
                yield one.places[own == at], other.places[theirs == numbers[label]]


def _closest(x: Floats, variances: Floats, rows: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Floats:
    """The closest values with the same margins."""
    differences = np.zeros((len(rows), len(x)))
    for at, (plus, minus) in enumerate(rows):
        differences[at, plus], differences[at, minus] = 1.0, -1.0
    weighted = differences * variances
    solved = np.linalg.lstsq(weighted @ differences.T, differences @ x, rcond=None)[0]
    found: Floats = x - weighted.T @ solved
    return found


def _consistent_table(table: _Table, estimates: Floats) -> pa.Table:
    """The cells with the consistent estimate, and their own with its interval."""
    own = table.margin.table()
    at = own.column_names.index("estimate")
    return own.set_column(at, "own_estimate", own.column("estimate")).add_column(at, "estimate", pa.array(estimates))

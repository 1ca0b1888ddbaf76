"""All conjunctions of a few columns: the cells of all their marginal tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms.synopsis.queries import (
    CAUTION,
    Block,
    Index,
    PooledCounts,
    QueryClass,
    Table,
    Vector,
    check_size,
    check_universe,
    vc_bound,
)

Columns = tuple[int, ...]
# How many parts a cell of a table that is not measured may have; 0 measures all tables.
ADD_UP = (0, 2, 3, 4, 6, 10, 100)


class Conjunctions(QueryClass):
    """All conjunctions of equalities about 1, …, `order` different columns.

    Measured are the marginal tables of `order` columns. A table of fewer columns is added up from the one of them in
    which its cells have the fewest parts, if those are at most `add_up`; otherwise it is measured as well. Adding up
    leaves fewer tables to hide a person in, and sums of noise; which errs less depends on the sizes of the columns
    alone.
    """

    def __init__(self, shape: tuple[int, ...], order: int, *, add_up: int = 2) -> None:
        if not 1 <= order <= len(shape):
            raise InvalidInput(
                f"Conjunctions must be of between 1 and {len(shape)} columns, as many as are declared, got {order}. "
                "Correct it, or declare more columns.",
                where="order",
                code="synopsis.order",
            )
        check_universe(shape)
        # Every table has a cell, and listing the tables of many columns would take for ever.
        check_size(sum(math.comb(len(shape), columns) for columns in range(1, order + 1)))
        self.shape, self.order, self.add_up = shape, order, add_up
        self._largest_first = sorted(range(len(shape)), key=lambda column: -shape[column])
        self.tables: list[Columns] = [kept for n in range(1, order + 1) for kept in combinations(range(len(shape)), n)]
        sizes = [math.prod(shape[c] for c in kept) for kept in self.tables]
        self._starts: list[int] = [0, *np.cumsum(sizes).tolist()]
        self.size = self._starts[-1]
        check_size(self.size)
        self.dimension = vc_bound(self.size)
        self._places = {kept: place for place, kept in enumerate(self.tables)}
        # For every table the one of full width that adds up the fewest cells for each of its cells.
        every = [kept for kept in self.tables if len(kept) == order]
        self._cheapest = {
            kept: min((full for full in every if {*kept} < {*full}), key=lambda full: self._dropped_cells(full, kept))
            for kept in self.tables
            if len(kept) < order
        }
        self._summed = {
            kept: full for kept, full in self._cheapest.items() if self._dropped_cells(full, kept) <= add_up
        }
        self.measured = [kept for kept in self.tables if kept not in self._summed]
        self._where_measured = np.concatenate([np.arange(*self._span(kept)) for kept in self.measured])
        self.parts = max((self._dropped_cells(full, kept) for kept, full in self._summed.items()), default=1)
        # A person is in one cell of every table, so a replacement leaves one and enters another.
        self.sensitivity = 2 * len(self.measured)
        self.depth, self.measured_counts = len(self.measured), len(self._where_measured)

    def counts(self, table: Table) -> Vector:
        found: Vector = self._marginals(table)[self._where_measured]
        return found

    def ask(self, table: Table) -> Vector:
        return self._marginals(table)

    def answers(self, counts: Vector) -> Vector:
        found = np.empty(self.size, counts.dtype)
        found[self._where_measured] = counts
        return self._add_up(found, self._summed)

    def pool(self, noisy: Vector) -> list[PooledCounts]:
        """Every table with what all measured tables that contain it say of it, weighted by how well they know."""
        measured = np.zeros(self.size)
        measured[self._where_measured] = noisy
        found = []
        for kept in self.tables:
            total, weights = np.zeros([self.shape[c] for c in kept]), 0.0
            for other in self.measured:
                if set(kept) <= set(other):
                    weight = 1 / self._dropped_cells(other, kept)
                    total += weight * self._part(measured, other).sum(axis=_axes(other, kept))
                    weights += weight
            caution = CAUTION[min(len(kept), len(CAUTION)) - 1]
            dropped = _axes(tuple(range(len(self.shape))), kept)
            block = _Marginal(dropped, tuple(size if c in kept else 1 for c, size in enumerate(self.shape)))
            found.append(PooledCounts(block, (total / weights).ravel(), 1 / weights, caution))
        return found

    def where(self, query: int) -> Index:
        place = int(np.searchsorted(self._starts, query, side="right")) - 1
        kept = self.tables[place]
        values = np.unravel_index(query - self._starts[place], [self.shape[c] for c in kept])
        index: list[int | slice] = [slice(None)] * len(self.shape)
        for column, value in zip(kept, values, strict=True):
            index[column] = int(value)
        return tuple(index)

    def describe(self) -> dict[str, str | int | list[int]]:
        return {"queries": "conjunctions", "shape": list(self.shape), "size": self.size, "order": self.order}

    def _dropped_cells(self, full: Columns, columns: Columns) -> int:
        return math.prod(self.shape[c] for c in full if c not in columns)

    def _marginals(self, table: Table) -> Vector:
        """Return the cells of all tables."""
        found = np.empty(self.size, table.dtype if table.dtype.kind == "f" else np.int64)
        self._descend(table, tuple(range(len(self.shape))), 0, found)
        return self._add_up(found, self._cheapest)

    def _add_up(self, vector: Vector, tables: dict[Columns, Columns]) -> Vector:
        """Fill in tables of fewer columns."""
        for kept, full in tables.items():
            self._part(vector, kept)[...] = self._part(vector, full).sum(axis=_axes(full, kept))
        return vector

    def _span(self, columns: Columns) -> tuple[int, int]:
        place = self._places[columns]
        return self._starts[place], self._starts[place + 1]

    def _part(self, counts: Vector, columns: Columns) -> Table:
        first, last = self._span(columns)
        return counts[first:last].reshape([self.shape[c] for c in columns])

    def _descend(self, table: Table, columns_left: Columns, first: int, vector: Vector) -> None:
        """Sum out columns until `order` are left, the largest first, in the order of their ranks.

        So every set of columns is reached in exactly one way, and what two tables leave out is summed only once: a
        round over all tables costs about as much as a few sums of the whole array.
        """
        still = len(columns_left) - self.order
        if still == 0:
            self._part(vector, columns_left)[...] = table
            return
        for rank in range(first, len(self.shape) - still + 1):
            column = self._largest_first[rank]
            kept = tuple(c for c in columns_left if c != column)
            self._descend(table.sum(axis=columns_left.index(column)), kept, rank + 1, vector)


@dataclass(frozen=True)
class _Marginal(Block):
    """The cells of one marginal table."""

    dropped: tuple[int, ...]
    shape: tuple[int, ...]

    def counts(self, table: Table) -> Vector:
        found: Vector = table.sum(axis=self.dropped).ravel()
        return found

    def scale(self, table: Table, factors: Vector) -> None:
        table *= factors.reshape(self.shape)


def _axes(columns_left: Columns, columns: Columns) -> tuple[int, ...]:
    """Return the axes of a table over `columns_left` that a table over `columns` does not have."""
    return tuple(axis for axis, column in enumerate(columns_left) if column not in columns)


def conjunctions(shape: tuple[int, ...], order: int) -> list[Conjunctions]:
    """Return the class, measured in several ways, the one with the fewest tables first."""
    ways = [Conjunctions(shape, order, add_up=most) for most in ADD_UP]
    return sorted(ways, key=lambda way: way.sensitivity)

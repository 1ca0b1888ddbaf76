"""Classes of fraction queries over a finite universe, and the counts that are measured to answer them.

The universe is the product of declared columns: a row is a cell of an array with one axis per column, and a table of
people is an array of how many are in each cell. A class of queries comes with counts to be measured (0/1 sums over
cells), and every answer is a sum of measured counts. Nothing here depends on data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput

Table = NDArray[Any]
Vector = NDArray[Any]

MOST_CELLS = 4_000_000
MOST_QUERIES = 1_000_000


class Block(Protocol):
    """Some measured counts that no cell is in twice."""

    part: slice
    """Where they are among the measured counts."""

    def counts(self, table: Table) -> Vector:
        """Those counts of a table."""

    def scale(self, table: Table, factors: Vector) -> None:
        """Multiply the cells of each count by its factor, in place."""


class QueryClass(ABC):
    """A class of fraction queries with what the theorems ask of it."""

    shape: tuple[int, ...]
    size: int
    """How many queries there are."""
    dimension: int
    """A bound on the VC dimension."""
    parts: int
    """How many measured counts an answer adds up, at most."""
    sensitivity: int
    """How far replacing (or concealing) one person moves the measured counts in total, at most."""

    @property
    def universe(self) -> int:
        """How many different rows there can be."""
        return math.prod(self.shape)

    @abstractmethod
    def counts(self, table: Table) -> Vector:
        """The measured counts of a table."""

    @abstractmethod
    def blocks(self) -> list[Block]:
        """The measured counts in groups of disjoint ones, in order."""

    @abstractmethod
    def answers(self, counts: Vector) -> Vector:
        """The answer to every query, from measured counts."""

    @abstractmethod
    def where(self, query: int) -> Any:
        """The cells that satisfy a query, as an index into a table."""

    @abstractmethod
    def words(self) -> str:
        """The class in a few words."""

    def ask(self, table: Table) -> Vector:
        """The answer to every query about a table."""
        return self.answers(self.counts(table))

    def matrix(self) -> NDArray[np.int64]:
        """Which query (row) is satisfied by which cell (column); for small universes."""
        satisfied = np.zeros((self.size, self.universe), np.int64)
        for query in range(self.size):
            marked = np.zeros(self.shape, np.int64)
            marked[self.where(query)] = 1
            satisfied[query] = marked.ravel()
        return satisfied


def check_universe(shape: tuple[int, ...]) -> None:
    """Refuse a universe that no array holds."""
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"a synopsis must be over at most {MOST_CELLS:,} different rows, and these columns make {cells:,}. "
            "Recode them more coarsely or leave some out."
        )


def check_size(size: int) -> None:
    """Refuse a class that is too large to be asked whole."""
    if size > MOST_QUERIES:
        raise InvalidInput(
            f"a class must have at most {MOST_QUERIES:,} queries, and this has {size:,}. "
            "Ask for conjunctions of fewer columns, or recode the columns more coarsely."
        )


def vc_bound(size: int) -> int:
    """A finite class has a VC dimension of at most log₂ of its size; the theorems start at 1."""
    return max(1, size.bit_length() - 1)


class Conjunctions(QueryClass):
    """All conjunctions of equalities about 1, …, `order` different columns: the cells of all those marginal tables.

    Every marginal table is measured. All tables of `order` columns are summed together: what two of them leave out is
    summed only once, which makes a round over all tables cost about as much as a few sums of the whole array.
    """

    parts = 1

    def __init__(self, shape: tuple[int, ...], order: int) -> None:
        if not 1 <= order <= len(shape):
            raise InvalidInput(
                f"conjunctions must be of between 1 and {len(shape)} columns, as many as are declared, got {order}."
            )
        check_universe(shape)
        self.shape, self.order = shape, order
        self.tables = [kept for n in range(1, order + 1) for kept in combinations(range(len(shape)), n)]
        sizes = [math.prod(shape[c] for c in kept) for kept in self.tables]
        self._starts = [0, *np.cumsum(sizes).tolist()]
        self.size = self._starts[-1]
        check_size(self.size)
        self.dimension = vc_bound(self.size)
        # A person is in one cell of every table, so a replacement leaves one and enters another.
        self.sensitivity = 2 * len(self.tables)
        self._places = {kept: place for place, kept in enumerate(self.tables)}
        self._narrower = self._read_off()
        # Of the columns not kept the one that comes first here is summed out first: the largest.
        self._largest_first = sorted(range(len(shape)), key=lambda c: -shape[c])

    def counts(self, table: Table) -> Vector:
        found = np.empty(self.size, table.dtype if table.dtype.kind == "f" else np.int64)
        self._descend(table, tuple(range(len(self.shape))), 0, found)
        for full, narrower in self._narrower.items():
            part = self._part(found, full)
            for kept in narrower:
                self._part(found, kept)[...] = part.sum(axis=_axes(full, kept))
        return found

    def blocks(self) -> list[Block]:
        return [
            _Marginal(
                slice(self._starts[place], self._starts[place + 1]),
                _axes(tuple(range(len(self.shape))), kept),
                tuple(size if column in kept else 1 for column, size in enumerate(self.shape)),
            )
            for place, kept in enumerate(self.tables)
        ]

    def answers(self, counts: Vector) -> Vector:
        return counts

    def where(self, query: int) -> tuple[Any, ...]:
        place = int(np.searchsorted(self._starts, query, side="right")) - 1
        kept = self.tables[place]
        values = np.unravel_index(query - self._starts[place], [self.shape[c] for c in kept])
        index: list[Any] = [slice(None)] * len(self.shape)
        for column, value in zip(kept, values, strict=True):
            index[column] = int(value)
        return tuple(index)

    def words(self) -> str:
        return f"all conjunctions of up to {self.order} of {len(self.shape)} columns"

    def _read_off(self) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        """Each table of fewer columns, under the first table of full width that contains it."""
        full = list(combinations(range(len(self.shape)), self.order))
        found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for kept in self.tables:
            if len(kept) < self.order:
                found.setdefault(next(other for other in full if set(kept) < set(other)), []).append(kept)
        return found

    def _part(self, counts: Vector, kept: tuple[int, ...]) -> Table:
        place = self._places[kept]
        return counts[self._starts[place] : self._starts[place + 1]].reshape([self.shape[c] for c in kept])

    def _children(self, left: tuple[int, ...], first: int) -> list[tuple[int, int, tuple[int, ...]]]:
        """Which column may be summed out next: its rank, its axis, and the columns that stay.

        Columns go in the order of their ranks, so every set of columns is reached in exactly one way.
        """
        columns = len(self.shape)
        still = len(left) - self.order
        return [
            (rank + 1, left.index(self._largest_first[rank]), tuple(c for c in left if c != self._largest_first[rank]))
            for rank in range(first, columns - still + 1)
        ]

    def _descend(self, table: Table, left: tuple[int, ...], first: int, found: Vector) -> None:
        if len(left) == self.order:
            self._part(found, left)[...] = table
            return
        for rank, axis, kept in self._children(left, first):
            self._descend(table.sum(axis=axis), kept, rank, found)


@dataclass(frozen=True)
class _Marginal:
    """The cells of one marginal table."""

    part: slice
    dropped: tuple[int, ...]
    shape: tuple[int, ...]

    def counts(self, table: Table) -> Vector:
        found: Vector = table.sum(axis=self.dropped).ravel()
        return found

    def scale(self, table: Table, factors: Vector) -> None:
        table *= factors.reshape(self.shape)


def _axes(left: tuple[int, ...], kept: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of a table over `left` that a table over `kept` does not have."""
    return tuple(axis for axis, column in enumerate(left) if column not in kept)


class Explicit(QueryClass):
    """A class given by matrices: which cells each measured count adds up, and which counts each answer adds up."""

    def __init__(self, shape: tuple[int, ...], measured: Table, adds: Table | None, dimension: int, words: str) -> None:
        from scipy import sparse  # noqa: PLC0415  heavy, and conjunctions do without

        check_universe(shape)
        self.shape, self.dimension, self._words = shape, dimension, words
        self._measured = sparse.csr_array(measured.astype(np.float64))
        self._adds = sparse.csr_array(adds.astype(np.float64)) if adds is not None else None
        self.size = (measured if adds is None else adds).shape[0]
        check_size(self.size)
        self.parts = 1 if adds is None else int(adds.sum(axis=1).max())
        # In the worst case nothing that the old data satisfied is satisfied by the new.
        self.sensitivity = int(min(2 * measured.sum(axis=0).max(), measured.shape[0]))
        asked = self._measured if self._adds is None else self._adds @ self._measured
        self._asked = sparse.csr_array(asked)

    def counts(self, table: Table) -> Vector:
        found = self._measured @ table.ravel()
        return found if table.dtype.kind == "f" else np.rint(found).astype(np.int64)

    def blocks(self) -> list[Block]:
        ends = self._measured.indptr
        return [
            _Single(slice(row, row + 1), self._measured.indices[ends[row] : ends[row + 1]])
            for row in range(len(ends) - 1)
        ]

    def answers(self, counts: Vector) -> Vector:
        return counts if self._adds is None else self._adds @ counts

    def where(self, query: int) -> tuple[Any, ...]:
        cells = self._asked.indices[self._asked.indptr[query] : self._asked.indptr[query + 1]]
        return np.unravel_index(cells, self.shape)

    def words(self) -> str:
        return self._words


@dataclass(frozen=True)
class _Single:
    """One measured count."""

    part: slice
    cells: Vector

    def counts(self, table: Table) -> Vector:
        return np.array([table.ravel()[self.cells].sum()])

    def scale(self, table: Table, factors: Vector) -> None:
        table.reshape(-1)[self.cells] *= factors[0]

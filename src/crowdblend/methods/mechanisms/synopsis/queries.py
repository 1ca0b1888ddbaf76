"""Classes of fraction queries over a finite universe, and the counts that are measured to answer them.

The universe is the product of declared columns: a row is a cell of an array with one axis per column, and a table of
people is an array of how many are in each cell. A class of queries comes with counts to be measured (0/1 sums over
cells), and every answer is a sum of measured counts. Nothing here depends on data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from scipy import sparse

Table = NDArray[Any]
Vector = NDArray[Any]
# Some cells of a table.
Index = tuple[int | slice | NDArray[np.int64], ...]

MOST_CELLS = 4_000_000
MOST_QUERIES = 1_000_000
# A range over that many values is asked in twenty thousand ways.
MOST_VALUES = 200
MOST_LISTED = 100_000_000
# See PooledCounts: for counts of one, two, and more columns. Found by trial on census data; no guarantee depends on it.
CAUTION = (3.0, 30.0, 1000.0)


class Block(ABC):
    """Counts that contain every cell at most once."""

    @abstractmethod
    def counts(self, table: Table) -> Vector:
        """Return these counts of a table."""

    @abstractmethod
    def scale(self, table: Table, factors: Vector) -> None:
        """Multiply the cells of each count by its factor, in place."""


@dataclass(frozen=True)
class PooledCounts:
    """Estimates of the counts of a block, their variance relative to one measured count, and how far to trust them.

    `caution` is how strongly the fit prefers what other blocks already say: counts of many columns at once are mostly
    explained by those of fewer, and what is left of them is mostly noise.
    """

    block: Block
    counts: Vector
    variance: float
    caution: float


class QueryClass(ABC):
    """A class of fraction queries with what the theorems ask of it."""

    shape: tuple[int, ...]
    size: int
    """How many queries there are."""
    dimension: int
    """A bound on the VC dimension."""
    parts: int
    """How many measured counts an answer adds up, at most."""
    depth: int
    """In how many measured counts one person is, at most."""
    measured_counts: int
    """How many counts are measured."""
    sensitivity: int
    """How far replacing (or concealing) one person moves the measured counts in total, at most."""

    @property
    def universe(self) -> int:
        """The number of possible rows."""
        return math.prod(self.shape)

    @abstractmethod
    def counts(self, table: Table) -> Vector:
        """The measured counts of a table."""

    @abstractmethod
    def pool(self, noisy: Vector) -> list[PooledCounts]:
        """Return noisy measured counts, pooled for a fit."""

    @abstractmethod
    def answers(self, counts: Vector) -> Vector:
        """Return the answer to every query, from measured counts."""

    @abstractmethod
    def where(self, query: int) -> Index:
        """Return the cells that satisfy a query, as an index into a table."""

    @abstractmethod
    def describe(self) -> dict[str, str | int | list[int]]:
        """Return the class as JSON-ready data: its name and its sizes."""

    def ask(self, table: Table) -> Vector:
        """Return the answer to every query about a table."""
        return self.answers(self.counts(table))

    def matrix(self) -> NDArray[np.int64]:
        """Return which cell (column) satisfies which query (row); for small universes."""
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
            f"These columns make {cells:,} different rows, and a synopsis has at most {MOST_CELLS:,}. "
            "Recode them more coarsely or leave some out.",
            where="columns",
            code="synopsis.cells",
        )


def check_size(size: int) -> None:
    """Refuse a class that is too large to be asked whole."""
    if size > MOST_QUERIES:
        raise InvalidInput(
            f"The class has {size:,}, more than {MOST_QUERIES:,} queries. "
            "Ask for conjunctions of fewer columns, or recode the columns more coarsely.",
            where="queries",
            code="synopsis.queries",
        )


def vc_bound(size: int) -> int:
    """A finite class has a VC dimension of at most log₂ of its size; the theorems start at 1."""
    return max(1, size.bit_length() - 1)


class Explicit(QueryClass):
    """A class given by matrices: which cells each measured count adds up, and which counts each answer adds up."""

    def __init__(self, shape: tuple[int, ...], matrix: Table, adds: Table | None, dimension: int, name: str) -> None:
        check_universe(shape)
        self.shape, self.dimension, self._name = shape, dimension, name
        self._measured = sparse.csr_array(matrix.astype(np.float64))
        self._adds = sparse.csr_array(adds.astype(np.float64)) if adds is not None else None
        self.size = (matrix if adds is None else adds).shape[0]
        check_size(self.size)
        self.parts = 1 if adds is None else int(adds.sum(axis=1).max())
        self.depth, self.measured_counts = int(matrix.sum(axis=0).max()), int(matrix.shape[0])
        # In the worst case nothing that the old data satisfied is satisfied by the new.
        self.sensitivity = int(min(2 * matrix.sum(axis=0).max(), matrix.shape[0]))
        asked = self._measured if self._adds is None else self._adds @ self._measured
        self._asked = sparse.csr_array(asked)

    def counts(self, table: Table) -> Vector:
        found: Vector = self._measured @ table.ravel()
        return found if table.dtype.kind == "f" else np.rint(found).astype(np.int64)

    def pool(self, noisy: Vector) -> list[PooledCounts]:
        ends = self._measured.indptr
        return [
            PooledCounts(
                _Single(self._measured.indices[ends[row] : ends[row + 1]]), noisy[row : row + 1], 1.0, CAUTION[0]
            )
            for row in range(len(noisy))
        ]

    def answers(self, counts: Vector) -> Vector:
        return counts if self._adds is None else self._adds @ counts

    def where(self, query: int) -> Index:
        cells = self._asked.indices[self._asked.indptr[query] : self._asked.indptr[query + 1]]
        return np.unravel_index(cells, self.shape)

    def describe(self) -> dict[str, str | int | list[int]]:
        return {"queries": self._name, "shape": list(self.shape), "size": self.size}


@dataclass(frozen=True)
class _Single(Block):
    """One measured count."""

    cells: Vector

    def counts(self, table: Table) -> Vector:
        return np.array([table.ravel()[self.cells].sum()])

    def scale(self, table: Table, factors: Vector) -> None:
        table.reshape(-1)[self.cells] *= factors[0]


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

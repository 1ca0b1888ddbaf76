"""Tables of several publications made to agree: the closest ones whose common margins are the same.

Publications of different people, or with noise of their own, give two numbers for the same margin. Whatever is computed
from published values costs no privacy, so that readers may have one set of tables instead.

Let x be the estimates of all cells of all tables, one below the other, and V the squares of their standard errors.
Among all y with A·y = 0, where a row of A is a margin of one table minus the same margin of another, the weighted
squares (y − x)ᵀ V⁻¹ (y − x) are smallest at y = V½·r, where r is what is left of V⁻½·x after its projection on the rows
of A·V½. Sums are right on average where the estimates are. A cell that is not published enters as the middle of what it
may hold, with half of its range as standard error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.reading.margins import Margin
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from scipy import sparse
    from scipy.sparse import linalg

Floats = NDArray[np.float64]
# Cells, each counted once for every margin that its table has in common with others: memory grows with them.
MOST_TERMS = 20_000_000
# Half of a 95 % interval in standard errors.
_HALF = 1.96


@dataclass(frozen=True)
class _Table:
    """The cells of one publication: labels, estimates and their squared standard errors, and where they begin."""

    margin: Margin
    estimates: Floats
    variances: Floats
    start: int
    columns: frozenset[tuple[str, int]]
    """Its columns, each with the number of its domain: labels of two recodings mean different people."""

    @property
    def places(self) -> NDArray[np.int64]:
        return np.arange(self.start, self.start + len(self.estimates))

    def groups(self, columns: tuple[str, ...]) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
        """Return the labels of a margin, and for every cell which of them it has."""
        at = [self.margin.columns.index(name) for name in columns]
        numbers: dict[tuple[str, ...], int] = {}
        of = [numbers.setdefault(tuple(row[place] for place in at), len(numbers)) for row in self.margin.rows]
        return list(numbers), np.array(of, np.int64)


def consistent_estimates(
    margins: Mapping[str, Margin], domains: Mapping[str, Mapping[str, object]]
) -> Mapping[str, pa.Table]:
    """Return every table with an estimate that agrees with all others, beside its own; refuse what cannot be solved."""
    tables = dict(_tables(margins, domains))
    if len(tables) < 2:
        message = "Estimates are made consistent where two or more publications count people in cells."
        raise InvalidInput(message, remedy="Read them as they are.", where="consistent", code="reading.consistent")
    x = np.concatenate([table.estimates for table in tables.values()])
    variances = np.concatenate([table.variances for table in tables.values()])
    rows = list(_differences(list(tables.values())))
    if sum(len(plus) + len(minus) for plus, minus in rows) > MOST_TERMS:
        message = "There are too many cells for consistent estimates."
        raise InvalidInput(message, remedy="Read them as they are.", where="consistent", code="reading.consistent")
    y = _closest(x, variances, rows)
    return {name: _consistent_table(table, y[table.places]) for name, table in tables.items()}


def _tables(margins: Mapping[str, Margin], domains: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, _Table]]:
    start, known = 0, list[object]()
    for name, margin in margins.items():
        found = margin.intervals
        low, high = found.low.astype(np.float64), found.high.astype(np.float64)
        estimate = np.where(np.isnan(found.estimate), (low + high) / 2, found.estimate)
        spread = np.maximum((high - low) / 2, 0.5) / np.where(np.isnan(found.estimate), 1.0, _HALF)
        own = [(column, domains[name].get(column)) for column in margin.columns]
        known += [domain for _, domain in own if domain not in known]
        columns = frozenset((column, known.index(domain)) for column, domain in own)
        yield name, _Table(margin, estimate, spread**2, start, columns)
        start += len(estimate)


def _differences(tables: list[_Table]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for every margin that tables share the cells of one and of the next that add up to it."""
    for shared in {one.columns & other.columns for one, other in combinations(tables, 2)}:
        cells: dict[tuple[str, ...], list[NDArray[np.int64]]] = {}
        for table in tables:
            if shared <= table.columns:
                labels, of = table.groups(tuple(sorted(name for name, _ in shared)))
                for at, label in enumerate(labels):
                    cells.setdefault(label, []).append(table.places[of == at])
        for same in cells.values():
            yield from pairwise(same)


def _closest(x: Floats, variances: Floats, rows: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Floats:
    """Return the closest values with the same margins."""
    if not rows:
        return x
    spread = np.sqrt(variances)
    cells = np.concatenate([np.concatenate(row) for row in rows])
    signs = np.concatenate([np.repeat([1.0, -1.0], [len(plus), len(minus)]) for plus, minus in rows])
    of = np.repeat(np.arange(len(rows)), [len(plus) + len(minus) for plus, minus in rows])
    differences = sparse.csr_matrix((signs * spread[cells], (cells, of)), shape=(len(x), len(rows)))
    projected = differences @ linalg.lsqr(differences, x / spread, atol=1e-13, btol=1e-13, conlim=0)[0]
    found: Floats = x - spread * projected
    return found


def _consistent_table(table: _Table, estimates: Floats) -> pa.Table:
    """Return the cells with the consistent estimate, and their own with its interval."""
    own = table.margin.table()
    at = own.column_names.index("estimate")
    return own.set_column(at, "own_estimate", own.column("estimate")).add_column(at, "estimate", pa.array(estimates))

"""Published cells with counts, checked against the least count and the declared labels of their certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdblend.kinds.shared.facts import CellTable, contradiction
from crowdblend.methods.estimates.cells import CellLaws, combinations, total_intervals
from crowdblend.methods.estimates.estimator import Intervals
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.cells import EXACT, Cells, Estimates, N, Totals
from crowdblend.reading.margins import number_labels


def check_cells(table: CellTable, cells: Cells, least: int | None = None) -> pa.Table:
    """Return the cells; refuse repeated cells, undeclared labels and counts that would not be shown.

    Where every cell is shown, whatever its count, all of the declared domain are there. Cells that are called exact
    hold as many people as are. `least` is the smallest number of rows of a class where the table has no law.
    """
    shown = [law.shown_from for law in table.shown_by]
    if shown:
        least = None if None in shown else min(size for size in shown if size is not None)
    exact_from = table.shown_by[0].exact_from if table.flagged else None
    classes, order, rows = Totals(cells.keys), _order(table, cells), 0
    for piece in cells.pieces():
        rows += piece.num_rows
        if least is not None and pc.min(piece.column(N)).as_py() < least:
            raise contradiction(f"{cells.file.name} has a cell below {least}")
        if exact_from is not None and EXACT in piece.column_names:
            small = pc.and_(piece.column(EXACT), pc.less(piece.column(N), exact_from))
            if pc.any(small).as_py() or piece.column(EXACT).null_count:
                raise contradiction(f"{cells.file.name} calls a cell below {exact_from} exact")
        check_labels(table.columns, cells, piece)
        if cells.counted:
            order.check([piece.column(key) for key in cells.keys])
        classes.add(piece.select([*cells.keys, N]))
    found = classes.table()
    if cells.counted and found.num_rows < rows:
        raise contradiction(f"{cells.file.name} has a cell twice")
    if least is None and combinations(table.columns[name].number_of_labels for name in cells.columns) != rows:
        raise contradiction(f"{cells.file.name} does not show every cell")
    if table.laws.stratum is not None:
        check_strata(table, cells)
    return found


def flags_of(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the counts of a table whose cells say whether they are exact, and what they say."""
    pieces = [(piece.column(N).to_numpy(), piece.column(EXACT).to_numpy()) for piece in cells.pieces()]
    counts, flags = zip(*pieces, strict=True) if pieces else ((), ())
    return np.concatenate([np.empty(0, np.int64), *counts]), np.concatenate([np.empty(0, np.bool_), *flags])


def check_order(table: CellTable, cells: Cells) -> None:
    """Refuse rows of people in another order than that of their labels."""
    order = _order(table, cells)
    for rows in cells.rows():
        order.check([rows.column(key) for key in cells.keys])


def _order(table: CellTable, cells: Cells) -> RowOrder:
    return RowOrder([table.columns[name] for name in cells.columns], cells.file.name)


def check_strata(table: CellTable, cells: Cells) -> None:
    """Refuse a cell with fewer people than are shown of its stratum."""
    stratum = table.laws.stratum
    if stratum not in cells.columns:
        raise contradiction(f"{cells.file.name} adds people of different strata up")
    key = cells.keys[cells.columns.index(stratum)]
    each = zip(table.laws.strata, table.shown_by, strict=True)
    shown = {label: law.shown_from for label, law in each if law.shown_from is not None}
    for piece in cells.pieces() if shown else ():
        least = np.array([shown.get(str(label), _NO_LEAST) for label in piece.column(key).to_pylist()], np.int64)
        if (piece.column(N).to_numpy() < least).any():
            raise contradiction(f"{cells.file.name} has a cell below the k of its stratum")


class RowOrder:
    """The order of a release's rows: by the declared labels of one column after the other, then by numbers.

    Any other order could say who came first. Columns whose labels are not listed are sorted too, and not checked.
    """

    def __init__(self, columns: Sequence[Domain], file: str) -> None:
        self.file = file
        self.labels = [{label: at for at, label in enumerate(domain.labels or ())} for domain in columns]
        self._listed = [domain.labels is not None for domain in columns]
        self._last: list[Any] = []

    def check(self, labels: Sequence[pa.ChunkedArray], numbers: Sequence[NDArray[Any]] = ()) -> list[NDArray[Any]]:
        """Refuse rows that do not rise, from the last one of the piece before on; the places of their labels."""
        places = [number_labels(column, known) for column, known in zip(labels, self.labels, strict=True)]
        listed = [*self._listed, *(True for _ in numbers)]
        rows: list[NDArray[Any]] = [*places, *numbers]
        before = self._last or [column[:1] for column in rows]
        decided = np.zeros(len(rows[0]) if rows else 0, np.bool_)
        for column, last, checked in zip(rows, before, listed, strict=True):
            steps = np.diff(column, prepend=last)
            if checked and (~decided & (steps < 0)).any():
                raise contradiction(f"the rows of {self.file} are in another order than a release writes")
            decided |= steps != 0
        self._last = [column[-1:] for column in rows]
        return places


def check_labels(columns: Mapping[str, Domain], cells: Cells, piece: pa.Table) -> None:
    """Only labels that the certificate lists; a column without a list has an open domain."""
    for key, name in zip(cells.keys, cells.columns, strict=True):
        labels = columns[name].labels if name in columns else None
        if labels is None:
            continue
        # Each once before it is a text: as codes, a long label of many rows takes no more room than one.
        seen = pc.cast(pc.unique(piece.column(key)), pa.large_string())
        if not pc.all(pc.is_in(seen, value_set=pa.array(labels, pa.large_string()))).as_py():
            raise contradiction(f"column {name!r} of {cells.file.name} has a label outside its domain")


# No count comes near it, with any noise.
_NO_LEAST = -(2**62)


# Estimates are doubles with one digit behind the point.
_NEAR = 1e-9


def check_estimates(laws: CellLaws, cells: Cells) -> None:
    """Refuse estimates and intervals of a table that do not follow from its counts."""
    for found in cells.estimates(laws.stratum):
        assert found.counts is not None
        _compare(cells, found, laws.intervals(found.counts, found.exact, found.labels))


def check_totals(cells: Cells, losses: Sequence[float]) -> None:
    """Refuse the intervals of noisy totals, each by the loss of its own noise."""
    for found in cells.estimates():
        assert found.counts is not None
        _compare(cells, found, total_intervals(losses, found.counts))


def check_point_estimates(laws: CellLaws, cells: Cells, estimates: Estimates) -> None:
    """Refuse what is said of groups of points; `found.counts` says how many each has."""
    assert estimates.counts is not None
    _compare(cells, estimates, laws.intervals(estimates.counts, None, estimates.labels))


def _compare(cells: Cells, estimates: Estimates, right: Intervals) -> None:
    """Refuse a row whose estimate or interval is not the right one.

    A version that computes narrower intervals still accepts those of an earlier one, and blank ones, which claim
    nothing; an interval is refused that is narrower than it should be, or wider by more than its own width.
    """
    estimate, low, high = right.estimate, right.low, right.high
    silent = np.isnan(estimates.estimate) & (estimates.low < 0) & (estimates.high < 0)
    near = np.abs(estimates.estimate - estimate) <= _NEAR * np.maximum(1, np.abs(estimate))
    if (~silent & ~near & ~(np.isnan(estimates.estimate) & np.isnan(estimate))).any():
        raise contradiction(f"{cells.file.name} has an estimate that is not its count divided by the rate")
    width = np.where(high < 0, low, high - low) + 1
    narrow = (estimates.low > low) | ((high < 0) & (estimates.high >= 0)) | ((high >= 0) & (estimates.high < high))
    wide = (estimates.low < low - width) | ((high >= 0) & (estimates.high > high + width))
    if (~silent & (narrow | wide)).any():
        raise contradiction(f"{cells.file.name} has an interval that does not follow from its count and the rate")

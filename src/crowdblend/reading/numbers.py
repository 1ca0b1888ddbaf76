"""Published numbers of every kind in one form: labels, count, estimate, interval, and what sort of number it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import CellTable
from crowdblend.reading.margins import Margin

EXACT, NOISY, HIDDEN, PARTIAL = "exact", "noisy", "hidden", "partial"
# The columns after those of labels.
COLUMNS = {"count": pa.int64(), **dict.fromkeys(("estimate", "low", "high"), pa.float64()), "status": pa.string()}


def of_cells(table: CellTable, margin: Margin) -> pa.Table:
    """Return every declared cell: its count is blank where it is hidden, and exact where nothing was added to it.

    Points of one combination of labels lie in blocks, of which only some are shown: their count is a part of it.
    """
    found, whole = margin.table(), table.laws.classes_in_a_row == 1
    shown = np.where(_exact(table, margin), EXACT, NOISY) if whole else PARTIAL
    status = np.where(margin.shown == 0, HIDDEN, shown)
    labels = [found.column(name) for name in margin.columns]
    numbers = [found.column(name) for name in (margin.counter, "estimate", "low", "high")]
    return _table(margin.columns, labels, [*numbers, pa.array(status, pa.string())])


def of_statistics(errors: pa.Table) -> pa.Table:
    """Return statistics, of which none is a count, from their estimates and intervals; each has noise."""
    named = [name for name in errors.column_names if name not in COLUMNS and name != "rank_error"]
    rows = errors.num_rows
    numbers = [pa.nulls(rows, pa.int64()), *(errors.column(name) for name in ("estimate", "low", "high"))]
    return _table(named, [errors.column(name) for name in named], [*numbers, pa.array([NOISY] * rows, pa.string())])


def of_totals(totals: pa.Table) -> pa.Table:
    """Return noisy totals, whose intervals were published with them."""
    named = [name for name in totals.column_names if name not in COLUMNS]
    status = pa.array([NOISY] * totals.num_rows, pa.string())
    numbers = [totals.column(name) for name in ("count", "estimate", "low", "high")]
    return _table(named, [totals.column(name) for name in named], [*numbers, status])


def stated_errors(data: pa.Table, confidence: float, stated_confidence: float) -> pa.Table:
    """Return statistics with the ends of their intervals, which they state for one confidence."""
    if stated_confidence != confidence:
        message = f"The errors of this release are stated for a confidence of {stated_confidence}."
        remedy = f"Read it with confidence {stated_confidence}."
        raise InvalidInput(message, remedy=remedy, where="confidence", code="reading.confidence")
    # The error of a quantile is one of its rank, so that its error is blank, and so are low and high.
    values, errors = (data.column(name).to_numpy() for name in ("value", "error"))
    low, high = (pa.array(end, mask=np.isnan(end)) for end in (values - errors, values + errors))
    kept = [name for name in data.column_names if name not in ("value", "error", "confidence")]
    columns = [*(data.column(name) for name in kept), pa.array(values), low, high]
    return pa.table(columns, names=[*kept, "estimate", "low", "high"])


def _exact(table: CellTable, margin: Margin) -> NDArray[np.bool_]:
    """Return which cells carry no noise; where that is secret none is said to."""
    if margin.exact is not None:
        return margin.exact
    if len(table.shown_by) == 1 or table.laws.stratum not in margin.columns:
        return np.full(len(margin.counts), all(law.noiseless for law in table.shown_by))
    strata = dict(zip(table.laws.strata, table.shown_by, strict=True))
    own = margin.labels[margin.columns.index(table.laws.stratum)]
    return np.array([label in strata and strata[label].noiseless for label in own], np.bool_)


def _table(names: Sequence[str], labels: Sequence[Any], numbers: Sequence[Any]) -> pa.Table:
    typed = [column.cast(kind) for column, kind in zip(numbers, COLUMNS.values(), strict=True)]
    return pa.table([*labels, *typed], names=[*names, *COLUMNS])

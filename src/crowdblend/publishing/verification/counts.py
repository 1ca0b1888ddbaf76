"""Published tables, held against their certificate: small ones row by row, cells with counts against the least count
and the declared labels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from crowdblend.estimates import StrataFacts, domain_sizes, estimator_of, facts_of_table, strata_of
from crowdblend.publishing.verification.published import PublishedFolder, contradiction
from crowdblend.reading.cells import EXACT, Cells, N, Totals

# Estimates are doubles with one digit behind the point.
_NEAR = 1e-9


def check_cells(
    published: PublishedFolder, cells: Cells, *, least: int | None, exact_from: int | None = None
) -> pa.Table:
    """Every cell once, its labels declared, its count at least `least`; the cells. Without `least` all are there.

    Where the release says which cells are exact, those hold at least `exact_from`.
    """
    classes, rows = Totals(cells.keys), 0
    for piece in cells.pieces():
        rows += piece.num_rows
        if least is not None and pc.min(piece.column(N)).as_py() < least:
            raise contradiction(f"{cells.path.name} has a cell below {least}")
        if exact_from is not None and EXACT in piece.column_names:
            small = pc.and_(piece.column(EXACT), pc.less(piece.column(N), exact_from))
            if pc.any(small).as_py() or piece.column(EXACT).null_count:
                raise contradiction(f"{cells.path.name} calls a cell below {exact_from} exact")
        check_labels(published, cells, piece)
        classes.add(piece.select([*cells.keys, N]))
    found = classes.table()
    if cells.counted and found.num_rows < rows:
        raise contradiction(f"{cells.path.name} has a cell twice")
    sizes = [domain_sizes(published.certificate.facts).get(name) for name in cells.columns]
    if least is None and (None in sizes or math.prod(size or 0 for size in sizes) != rows):
        raise contradiction(f"{cells.path.name} does not show every cell")
    check_estimates(published, cells)
    return found


def check_estimates(published: PublishedFolder, cells: Cells) -> None:
    """Estimates are counts divided by the rate, and no interval is turned around; ends may be of another version."""
    if not cells.estimated:
        return
    strata = strata_of(published.certificate.facts)
    if strata is not None:
        check_estimates_of_strata(cells, strata)
        return
    estimator = estimator_of(facts_of_table(published.certificate.facts, cells.path.stem))
    rate = None if estimator is None else estimator.design.rate
    for counts, estimate, low, high in cells.estimates():
        rates = np.full(len(counts), np.nan if rate is None else rate)
        check_intervals(cells, estimate, low, high, counts / rates)


def check_intervals(cells: Cells, estimate: Any, low: Any, high: Any, expected: Any) -> None:
    """Refuse an estimate that is not the expected one, and an interval that is turned around."""
    if (low > high).any():
        raise contradiction(f"{cells.path.name} has an interval whose low end is above its high end")
    expected = np.round(expected, 1)
    if (np.abs(estimate - expected) > _NEAR * np.maximum(1, np.abs(expected))).any():
        raise contradiction(f"{cells.path.name} has an estimate that is not its count divided by the rate")


def check_estimates_of_strata(cells: Cells, strata: StrataFacts) -> None:
    """Estimates are counts divided by the rate of their stratum; sums of cells that are not all shown have none."""
    rates = {label: own.design.rate for label, own in strata.estimators().items() if own is not None}
    for counts, estimate, low, high, labels in cells.estimates(strata.column):
        of_rows = np.array([rates.get(str(label)) or np.nan for label in labels], np.float64)
        check_intervals(cells, estimate, low, high, counts / of_rows)


def check_labels(published: PublishedFolder, cells: Cells, piece: pa.Table) -> None:
    """Only labels that the certificate lists; a column without a list has an open domain."""
    columns: Any = published.certificate.facts.get("columns", {})
    for key, name in zip(cells.keys, cells.columns, strict=True):
        domain = columns.get(name) if isinstance(columns, dict) else None
        labels = domain.get("labels") if isinstance(domain, dict) else None
        if not isinstance(labels, list):
            continue
        seen = pc.unique(pc.cast(piece.column(key), pa.large_string()))
        if not pc.all(pc.is_in(seen, value_set=pa.array(map(str, labels), pa.large_string()))).as_py():
            raise contradiction(f"column {name!r} of {cells.path.name} has a label outside its domain")


TEXTS = ("statistic", "bin", "class")


def read_rows(path: Path, columns: list[str], blank: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The rows of a file with exactly these columns; every number in it is finite, and only some may be blank."""
    try:
        table = _csv(path, columns) if path.suffix == ".csv" else parquet.read_table(str(path))
    except (pa.ArrowException, OSError) as damaged:
        raise contradiction(f"{path.name} is not readable") from damaged
    if table.column_names != columns:
        raise contradiction(f"{path.name} has other columns")
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        for name in set(columns) - set(TEXTS):
            if name in blank and row[name] is None:
                continue
            if not isinstance(row[name], int | float) or not math.isfinite(row[name]):
                raise contradiction(f"{path.name} has something else than a number in {name}")
    return rows


def _csv(path: Path, columns: list[str]) -> pa.Table:
    kinds = {name: pa.string() if name in TEXTS else pa.float64() for name in columns}
    return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=kinds, strings_can_be_null=False))

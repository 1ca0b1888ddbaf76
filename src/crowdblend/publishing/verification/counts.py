"""Published tables, held against their certificate: small ones row by row, cells with counts against the least count
and the declared labels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from crowdblend.estimates import domain_sizes
from crowdblend.reading.cells import EXACT, Cells, N, Totals
from crowdblend.reading.release import PublishedRelease, contradiction


def check_cells(
    published: PublishedRelease, cells: Cells, *, least: int | None, exact_from: int | None = None
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
    sizes = [domain_sizes(published.facts).get(name) for name in cells.columns]
    if least is None and (None in sizes or math.prod(size or 0 for size in sizes) != rows):
        raise contradiction(f"{cells.path.name} does not show every cell")
    return found


def check_labels(published: PublishedRelease, cells: Cells, piece: pa.Table) -> None:
    """Only labels that the certificate lists; a column without a list has an open domain."""
    columns: Any = published.facts.get("columns", {})
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

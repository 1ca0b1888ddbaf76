"""Cells with counts, held against a least count and the declared labels."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crowdblend.estimates import domain_sizes
from crowdblend.publishing.verification.published import PublishedFolder, contradiction
from crowdblend.reading.cells import EXACT, Cells, N, Totals


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
    return found


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

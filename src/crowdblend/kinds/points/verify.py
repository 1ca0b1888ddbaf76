"""Points: on the declared grid and within its bounds where they are kept, at least k of every combination of labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdblend.kinds.facts import CellTable, contradiction
from crowdblend.kinds.points.facts import PointsFacts
from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import RowOrder, check_labels, check_strata
from crowdblend.publishing.verification.estimates import check_point_estimates
from crowdblend.reading.cells import ESTIMATES, Cells
from crowdblend.reading.margins import Whole, numbered
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.places import Places, read_places

# Coordinates are doubles: the middle of a cell is met up to this share of its width.
_NEAR = 1e-6
# Beyond this many cells doubles no longer tell the middle of one.
_FARTHEST = 1e9


def check(published: PublishedRelease) -> None:
    """Refuse points off the grid or beyond bounds that were kept, fewer than k of one kind, and other estimates."""
    facts = published.facts
    assert isinstance(facts, PointsFacts)
    table = facts.tables["data"]
    travelling = [*table.columns, "block"] if facts.show_blocks else list(table.columns)
    (path,) = require_files(published, "data")
    cells = require_cells(path, [*travelling, *facts.axes, *ESTIMATES], counted=False)
    places = read_places(path, list(facts.axes))
    labelled = replace(cells, columns=tuple(travelling))
    groups = _groups(table, labelled, places.points)
    k = min(mechanism.k for mechanism in facts.mechanisms)
    if len(groups) and np.bincount(groups).min() < k:
        raise contradiction(f"{path.name} has fewer than {k} points of one kind")
    if table.laws.stratum is not None:
        check_strata(table, labelled)
    _check_coordinates(facts, places)
    sorted_by = replace(cells, columns=(*travelling, *facts.axes))
    order = RowOrder(table.columns, sorted_by, {"block", *facts.axes} - set(table.columns))
    for rows in sorted_by.rows():
        order.check(rows)
    check_point_estimates(table.laws, cells, groups)


def _groups(table: CellTable, cells: Cells, points: int) -> Whole:
    """For every point the number of its combination of labels."""
    labels: list[dict[str, int]] = [{} for _ in cells.columns]
    rows: list[Whole] = []
    for piece in cells.rows() if cells.columns else ():
        check_labels(table.columns, cells, piece)
        codes = [numbered(piece.column(key), known) for key, known in zip(cells.keys, labels, strict=True)]
        rows.append(np.column_stack(codes))
    if not rows:
        return np.zeros(points, np.int64)
    groups: Whole = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].ravel()
    return groups


def _check_coordinates(facts: PointsFacts, places: Places) -> None:
    kept = facts.keep_in != "none"
    for coordinates, (name, axis) in zip(places.axes, facts.axes.items(), strict=True):
        low, high, step = axis.low, axis.high, axis.resolution
        cells = (coordinates - low) / step
        if not np.isfinite(cells).all() or (kept and ((cells < 0) | (cells * step > high - low)).any()):
            raise contradiction(f"a point lies beyond the bounds of {name!r}")
        near = cells[np.abs(cells) < _FARTHEST]
        if (np.abs(near - np.floor(near) - 0.5) > _NEAR * np.maximum(1, np.abs(near))).any():
            raise contradiction(f"a point lies off the grid of {name!r}")

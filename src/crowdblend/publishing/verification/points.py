"""Points: on the declared grid and within its bounds where they are kept, at least k of every combination of labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdblend.publishing.verification.consistency import mechanisms, require_cells, require_files, require_stated
from crowdblend.publishing.verification.counts import check_labels
from crowdblend.publishing.verification.estimates import check_point_estimates, check_sampling
from crowdblend.publishing.verification.strata import check_least, is_stratified, stated_strata
from crowdblend.reading.cells import ESTIMATES, Cells
from crowdblend.reading.margins import Whole, numbered
from crowdblend.reading.release import PublishedRelease, contradiction
from crowdblend.reports.places import Places, read_places

# Coordinates are doubles: the middle of a cell is met up to this share of its width.
_NEAR = 1e-6
# Beyond this many cells doubles no longer tell the middle of one.
_FARTHEST = 1e9


def check(published: PublishedRelease) -> None:
    """Refuse points off the grid or beyond bounds that were kept, fewer than k of one kind, and other estimates."""
    if is_stratified(published):
        column, thresholds = stated_strata(published, "points.noisy")
        k = min(thresholds.values())
    else:
        details = dict(mechanisms(published, "points.noisy")[-1].details)
        k = details["k"]
        require_stated(published, k=k, noise_epsilon=details["noise_epsilon"])
        check_sampling(published)
    axes: dict[str, list[float]] = published.require("axes", dict)
    names = [name for name in published.columns if name not in axes]
    travelling = [*names, "block"] if published.require("show_blocks", bool) else names
    (path,) = require_files(published, "data")
    cells = require_cells(path, [*travelling, *axes, *ESTIMATES], counted=False)
    places = read_places(path, list(axes))
    groups = _groups(published, replace(cells, columns=tuple(travelling)), places.points)
    if len(groups) and np.bincount(groups).min() < k:
        raise contradiction(f"{path.name} has fewer than {k} points of one kind")
    if is_stratified(published):
        check_least(replace(cells, columns=tuple(travelling)), column, thresholds)
    _check_coordinates(published, places, axes)
    check_point_estimates(published, cells, groups)


def _groups(published: PublishedRelease, cells: Cells, points: int) -> Whole:
    """For every point the number of its combination of labels."""
    labels: list[dict[str, int]] = [{} for _ in cells.columns]
    rows: list[Whole] = []
    for piece in cells.rows() if cells.columns else ():
        check_labels(published, cells, piece)
        codes = [numbered(piece.column(key), known) for key, known in zip(cells.keys, labels, strict=True)]
        rows.append(np.column_stack(codes))
    if not rows:
        return np.zeros(points, np.int64)
    groups: Whole = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].ravel()
    return groups


def _check_coordinates(published: PublishedRelease, places: Places, axes: dict[str, list[float]]) -> None:
    kept = published.require("keep_in", str) != "none"
    for at, (name, (low, high, step)) in enumerate(axes.items()):
        cells = (places.axes[at] - low) / step
        if not np.isfinite(cells).all() or (kept and ((cells < 0) | (cells * step > high - low)).any()):
            raise contradiction(f"a point lies beyond the bounds of {name!r}")
        near = cells[np.abs(cells) < _FARTHEST]
        if (np.abs(near - np.floor(near) - 0.5) > _NEAR * np.maximum(1, np.abs(near))).any():
            raise contradiction(f"a point lies off the grid of {name!r}")

"""Points: on the declared grid and within its bounds where they are kept, at least k of every combination of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdblend.publishing.verification.counts import check_labels
from crowdblend.publishing.verification.published import PublishedFolder, contradiction
from crowdblend.publishing.verification.strata import check_least, is_stratified, stated_strata
from crowdblend.reading.cells import Cells, N, Totals
from crowdblend.reports.places import read_points

# Coordinates are doubles: the middle of a cell is met up to this share of its width.
_NEAR = 1e-6
# Beyond this many cells doubles no longer tell the middle of one.
_FARTHEST = 1e9


def check(published: PublishedFolder) -> None:
    """Refuse points off the grid, beyond bounds that were kept, or of fewer than k with the same labels."""
    if is_stratified(published):
        column, thresholds = stated_strata(published, "points.noisy")
        k = min(thresholds.values())
    else:
        k = dict(published.mechanisms("points.noisy")[-1].details)["k"]
        published.require_stated(k=k)
    axes: dict[str, Any] = published.fact("axes", dict)
    names = [name for name in published.columns if name not in axes]
    travelling = [*names, "block"] if published.fact("show_blocks", bool) else names
    (path,) = published.files("data")
    cells = published.cells(path, [*travelling, *axes], counted=False)
    places = read_points(path, list(axes))
    if 0 < min(_sizes(published, replace(cells, columns=tuple(travelling)), len(places)), default=k) < k:
        raise contradiction(f"{path.name} has fewer than {k} points of one kind")
    if is_stratified(published):
        check_least(replace(cells, columns=tuple(travelling)), column, thresholds)
    _check_coordinates(published, places, axes)


def _sizes(published: PublishedFolder, cells: Cells, points: int) -> list[int]:
    """How many points there are of every combination of labels."""
    if not cells.columns:
        return [points]
    classes = Totals(cells.keys)
    for piece in cells.rows():
        check_labels(published, cells, piece)
        classes.add(piece)
    sizes: list[int] = classes.table().column(N).to_pylist()
    return sizes


def _check_coordinates(published: PublishedFolder, places: Any, axes: dict[str, Any]) -> None:
    kept = published.fact("keep_in", str) != "none"
    for at, (name, (low, high, step)) in enumerate(axes.items()):
        cells = (places[:, at] - low) / step
        if not np.isfinite(cells).all() or (kept and ((cells < 0) | (cells * step > high - low)).any()):
            raise contradiction(f"a point lies beyond the bounds of {name!r}")
        near = cells[np.abs(cells) < _FARTHEST]
        if (np.abs(near - np.floor(near) - 0.5) > _NEAR * np.maximum(1, np.abs(near))).any():
            raise contradiction(f"a point lies off the grid of {name!r}")

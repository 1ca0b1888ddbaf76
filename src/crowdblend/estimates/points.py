"""What published points say about the population: how many people have their labels, and are in their block.

Where the data name the block of every point, the points of one block and one combination of labels are all of a class.
Otherwise they are all points of some classes with these labels, and nobody knows of which blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from crowdblend.estimates.estimator import CONFIDENCE, Intervals, nothing_known
from crowdblend.estimates.facts import Facts, estimator_of
from crowdblend.estimates.laws import Whole
from crowdblend.estimates.strata import fill, strata_of


def number_of_blocks(facts: Facts) -> int | None:
    """How many blocks the axes of a release of points are cut into; None where that is not stated."""
    blocks, widths, axes = facts.get("blocks"), facts.get("widths"), facts.get("axes")
    if isinstance(blocks, list):
        return len(blocks)
    if not isinstance(widths, Mapping) or not isinstance(axes, Mapping):
        return None
    try:
        along: list[int] = [round((axes[name][1] - axes[name][0]) / width) for name, width in widths.items()]
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return None
    return math.prod(along) if min(along, default=0) >= 1 else None


def points_by_stratum(facts: Facts, labels: NDArray[np.generic] | None, points: Whole) -> Intervals:
    """The intervals for groups of points, each by its stratum where there are strata; `labels` are those strata."""
    strata = strata_of(facts)
    if strata is None or labels is None:
        return point_intervals(facts, points)
    found = nothing_known(len(points))
    for label, own in strata.facts.items():
        here = np.flatnonzero(labels == label)
        fill(found, here, point_intervals(own, points[here]))
    return found


def point_intervals(facts: Facts, points: Whole, *, confidence: float = CONFIDENCE) -> Intervals:
    """The intervals for groups of so many points: with the same labels, and in the same block where that is shown."""
    estimator, blocks = estimator_of(facts), number_of_blocks(facts)
    if estimator is None:
        return nothing_known(len(points))
    if facts.get("show_blocks") is True or blocks == 1:
        return estimator.cells(points, confidence=confidence)
    hidden = None if blocks is None else np.full(len(points), blocks - 1)
    return estimator.sums(points, np.ones(len(points), np.int64), hidden, confidence=confidence)

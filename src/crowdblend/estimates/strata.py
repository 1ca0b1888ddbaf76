"""Estimates from stratified samples, and of points.

Each cell is read by the rate of its stratum, sums over strata stratum by stratum.

A sum over strata adds the estimates of the strata. Its interval adds their ends, each at a level so small that all of
them cover together (docs/proofs.md#strata).

Points say how many people have their labels, and are in their block. Where the data name the block of every point, the
points of one block and one combination of labels are all of a class. Otherwise they are all points of some classes with
these labels, and nobody knows of which blocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.estimates.estimator import CONFIDENCE, Estimator, Intervals, nothing_known
from crowdblend.estimates.facts import Facts, estimator_of, row_intervals
from crowdblend.estimates.laws import Whole

# Facts may come from anywhere.
_MOST = 1_000


@dataclass(frozen=True)
class StrataFacts:
    """The column whose labels are the strata, and the facts of a release from each stratum alone."""

    column: str
    facts: Mapping[str, Facts]

    def estimators(self) -> dict[str, Estimator | None]:
        """How the counts of every stratum are read."""
        return {label: estimator_of(facts) for label, facts in self.facts.items()}

    def level(self, confidence: float) -> float:
        """The confidence for each stratum at which all of them cover together."""
        return 1 - (1 - confidence) / max(len(self.facts), 1)


def strata_of(facts: Facts) -> StrataFacts | None:
    """The strata of a release; None where it has none, or does not say which."""
    found = facts.get("strata")
    if not isinstance(found, Mapping):
        return None
    column, strata, parameters = found.get("column"), found.get("strata"), facts.get("parameters")
    if not (isinstance(column, str) and isinstance(strata, Mapping) and isinstance(parameters, Mapping)):
        return None
    if not 1 <= len(strata) <= _MOST or not all(isinstance(own, Mapping) for own in strata.values()):
        return None
    own = {str(label): {**facts, "strata": None, "parameters": {**parameters, **one}} for label, one in strata.items()}
    return StrataFacts(column, own)


def stratified_intervals(
    strata: StrataFacts,
    columns: Sequence[str],
    labels: NDArray[np.generic],
    counts: Whole,
    *,
    confidence: float = CONFIDENCE,
) -> Intervals:
    """The intervals for rows of one published table, each by its stratum; `labels` are the strata of the rows."""
    found = nothing_known(len(counts))
    for label, facts in strata.facts.items():
        here = np.flatnonzero(labels == label)
        if len(here):
            fill(found, here, row_intervals(facts, columns, counts[here], confidence=confidence))
    return found


def fill(whole: Intervals, here: Whole, part: Intervals) -> None:
    """Write the intervals of some rows to their places."""
    whole.estimate[here], whole.low[here], whole.high[here] = part.estimate, part.low, part.high


def summed(parts: Intervals, rows: Whole, sums: int) -> Intervals:
    """Sums over strata: `rows` says which sum each part belongs to; what one part does not know, the sum does not."""
    estimate = np.bincount(rows, parts.estimate, minlength=sums)
    low, high = (np.zeros(sums, np.int64), np.zeros(sums, np.int64))
    np.add.at(low, rows, np.maximum(parts.low, 0))
    np.add.at(high, rows, parts.high)
    unknown = np.zeros(sums, np.bool_)
    unknown[rows[parts.high < 0]] = True
    high[unknown] = -1
    nothing = np.zeros(sums, np.bool_)
    nothing[rows[parts.low < 0]] = True
    low[nothing] = -1
    return Intervals(np.round(estimate, 1), low, high)


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

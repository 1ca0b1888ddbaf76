"""Estimates and their ends, computed again from the counts and the facts of the certificate.

A version that computes narrower intervals still accepts those of an earlier one, and blank ones, which claim nothing;
an interval that is narrower than it should be is refused, and so is one that is wider by more than its own width.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdblend.estimates import CellLaws, Intervals, total_intervals
from crowdblend.reading.cells import Cells, Estimates
from crowdblend.releases.facts import contradiction

# Estimates are doubles with one digit behind the point.
_NEAR = 1e-9


def check_estimates(laws: CellLaws, cells: Cells) -> None:
    """Refuse estimates and intervals of a table that do not follow from its counts."""
    for found in cells.estimates(laws.stratum) if cells.estimated else ():
        assert found.counts is not None
        _compare(cells, found, laws.intervals(found.counts, found.exact, found.labels))


def check_totals(cells: Cells, losses: Sequence[float]) -> None:
    """Refuse the intervals of noisy totals, each by the loss of its own noise."""
    for found in cells.estimates() if cells.estimated else ():
        assert found.counts is not None
        _compare(cells, found, total_intervals(losses, found.counts))


def check_point_estimates(laws: CellLaws, cells: Cells, estimates: Estimates) -> None:
    """Refuse what is said of groups of points; `found.counts` says how many each has."""
    assert estimates.counts is not None
    _compare(cells, estimates, laws.intervals(estimates.counts, None, estimates.labels))


def _compare(cells: Cells, estimates: Estimates, right: Intervals) -> None:
    """Hold every row against the right one."""
    estimate, low, high = right.estimate, right.low, right.high
    silent = np.isnan(estimates.estimate) & (estimates.low < 0) & (estimates.high < 0)
    near = np.abs(estimates.estimate - estimate) <= _NEAR * np.maximum(1, np.abs(estimate))
    if (~silent & ~near & ~(np.isnan(estimates.estimate) & np.isnan(estimate))).any():
        raise contradiction(f"{cells.path.name} has an estimate that is not its count divided by the rate")
    width = np.where(high < 0, low, high - low) + 1
    narrow = (estimates.low > low) | ((high < 0) & (estimates.high >= 0)) | ((high >= 0) & (estimates.high < high))
    wide = (estimates.low < low - width) | ((high >= 0) & (estimates.high > high + width))
    if (~silent & (narrow | wide)).any():
        raise contradiction(f"{cells.path.name} has an interval that does not follow from its count and the rate")

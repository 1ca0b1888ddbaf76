"""Estimates of how many people of the population are in a cell or in several, each with an interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates import laws
from crowdblend.methods.estimates.acceptance import acceptance, large_intervals, largest_hidden, last_tested
from crowdblend.methods.estimates.laws import Floats, Law, Whole

CONFIDENCE = 0.95
# The share of the level that sums of noisy cells spend on the noise; the rest is for the sample.
_NOISE_SHARE = 0.5
# A value so much above k is noise with less than this probability in all cells together.
_SURELY_EXACT = 1e-6
# Noise of a smaller loss reaches over this many values that their laws are not listed: bounds take their place.
_FAINT = 0.01


@dataclass(frozen=True)
class Intervals:
    """An estimate with its ends for every cell; NaN and −1 where nothing can be said."""

    estimate: Floats
    low: Whole
    high: Whole


@dataclass(frozen=True)
class Variances:
    """The variance of the estimate of every cell: of the noise, and of who was sampled; NaN where nobody knows."""

    noise: Floats
    sampling: Floats


def nothing_known(rows: int) -> Intervals:
    """Intervals that say nothing."""
    return Intervals(np.full(rows, np.nan), np.full(rows, -1, np.int64), np.full(rows, -1, np.int64))


@dataclass(frozen=True)
class Estimator:
    """Estimates for cells that are published by a law, of people of one stratum."""

    law: Law
    stratum: Stratum

    def cells(
        self, values: Whole, exact: NDArray[np.bool_] | None = None, *, confidence: float = CONFIDENCE
    ) -> Intervals:
        """Return intervals for published cells; `confidence` is the share of shown cells covered."""
        if self._faint and self.law.shown_from is None:
            return self.sums(values, np.ones(len(values), np.int64), None, confidence=confidence)
        if self._faint:  # nothing is proved about cells that are shown because of their noise
            return nothing_known(len(values))
        level, stratum, lost = 1 - confidence, self.stratum, self.stratum.exceptions
        places = self.law.place(values, exact)
        others = _less(self.law, lost)
        low = self._ends(others, stratum.high, level, places - lost)[0]
        # Where nobody but the exceptions may be there, there may be fewer of these as well.
        low = np.where(low > others.least_people, lost + low, self.law.least_people)
        high = lost + self._ends(self.law, stratum.low, level, places)[1]
        return Intervals(self.estimates(values), low, high)

    def largest_unpublished(self, *, confidence: float = CONFIDENCE) -> int:
        """The upper end for a cell of a closed domain that is not shown: a larger one is shown with `confidence`."""
        assert self.law.shown_from is not None, "every cell is shown"
        if self._faint:
            level = (1 - confidence) / 2
            most = self.law.shown_from + laws.sum_reach(1, self.law.widest_loss, level)
            ends = self._ends(laws.ExactCounts(0), self.stratum.low, level, np.array([most]))
            return self.stratum.exceptions + int(ends[1][0])
        plain = laws.ExactCounts(self.law.shown_from) if self.law.noiseless else self.law
        return self.stratum.exceptions + largest_hidden(plain, self.stratum.low, 1 - confidence)

    def sums(
        self, totals: Whole, shown_cells: Whole, unpublished_cells: Whole | None, *, confidence: float = CONFIDENCE
    ) -> Intervals:
        """Return intervals for sums of cells, by how many are shown and not shown (None: unknown).

        Of a cell that is not shown at most k − 1 sampled people are missing; without an end to that, the sum has none
        either. What is shown is a lower end only, so it is no estimate where a cell is missing. A sum is shown where
        one of its cells is, and then k of the people in it may have been sampled for certain.
        """
        level, stratum = 1 - confidence, self.stratum
        plain = laws.ExactCounts(0)
        below = above = certain = np.zeros(len(totals), np.int64)
        if not self.law.noiseless:
            assert self.law.shown_from is None, "sums over cells that were cut off are not estimated"
            share = _NOISE_SHARE if stratum.low < 1 else 1.0
            different, back = np.unique(shown_cells, return_inverse=True)
            reaches = [self.law.sum_reach(cells, level * share) for cells in different.tolist()]
            below = above = np.array(reaches, np.int64)[back]
            # Where nobody was left out by sampling, the number of sampled people has no spread to cover.
            level *= _NOISE_SHARE
        elif self.law.shown_from is not None:
            certain = np.minimum(totals, self.law.shown_from)
            above = above if unpublished_cells is None else unpublished_cells * (self.law.shown_from - 1)
        rest = np.maximum(totals - below - certain, 0)
        surely = certain + np.minimum(stratum.exceptions, rest)
        low = surely + self._ends(plain, stratum.high, level, np.maximum(rest - stratum.exceptions, 0))[0]
        high = stratum.exceptions + self._ends(plain, stratum.low, level, np.maximum(totals + above, 0))[1]
        complete = np.ones(len(totals), np.bool_)
        if self.law.shown_from is not None:
            complete = np.zeros(len(totals), np.bool_) if unpublished_cells is None else unpublished_cells == 0
            if unpublished_cells is None:
                high = np.full(len(totals), -1, np.int64)
        return Intervals(np.where(complete, self.estimates(totals), np.nan), low, high)

    def variances(self, values: Whole) -> Variances:
        """Return the variances of estimates of single cells with these published values."""
        rate = self.stratum.rate
        if rate is None:
            return Variances(np.full(len(values), np.nan), np.full(len(values), np.nan))
        sampling = np.maximum(values, 1) * (1 - rate) / rate**2
        return Variances(self.law.variances(values) / rate**2, sampling)

    def noisy_cells(self, values: Whole) -> NDArray[np.bool_]:
        """Return the values that can be noisy; the others are exact but for a negligible probability."""
        if isinstance(self.law, laws.NoiseBelowK):
            far = laws.sum_reach(1, self.law.noise_epsilon, _SURELY_EXACT / max(len(values), 1))
            return values < self.law.k + far
        return np.full(len(values), not self.law.noiseless)

    @property
    def _faint(self) -> bool:
        return not self.law.noiseless and self.law.widest_loss < _FAINT

    def estimates(self, values: Whole) -> Floats:
        """Return the estimates of cells, or of sums of noisy ones: what is published divided by the rate."""
        rate = self.stratum.rate
        return np.full(len(values), np.nan) if rate is None else np.round(values / rate, 1)

    @staticmethod
    def _ends(law: Law, rate: float, level: float, all_places: Whole) -> tuple[Whole, Whole]:
        """Return the ends at every place; there are few different ones, and each is computed once."""
        places, back = np.unique(all_places, return_inverse=True)
        large = places > last_tested(law)
        low, high = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        if not large.all():
            tests = acceptance(law, rate, level)
            low[~large], high[~large] = tests.low(places[~large]), tests.high(places[~large])
        if large.any():
            apart = int(law.place(np.zeros(1, np.int64), np.ones(1, np.bool_))[0])
            low[large], high[large] = large_intervals(law, rate, level, places[large] - apart)
        return low[back], high[back]


def _less(law: Law, exceptions: int) -> Law:
    """The law of the others, and of values less this many, where this many people are in the sample for certain."""
    if isinstance(law, laws.ExactCounts):
        return laws.ExactCounts(max(law.k - exceptions, 0))
    if isinstance(law, laws.NoiseFromThreshold) and exceptions:  # the cell is not empty
        return laws.OutlierNoise(law.noise_epsilon, 1, 1, law.shown_from - exceptions)
    # With the noise of fewer people, which is more.
    if isinstance(law, laws.OutlierNoise) and law.shown_from is not None:
        return replace(law, shown_from=law.shown_from - exceptions)
    assert not (exceptions and isinstance(law, laws.NoiseBelowK)), "noise below k is for unbiased samples"
    return law

"""Statistics of all strata together (rule strata.joint): a person who is kept counts as often as the stratum says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.quantiles import NoisyStatistics
from crowdblend.planning.statistics.stratified import strata_claim


@dataclass(frozen=True)
class StrataStatistics(NoisyStatistics):
    """Totals with noise and quantiles by permute-and-flip, of people counted in copies."""

    def claim(self) -> Derivation:
        """The losses of all of them added up, with one person counted once more or less."""
        return strata_claim(self.shapes, self.noise_epsilons)


def in_copies(sample: SampledClasses, stratum: str, copies: Sequence[int]) -> SampledClasses:
    """The sample with everybody counted as often as the stratum says."""
    strata = sample.codes[:, sample.columns.index(stratum)]
    return replace(sample, counts=sample.counts * np.array(copies, np.int64)[strata])


def in_own_copies(sample: SampledClasses, stratum: str, copies: Sequence[int]) -> SampledClasses:
    """The sample with everybody counted as often as the last column says, which is the person's own weight.

    Nobody counts more often than the stratum allows: that is what the certificate relies on, whatever was read.
    """
    strata = sample.codes[:, sample.columns.index(stratum)]
    own = np.minimum(sample.codes[:, -1], np.array(copies, np.int64)[strata])
    return replace(sample, counts=sample.counts * own)

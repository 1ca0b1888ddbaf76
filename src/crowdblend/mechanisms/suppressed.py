"""Exact counts of crowds of at least k; smaller classes are not shown (CBP 3.1; rule histogram.suppressed).

Microdata by safe generalization is the same publication written out: after recoding all rows of a class are equal, so
the histogram of the published classes and the list of the published rows say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms
from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses


@dataclass(frozen=True)
class SuppressedHistogram:
    """Shows a class if and only if at least k sampled people are in it."""

    k: int

    def publish(self, sample: SampledClasses) -> PublishedClasses:
        """The crowds of the sample."""
        crowd = sample.counts >= self.k
        return PublishedClasses(sample.columns, sample.labels, sample.codes[crowd], sample.counts[crowd])

    def claim(self) -> Derivation:
        """Members of one class are interchangeable, and a class below k is not shown: (k, 0)-crowd-blending."""
        return mechanisms.histogram_suppressed(k=self.k)

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> None:
        """Nothing beyond what sampling makes of its crowds."""
        del rate, epsilon


@dataclass(frozen=True)
class SuppressedRecords(SuppressedHistogram):
    """Shows a recoded record if and only if at least k sampled people have it; published as classes with counts."""

    def claim(self) -> Derivation:
        """Equal records are interchangeable, and rare ones are not shown: (k, 0)-crowd-blending."""
        return mechanisms.generalization_suppressed(k=self.k)

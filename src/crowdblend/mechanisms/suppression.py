"""Exact counts of crowds of at least k; smaller classes are not shown (CBP 3.1; rule histogram.suppressed).

Microdata by safe generalization is the same publication written out: after recoding all rows of a class are equal, so
the histogram of the published classes and the list of the published rows say the same.
"""

from __future__ import annotations

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms
from crowdblend.estimates.laws import ExactCounts
from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.mechanism import Crowd, Mechanism
from crowdblend.randomness import ReleaseKey


class SuppressedHistogram(Mechanism, frozen=True, tag="suppressed"):
    """Shows a class if and only if at least k sampled people are in it."""

    k: Crowd

    def publish(self, sample: SampledClasses, key: ReleaseKey | None = None) -> PublishedClasses:
        """Return the crowds of the sample; nothing of it is random."""
        del key
        crowd = sample.counts >= self.k
        return PublishedClasses(sample.columns, sample.labels, sample.codes[crowd], sample.counts[crowd])

    def claim(self) -> Derivation:
        """Members of one class are interchangeable, and a class below k is not shown: (k, 0)-crowd-blending."""
        return mechanisms.histogram_suppressed(k=self.k)

    @property
    def law(self) -> ExactCounts:
        return ExactCounts(self.k)


class SuppressedRecords(SuppressedHistogram, frozen=True, tag="suppressed-records"):
    """Shows a recoded record if and only if at least k sampled people have it; published as classes with counts."""

    def claim(self) -> Derivation:
        """Equal records are interchangeable, and rare ones are not shown: (k, 0)-crowd-blending."""
        return mechanisms.generalization_suppressed(k=self.k)

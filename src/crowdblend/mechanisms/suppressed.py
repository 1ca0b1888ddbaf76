"""Exact counts of crowds of at least k; smaller classes are not shown (CBP 3.1; rule histogram.suppressed).

Microdata by safe generalization is the same publication written out: after recoding all rows of a class are equal, so
the histogram of the published classes and the list of the published rows say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses


@dataclass(frozen=True)
class SuppressedHistogram:
    """Shows a class if and only if at least k sampled people are in it."""

    k: int

    def publish(self, sample: SampledClasses) -> PublishedClasses:
        """The crowds of the sample."""
        crowd = sample.counts >= self.k
        return PublishedClasses(sample.columns, sample.labels, sample.codes[crowd], sample.counts[crowd])

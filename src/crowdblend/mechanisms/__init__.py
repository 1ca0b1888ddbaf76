"""Mechanisms: parameters in the constructor, the sample in the call, and `claim()`: what it guarantees."""

from crowdblend.mechanisms.histograms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.mechanism import PublishedClasses, SampledClasses
from crowdblend.mechanisms.outliers import OutlierHistogram
from crowdblend.mechanisms.points import NoisyPoints, PublishedPoints

__all__ = [
    "NoisyHistogram",
    "NoisyPoints",
    "OutlierHistogram",
    "PublishedClasses",
    "PublishedPoints",
    "SampledClasses",
    "SuppressedHistogram",
]

"""Mechanisms: parameters in the constructor, the sample in the call, and `claim()`: what it guarantees."""

from crowdblend.methods.mechanisms.histograms import NoisyHistogram, SuppressedHistogram
from crowdblend.methods.mechanisms.mechanism import PublishedClasses, SampledClasses
from crowdblend.methods.mechanisms.outliers import OutlierHistogram
from crowdblend.methods.mechanisms.points import NoisyPoints, PublishedPoints

__all__ = [
    "NoisyHistogram",
    "NoisyPoints",
    "OutlierHistogram",
    "PublishedClasses",
    "PublishedPoints",
    "SampledClasses",
    "SuppressedHistogram",
]

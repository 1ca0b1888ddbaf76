"""One file per mechanism: parameters in the constructor, the sample in the call, and `claim()`: what it guarantees."""

from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.noisy import NoisyHistogram
from crowdblend.mechanisms.outliers import OutlierHistogram
from crowdblend.mechanisms.points import NoisyPoints, PublishedPoints
from crowdblend.mechanisms.suppression import SuppressedHistogram

__all__ = [
    "NoisyHistogram",
    "NoisyPoints",
    "OutlierHistogram",
    "PublishedClasses",
    "PublishedPoints",
    "SampledClasses",
    "SuppressedHistogram",
]

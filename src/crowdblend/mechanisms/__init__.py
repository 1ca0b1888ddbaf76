"""One file per sanitizer: parameters in the constructor, the sample in the call, no promise of its own."""

from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.noisy import NoisyHistogram
from crowdblend.mechanisms.suppressed import SuppressedHistogram

__all__ = ["NoisyHistogram", "PublishedClasses", "SampledClasses", "SuppressedHistogram"]

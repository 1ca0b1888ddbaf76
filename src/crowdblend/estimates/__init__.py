"""Estimates for readers: intervals about the population, from what is published alone.

Nothing here sees a sample, so whatever is computed is post-processing and costs no privacy. The proofs that the
intervals cover are in docs/proofs.md#estimates.
"""

from crowdblend.estimates.cells import CellLaws, combinations, estimator_of, total_intervals
from crowdblend.estimates.estimator import Estimator, Intervals, nothing_known
from crowdblend.estimates.laws import (
    ExactCounts,
    GaussianOnEveryCell,
    Law,
    NoiseBelowK,
    NoiseFromThreshold,
    NoiseOnEveryCell,
    OutlierNoise,
)

__all__ = [
    "CellLaws",
    "Estimator",
    "ExactCounts",
    "GaussianOnEveryCell",
    "Intervals",
    "Law",
    "NoiseBelowK",
    "NoiseFromThreshold",
    "NoiseOnEveryCell",
    "OutlierNoise",
    "combinations",
    "estimator_of",
    "nothing_known",
    "total_intervals",
]

"""What a reader may conclude about the population: estimates with intervals, from what is published alone.

Nothing here sees a sample, so whatever is computed is post-processing and costs no privacy. The proofs that the
intervals cover are in docs/proofs.md#estimates.
"""

from crowdblend.estimates.estimator import Estimator, InclusionRates, Intervals, nothing_known
from crowdblend.estimates.facts import (
    domain_sizes,
    estimator_of,
    facts_of_table,
    finest_cells,
    row_intervals,
    total_intervals,
)
from crowdblend.estimates.laws import ExactCounts, Law, NoiseBelowK, NoiseOnEveryCell, OutlierNoise
from crowdblend.estimates.strata import (
    StrataFacts,
    number_of_blocks,
    point_intervals,
    points_by_stratum,
    strata_of,
    stratified_intervals,
)

__all__ = [
    "Estimator",
    "ExactCounts",
    "InclusionRates",
    "Intervals",
    "Law",
    "NoiseBelowK",
    "NoiseOnEveryCell",
    "OutlierNoise",
    "StrataFacts",
    "domain_sizes",
    "estimator_of",
    "facts_of_table",
    "finest_cells",
    "nothing_known",
    "number_of_blocks",
    "point_intervals",
    "points_by_stratum",
    "row_intervals",
    "strata_of",
    "stratified_intervals",
    "total_intervals",
]

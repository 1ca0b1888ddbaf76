"""What can be guaranteed, as frozen values whose meaning never changes."""

from crowdblend.guarantees.aggregates import (
    Aggregate,
    Exploration,
    IidSampling,
    Neighbourhood,
    RandomSamples,
    RobustSampling,
    Together,
)
from crowdblend.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Guarantee,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from crowdblend.guarantees.utility import (
    BoundedScore,
    Estimator,
    NoisyTotals,
    PartOfSample,
    QuerySampler,
    Sampler,
    Useful,
)

__all__ = [
    "Aggregate",
    "BoundedScore",
    "CrowdBlending",
    "Differential",
    "DifferentialUnderSampling",
    "Estimator",
    "Exploration",
    "Guarantee",
    "IidSampling",
    "Neighbourhood",
    "NoisyTotals",
    "OutlierPrivate",
    "PartOfSample",
    "QuerySampler",
    "RandomSamples",
    "Relation",
    "RobustSampling",
    "Sampler",
    "Together",
    "Useful",
    "ZeroKnowledge",
]

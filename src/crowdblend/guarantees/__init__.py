"""What can be promised, as frozen values whose meaning never changes."""

from crowdblend.guarantees.aggregates import (
    Aggregate,
    Exploration,
    IidSampling,
    Neighbourhood,
    RandomSamples,
    RobustSampling,
)
from crowdblend.guarantees.promises import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Guarantee,
    OutlierPrivate,
    ZeroKnowledge,
)
from crowdblend.guarantees.relations import Relation
from crowdblend.guarantees.utility import BoundedScore, QuerySampler, Sampler, Useful

__all__ = [
    "Aggregate",
    "BoundedScore",
    "CrowdBlending",
    "Differential",
    "DifferentialUnderSampling",
    "Exploration",
    "Guarantee",
    "IidSampling",
    "Neighbourhood",
    "OutlierPrivate",
    "QuerySampler",
    "RandomSamples",
    "Relation",
    "RobustSampling",
    "Sampler",
    "Useful",
    "ZeroKnowledge",
]

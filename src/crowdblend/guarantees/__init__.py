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
    ZeroKnowledge,
)
from crowdblend.guarantees.profiles import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PointCurve,
    Profile,
    SplitCurve,
    Uses,
)
from crowdblend.guarantees.relations import Relation
from crowdblend.guarantees.utility import BoundedScore, Estimator, NoisyTotals, QuerySampler, Sampler, Useful

__all__ = [
    "Aggregate",
    "AmplifiedCurve",
    "BiasedCurve",
    "BoundedScore",
    "ClosenessCurve",
    "CrowdBlending",
    "CrowdCurve",
    "Differential",
    "DifferentialUnderSampling",
    "Estimator",
    "Exploration",
    "Guarantee",
    "IidSampling",
    "LossCurve",
    "Neighbourhood",
    "NoisyCountCurve",
    "NoisyTotals",
    "OutlierCurve",
    "OutlierPrivate",
    "PointCurve",
    "Profile",
    "QuerySampler",
    "RandomSamples",
    "Relation",
    "RobustSampling",
    "Sampler",
    "SplitCurve",
    "Together",
    "Useful",
    "Uses",
    "ZeroKnowledge",
]

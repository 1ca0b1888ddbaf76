"""Designs: how people come into a sample, one class for each way, all with the protocol of `Design`."""

from crowdblend.designs.biased import Biased
from crowdblend.designs.design import Claims, Design, InclusionRates, Rate, SampledClaims
from crowdblend.designs.everybody import Everybody
from crowdblend.designs.poisson import Coins, Poisson
from crowdblend.designs.strata import Strata, Stratum, Weights
from crowdblend.designs.survey import Survey, ThinnedSurvey

__all__ = [
    "Biased",
    "Claims",
    "Coins",
    "Design",
    "Everybody",
    "InclusionRates",
    "Poisson",
    "Rate",
    "SampledClaims",
    "Strata",
    "Stratum",
    "Survey",
    "ThinnedSurvey",
    "Weights",
]

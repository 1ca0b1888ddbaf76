"""Designs: how people come into a sample, one class for each way, all with the protocol of `Design`."""

from crowdblend.methods.designs.biased import Biased
from crowdblend.methods.designs.design import Claims, Design, SeveralRows, Stratum
from crowdblend.methods.designs.everybody import Everybody
from crowdblend.methods.designs.poisson import Coins, Poisson
from crowdblend.methods.designs.strata import Strata, Weights
from crowdblend.methods.designs.survey import Survey, ThinnedSurvey

# A new design stands here, and facts can state it.
DESIGNS: tuple[type[Design], ...] = (Poisson, Coins, ThinnedSurvey, Survey, Biased, Strata, Weights, Everybody)

__all__ = [
    "DESIGNS",
    "Biased",
    "Claims",
    "Coins",
    "Design",
    "Everybody",
    "Poisson",
    "SeveralRows",
    "Strata",
    "Stratum",
    "Survey",
    "ThinnedSurvey",
    "Weights",
]

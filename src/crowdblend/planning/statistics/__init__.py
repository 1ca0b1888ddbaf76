"""Plans for statistics: which noise every total gets, how far off it may be, and what all of them guarantee."""

from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.choice import TotalsPlan, TotalsRequest, plan_statistics
from crowdblend.planning.statistics.quantiles import QuantileShape
from crowdblend.planning.statistics.ways import EVERYBODY, SAMPLE, AnyShape, Way, statistics_claim, totals_claim

__all__ = [
    "EVERYBODY",
    "SAMPLE",
    "AnyShape",
    "QuantileShape",
    "Shape",
    "TotalsPlan",
    "TotalsRequest",
    "Way",
    "plan_statistics",
    "statistics_claim",
    "totals_claim",
]

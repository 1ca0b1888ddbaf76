"""Plans for statistics: which noise every total gets, how far off it may be, and what all of them guarantee."""

from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.choice import TotalsPlan, TotalsRequest, plan_statistics
from crowdblend.planning.statistics.quantiles import QuantileShape
from crowdblend.planning.statistics.strata_totals import StrataWay, plan_strata_statistics, strata_claim
from crowdblend.planning.statistics.ways import (
    EVERYBODY,
    SAMPLE,
    STRATA,
    AnyShape,
    Mechanism,
    SampleWay,
    Way,
    statistics_claim,
)

__all__ = [
    "EVERYBODY",
    "SAMPLE",
    "STRATA",
    "AnyShape",
    "Mechanism",
    "QuantileShape",
    "SampleWay",
    "Shape",
    "StrataWay",
    "TotalsPlan",
    "TotalsRequest",
    "Way",
    "plan_statistics",
    "plan_strata_statistics",
    "statistics_claim",
    "strata_claim",
]

"""Statistics under zero-knowledge privacy: averages, fractions, counts and histograms (ZKP 3)."""

from crowdblend.release.kinds.statistics.policy import Statistic, StatisticsPolicy
from crowdblend.release.kinds.statistics.promise import Promise, promise
from crowdblend.release.kinds.statistics.reading import read_policy

__all__ = ["Promise", "Statistic", "StatisticsPolicy", "promise", "read_policy"]

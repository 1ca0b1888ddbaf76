"""Statistics under zero-knowledge privacy: averages, fractions, counts and histograms (ZKP 3)."""

from crowdblend.release.kinds.statistics.policy import Statistic, StatisticsPolicy, read_policy
from crowdblend.release.kinds.statistics.promise import Promise, promise

__all__ = ["Promise", "Statistic", "StatisticsPolicy", "promise", "read_policy"]

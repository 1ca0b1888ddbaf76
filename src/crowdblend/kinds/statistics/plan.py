"""Statistics: the method that a publication is computed by."""

from __future__ import annotations

from crowdblend.kinds.statistics.fixed_size import FixedSizeMethod
from crowdblend.kinds.statistics.in_copies import InCopiesMethod
from crowdblend.kinds.statistics.policy import StatisticsPolicy


def method(policy: StatisticsPolicy) -> FixedSizeMethod | InCopiesMethod:
    """Return the method of statistics: of a fixed number of people, or of a sample by coins, strata or weights."""
    return FixedSizeMethod(policy) if policy.strata is None else InCopiesMethod(policy)

"""Points of people, moved by noise within blocks that hold at least k of them."""

from crowdblend.release.kinds.points.policy import PointsPolicy, read_policy
from crowdblend.release.kinds.points.promise import PointsPromise, promise

__all__ = ["PointsPolicy", "PointsPromise", "promise", "read_policy"]

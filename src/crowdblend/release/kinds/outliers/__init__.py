"""Tables whose every bin is noisy, the smaller the more."""

from crowdblend.release.kinds.outliers.policy import OutlierPolicy, read_policy
from crowdblend.release.kinds.outliers.promise import OutlierPromise, promise

__all__ = ["OutlierPolicy", "OutlierPromise", "promise", "read_policy"]

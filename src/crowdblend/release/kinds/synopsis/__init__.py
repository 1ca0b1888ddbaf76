"""Synthetic rows that answer a class of queries about people."""

from crowdblend.release.kinds.synopsis.policy import SynopsisPolicy, read_policy
from crowdblend.release.kinds.synopsis.promise import SynopsisPromise, promise

__all__ = ["SynopsisPolicy", "SynopsisPromise", "promise", "read_policy"]

"""Releases that look safe and are not. Nothing outside the attacks imports them, and nothing certifies them."""

from crowdblend.attacks.targets.clustering import clustered
from crowdblend.attacks.targets.duplicates import duplicated, is_k_anonymous
from crowdblend.attacks.targets.groups import Groups, generalized
from crowdblend.attacks.targets.mondrian import mondrian

__all__ = ["Groups", "clustered", "duplicated", "generalized", "is_k_anonymous", "mondrian"]

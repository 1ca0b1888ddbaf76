"""Cost and accuracy of a release, before any data are touched."""

from crowdblend.planning.plan import Plan, SolvedPlan, plan
from crowdblend.planning.sweep import Sweep, sweep

__all__ = ["Plan", "SolvedPlan", "Sweep", "plan", "sweep"]

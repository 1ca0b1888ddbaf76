"""What a release will cost and give, before any data is touched."""

from crowdblend.planning.plan import Plan, SolvedPlan, plan
from crowdblend.planning.sweep import Sweep, sweep

__all__ = ["Plan", "SolvedPlan", "Sweep", "plan", "sweep"]

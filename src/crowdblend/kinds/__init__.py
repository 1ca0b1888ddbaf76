"""Every kind of release, each in a module of its own: plan, read, publish."""

from crowdblend.kinds.kind import AnyPlan, AnyPolicy, Publication, Reading, ReleasePlan
from crowdblend.kinds.registry import KINDS, plan

__all__ = ["KINDS", "AnyPlan", "AnyPolicy", "Publication", "Reading", "ReleasePlan", "plan"]

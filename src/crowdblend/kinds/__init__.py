"""Every kind of release, each in a folder of its own: policy, plan, facts, view, verify, rehearse."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdblend.kinds.registry import plan

if TYPE_CHECKING:
    from crowdblend.releases.plan import AnyPlan, AnyPolicy, Reading, ReleasePlan, Result

__all__ = ["AnyPlan", "AnyPolicy", "Reading", "ReleasePlan", "Result", "plan"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("crowdblend.releases.plan"), name)

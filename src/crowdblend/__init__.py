"""Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check."""

from typing import Any

from crowdblend.calculus import Certificate, compose, verify
from crowdblend.errors import CrowdblendError
from crowdblend.planning import Plan, plan

__all__ = [
    "Certificate",
    "CrowdblendError",
    "Plan",
    "__version__",
    "compose",
    "plan",
    "sample_and_sanitize",
    "verify",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # What runs on data loads NumPy, and planning must not.
    if name == "sample_and_sanitize":
        from crowdblend.mechanisms.measurement import sample_and_sanitize  # noqa: PLC0415

        return sample_and_sanitize
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

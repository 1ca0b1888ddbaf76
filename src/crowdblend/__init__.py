"""Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check."""

from crowdblend.calculus import Certificate, compose, verify
from crowdblend.errors import CrowdblendError
from crowdblend.planning import Plan, plan

__all__ = ["Certificate", "CrowdblendError", "Plan", "__version__", "compose", "plan", "verify"]

__version__ = "0.1.0"

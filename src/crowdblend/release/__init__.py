"""Releases: what the steward decides, and what becomes of it."""

from crowdblend.release.load import load_policy, parse_policy
from crowdblend.release.policy import Choosing, Column, DataSource, Policy, Release, Sampling, Table
from crowdblend.release.schema import policy_schema
from crowdblend.release.starter import init_policy

__all__ = [
    "Choosing",
    "Column",
    "DataSource",
    "Policy",
    "Release",
    "Sampling",
    "Table",
    "init_policy",
    "load_policy",
    "parse_policy",
    "policy_schema",
]

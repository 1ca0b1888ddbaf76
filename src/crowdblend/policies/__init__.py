"""Policies: what the steward decides, checked before a row is touched."""

from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.policies.schema import policy_schema
from crowdblend.policies.starter import init_policy
from crowdblend.policies.table import Choosing, Column, DataSource, Policy, Release, Sampling, Table

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

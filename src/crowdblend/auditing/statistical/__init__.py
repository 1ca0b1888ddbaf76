"""Guarantees tested by running the mechanism many times on neighbouring populations that are hard for it."""

from crowdblend.auditing.statistical.bounds import clopper_pearson, epsilon_lower
from crowdblend.auditing.statistical.outlook import Outlook, audit_foreseen, foresee
from crowdblend.auditing.statistical.run import Verdict, audit
from crowdblend.auditing.statistical.subject import BlackBox, Neighbours, Pair, Subject, hard_sizes, views_of

__all__ = [
    "BlackBox",
    "Neighbours",
    "Outlook",
    "Pair",
    "Subject",
    "Verdict",
    "audit",
    "audit_foreseen",
    "clopper_pearson",
    "epsilon_lower",
    "foresee",
    "hard_sizes",
    "views_of",
]

"""Promises tested by running the mechanism many times on neighbouring populations that are hard for it."""

from crowdblend.audit.statistical.bounds import clopper_pearson, epsilon_lower
from crowdblend.audit.statistical.populations import hard_sizes
from crowdblend.audit.statistical.repeat import Repeated, repeat
from crowdblend.audit.statistical.run import audit
from crowdblend.audit.statistical.subject import BlackBox, Neighbours, Pair, Subject
from crowdblend.audit.statistical.verdict import Verdict
from crowdblend.audit.statistical.views import views_of

__all__ = [
    "BlackBox",
    "Neighbours",
    "Pair",
    "Repeated",
    "Subject",
    "Verdict",
    "audit",
    "clopper_pearson",
    "epsilon_lower",
    "hard_sizes",
    "repeat",
    "views_of",
]

"""Synthetic rows that answer a whole class of fraction queries (ZKP 4)."""

from crowdblend.mechanisms.synopsis.classes import list_conjunctions, ranges
from crowdblend.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.mechanisms.synopsis.exponential import ExponentialSynopsis
from crowdblend.mechanisms.synopsis.fitted_synopsis import FittedSynopsis, Synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass
from crowdblend.mechanisms.synopsis.synopsis_plans import PlannedSynopsis, fitted_synopsis, plan_synopsis

__all__ = [
    "Conjunctions",
    "ExponentialSynopsis",
    "FittedSynopsis",
    "PlannedSynopsis",
    "QueryClass",
    "Synopsis",
    "conjunctions",
    "fitted_synopsis",
    "list_conjunctions",
    "plan_synopsis",
    "ranges",
]

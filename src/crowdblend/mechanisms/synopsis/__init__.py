"""Synthetic rows that answer a whole class of fraction queries (ZKP 4)."""

from crowdblend.mechanisms.synopsis.classes import half_planes, list_conjunctions, ranges
from crowdblend.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.mechanisms.synopsis.exponential import ExponentialSynopsis
from crowdblend.mechanisms.synopsis.fitted import FittedSynopsis, Synopsis
from crowdblend.mechanisms.synopsis.planned import PlannedSynopsis, fitted_synopsis, plan_synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass

__all__ = [
    "Conjunctions",
    "ExponentialSynopsis",
    "FittedSynopsis",
    "PlannedSynopsis",
    "QueryClass",
    "Synopsis",
    "conjunctions",
    "fitted_synopsis",
    "half_planes",
    "list_conjunctions",
    "plan_synopsis",
    "ranges",
]

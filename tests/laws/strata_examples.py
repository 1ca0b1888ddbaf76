"""Applications of the rules about stratified samples, and their references."""

from typing import Any

from mpmath import expm1, log1p, mpf

from crowdblend.trusted.guarantees.aggregates import RobustSampling
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.trusted.guarantees.profiles import BiasedCurve, CrowdCurve, LossCurve, PointCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import StrataCurve, StrataOfSample, StratumOfSample

from .example import Example
from .scans import robust

ADD = Relation.ADD_REMOVE
NORTH, SOUTH = StratumOfSample(0.1, 0.1, 1.0, 2e-7), StratumOfSample(0.5, 0.5, 0.9, 9e-7)
JOINT = StrataOfSample(0.1, 0.2, 0.03, 0.4)
HEAVY = StratumOfSample(0.001, 0.002, 1.0, 1e-7)
_COPIES = {("high", "epsilon"): 1, ("copies", "epsilon"): 1}
_ROBUST = {("low", "delta"): -1, ("high", "delta"): 1, ("epsilon", "delta"): -1}


def _stratum(curve: LossCurve) -> Profile:
    return Profile((Uses(curve, 1),), ADD, 1, 1)


CROWDS, BANDS = CrowdCurve(8, 0.0, 0.1), BiasedCurve(5, 3.0, 0.001, 0.002, 0, 0.002)
POINTS = PointCurve(20, 1.0, 0.1)

STRATA_EXAMPLES: dict[str, list[Example]] = {
    "strata.at-one-rate": [Example((DifferentialUnderSampling(0.1, 1.0, 2e-7),))],
    "strata.between-rates": [
        Example((CrowdBlending(20, 0.3),), {"low": 0.08, "high": 0.1, "epsilon": 0.8}, _ROBUST),
        Example((CrowdBlending(11, 2.0),), {"low": 0.02, "high": 0.03, "epsilon": 1.0}, _ROBUST),
    ],
    "strata.worst": [Example((NORTH, SOUTH)), Example((HEAVY, SOUTH, NORTH)), Example((NORTH,))],
    "strata.zero-knowledge": [Example((NORTH, SOUTH)), Example((HEAVY, SOUTH, NORTH))],
    "strata.together": [Example((NORTH, SOUTH)), Example((HEAVY, SOUTH, NORTH)), Example((NORTH,))],
    "strata.together-zero-knowledge": [Example((NORTH, SOUTH)), Example((HEAVY, SOUTH, NORTH))],
    "strata.copies": [
        Example((Differential(0.03, 0.0, ADD),), {"low": 0.02, "high": 0.05, "copies": 20}, _COPIES),
        Example((Differential(2.0, 0.0, ADD),), {"low": 0.5, "high": 0.5, "copies": 1}, _COPIES),
    ],
    "strata.more-copies": [
        Example((JOINT,), {"low": 0.02, "high": 0.05, "copies": 40}, _COPIES),
        Example((JOINT,), {"low": 0.3, "high": 0.5, "copies": 1}, _COPIES),
    ],
    "strata.joint": [Example((JOINT,))],
    "strata.joint-zero-knowledge": [Example((JOINT,))],
    "profile.strata": [Example((_stratum(CROWDS), _stratum(BANDS), _stratum(CROWDS))), Example((_stratum(POINTS),))],
}


def _worst(*strata: Any) -> dict[str, Any]:
    epsilon, delta = max(stratum.epsilon for stratum in strata), max(stratum.delta for stratum in strata)
    return {"epsilon": epsilon, "delta": delta, "relation": ADD, "people": 1}


def _between(premise: Any, low: float, high: float, epsilon: float) -> dict[str, Any]:
    return {
        "low": low,
        "high": high,
        "epsilon": epsilon,
        "delta": robust(premise.k, premise.epsilon, low, high, 0, high, epsilon),
    }


def _seen(*strata: Any) -> dict[str, Any]:
    ends = min(one.low for one in strata), max(one.high for one in strata)
    return {**_worst(*strata), "aggregate": RobustSampling(*ends, 0)}


def _copies(low: float, high: float, inner: float, known: float, rate: float, copies: int) -> dict[str, Any]:
    epsilon = max(mpf(known), log1p(rate * expm1(copies * mpf(inner))))
    return {"low": low, "high": high, "inner_epsilon": inner, "epsilon": epsilon}


STRATA_REFERENCES: dict[str, Any] = {
    "strata.at-one-rate": lambda a: {"low": a.rate, "high": a.rate, "epsilon": a.epsilon, "delta": mpf(a.delta)},
    "strata.between-rates": _between,
    "strata.worst": lambda *a: {**_worst(*a), "samplings": 1},
    "strata.zero-knowledge": _seen,
    "strata.together": lambda *a: {**_worst(*a), "samplings": 1},
    "strata.together-zero-knowledge": _seen,
    "strata.copies": lambda a, low, high, copies: _copies(low, high, a.epsilon, 0, high, copies),
    "strata.more-copies": lambda a, low, high, copies: _copies(
        min(low, a.low), max(high, a.high), a.inner_epsilon, a.epsilon, high, copies
    ),
    "strata.joint": lambda a: {"epsilon": a.epsilon, "delta": mpf(0), "relation": ADD, "people": 1, "samplings": 1},
    "strata.joint-zero-knowledge": lambda a: {
        "epsilon": a.epsilon,
        "delta": mpf(0),
        "relation": ADD,
        "people": 1,
        "aggregate": RobustSampling(a.low, a.high, 0),
    },
    "profile.strata": lambda *a: {
        "uses": (Uses(StrataCurve(tuple(one.uses[0].curve for one in a)), 1),),
        "relation": ADD,
        "people": 1,
        "samplings": 1,
    },
}

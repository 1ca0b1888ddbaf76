"""Applications of the rules about profiles."""

from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    Profile,
    ReplacedCurve,
    SurveyCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfPoints, PrivatePart

from .example import Example

ADD = Relation.ADD_REMOVE


def profile(*curves: LossCurve, releases: int = 1, relation: Relation = ADD, people: int = 1) -> Profile:
    return Profile(tuple(Uses(curve, releases) for curve in curves), relation, people, 1)


def unsampled(*curves: LossCurve, releases: int = 1) -> Profile:
    return Profile(tuple(Uses(curve, releases) for curve in curves))


CROWDS, AMPLIFIED, PURE = CrowdCurve(8, 0.0, 0.1), AmplifiedCurve(1.0, 1e-7, 0.2), ClosenessCurve(0.25, 0.0)
LEAKY = ClosenessCurve(0.25, 1e-4)
ASKED = SurveyCurve(100, 1_000, False, (Uses(LEAKY, 1),))
_DELTA = {("epsilon", "delta"): -1}

PROFILE_EXAMPLES: dict[str, list[Example]] = {
    "profile.crowds": [
        Example((CrowdBlending(8, 0.0),), {"rate": 0.1}),
        Example((CrowdBlending(20, 0.5),), {"rate": 0.3}),
    ],
    "profile.noise-below-k": [Example((), {"k": 5, "noise_epsilon": 2.9, "rate": 0.1, "flag": False})],
    "profile.points": [Example((), {"k": 20, "noise_epsilon": 1.0, "rate": 0.1})],
    "profile.biased": [
        Example((CrowdBlending(20, 0.3),), {"low": 0.08, "high": 0.1, "exceptions": 3, "max_rate": 0.2}),
        Example((CrowdBlending(20, 0.0),), {"low": 0.1, "high": 0.1, "exceptions": 0, "max_rate": 0.1}),
    ],
    "profile.amplified": [Example((Differential(1.0, 1e-6, ADD),), {"rate": 0.1})],
    "profile.outliers": [Example((), {"epsilon": 0.2, "transition": 5, "limit": 15})],
    "profile.gaussian": [Example((), {"sigma": 20.0})],
    "profile.threshold": [Example((), {"noise_epsilon": 1.0, "show_from": 15})],
    "profile.differential": [
        Example((Differential(1.0, 1e-6, ADD, samplings=1),)),
        Example((Differential(0.3, 0.0, Relation.REPLACE, people=3),)),
    ],
    "profile.recoding-population": [
        Example((Differential(0.5, 0.0, ADD), profile(CROWDS))),
        Example((Differential(0.5, 0.0, ADD, samplings=2), profile(CROWDS, AMPLIFIED, releases=2))),
    ],
    "profile.programme": [
        Example((PartInCrowds(0.5, 10, 0.0), PartInCrowds(0.25, 8, 0.0)), {"rate": 0.3}),
        Example((PartInCrowds(0.75, 10, 0.5),), {"rate": 0.3}),
        Example((PartOfPoints(0.25, 10, 0.5), PrivatePart(0.25, (Uses(LEAKY, 2),))), {"rate": 0.3}),
    ],
    "profile.steps": [
        Example((unsampled(PURE), unsampled(LEAKY, PURE, releases=2))),
        Example((unsampled(LEAKY, PURE), unsampled(LEAKY))),
    ],
    "profile.one-sample": [Example((unsampled(PURE, LEAKY),), {"rate": 0.1})],
    "profile.one-unequal-sample": [
        Example((unsampled(PURE, LEAKY),), {"low": 0.08, "high": 0.1, "exceptions": 3, "max_rate": 0.2})
    ],
    "profile.unequal-programme": [
        Example(
            (PartInCrowds(0.5, 10, 0.0), PartInCrowds(0.1, 8, 0.5), PrivatePart(0.15, (Uses(LEAKY, 1),))),
            {"low": 0.08, "high": 0.1, "exceptions": 3, "max_rate": 0.2},
        )
    ],
    "profile.recoding-split": [
        Example((Differential(1.0, 0.0, ADD), CrowdBlending(10, 0.0)), {"rate": 0.2, "share": 0.25})
    ],
    "profile.replaced": [Example((profile(AMPLIFIED, CROWDS, releases=2),))],
    "survey.profile": [
        Example((profile(PURE, LEAKY, relation=Relation.REPLACE),), {"samples": 100, "population": 1_000}),
        Example((profile(ReplacedCurve(CROWDS), relation=Relation.REPLACE),), {"samples": 1, "population": 1}),
    ],
    "survey.strata-profile": [
        Example((profile(LEAKY, releases=2, relation=Relation.REPLACE),), {"samples": 3, "population": 10})
    ],
    "survey.groups-profile": [
        Example((profile(LEAKY, PURE, relation=Relation.REPLACE),), {"samples": 3, "population": 10})
    ],
    "survey.zero-knowledge": [
        Example((profile(ASKED, relation=Relation.REPLACE),), {"epsilon": 0.0}, _DELTA),
        Example((profile(ASKED, relation=Relation.REPLACE),), {"epsilon": 0.01}, _DELTA),
    ],
    "composition.profiles": [
        Example((profile(CROWDS), profile(AMPLIFIED, CROWDS, releases=3))),
        Example(
            (profile(PURE, relation=Relation.REPLACE, people=2), profile(LEAKY, relation=Relation.REPLACE, people=2))
        ),
        Example((profile(CROWDS),)),
    ],
    "composition.repeated": [Example((profile(CROWDS, PURE, releases=2),), {"releases": 10})],
    "rows.own-coins": [Example((profile(CROWDS, PURE, releases=2),), {"rows_per_person": 3})],
    "profile.delta": [
        Example((profile(LEAKY, releases=8),), {"epsilon": 1.0}, _DELTA),
        Example((profile(PURE, releases=3),), {"epsilon": 0.4}, _DELTA),
        Example((profile(LEAKY, relation=Relation.REPLACE, people=2),), {"epsilon": 0.0}, _DELTA),
    ],
    "profile.epsilon": [
        Example((profile(LEAKY, releases=8),), {"delta": 5e-3}, {("delta", "epsilon"): -1}),
        Example((profile(PURE, releases=3),), {"delta": 0.01}, {("delta", "epsilon"): -1}),
    ],
    "profile.zero-knowledge": [
        Example((profile(CROWDS, releases=2),), {"epsilon": 0.7}, _DELTA),
        Example((profile(CROWDS, AMPLIFIED),), {"epsilon": 0.7}, _DELTA),
    ],
    "profile.replace": [Example((profile(CROWDS, releases=2),), {"epsilon": 1.2}, _DELTA)],
    "profile.group": [
        Example((profile(LEAKY, releases=4),), {"epsilon": 1.5, "people": 2}, {**_DELTA, ("people", "delta"): 1}),
        Example((profile(PURE, releases=4),), {"epsilon": 0.5, "people": 1}, _DELTA),
    ],
}

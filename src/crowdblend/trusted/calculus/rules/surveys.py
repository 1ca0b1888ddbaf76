"""Surveys that ask a fixed, public number of people: noise on them, or crowds of a survey that is thinned first.

A fixed number of people is no Poisson sample: the number minus what is shown is what is hidden. Every premise here is
about what is done with a given survey, whichever people were asked (docs/proofs.md#surveys-of-a-fixed-size). It
protects all of them: the one who is asked in the place of another has to be protected too.
"""

from __future__ import annotations

from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import OF_SURVEY, TARGET, Composite, same_release
from crowdblend.trusted.calculus.loss_curves import delta_of
from crowdblend.trusted.calculus.rules.profiles import aggregates_of
from crowdblend.trusted.calculus.theorem import Unmet, require, rule
from crowdblend.trusted.guarantees.privacy import Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import GroupSurveyCurve, LossCurve, Profile, SurveyCurve, Uses

_PROOF = "Balle, Barthe and Gaboardi 2018, sampling without replacement; docs/proofs.md#surveys-of-a-fixed-size"
_ASKED = (Assumption.RANDOM_ORDER, Assumption.SECRET_SAMPLE, Assumption.ONE_SURVEY)
_REPLACED = "Start from the profile with one person's data in the survey replaced (profile.replaced)."


@rule(
    "survey.profile",
    source=_PROOF,
    statement="Asking n of N people, each set equally likely, and releasing what has a profile with one person's data "
    "in the survey replaced, has at α' = 1 + (n/N)(α − 1) at most n/N times its divergence at α, in each direction.",
    assumes=(Assumption.FIXED_SIZE_SAMPLING, *_ASKED, Assumption.PUBLIC_SIZE),
    about=OF_SURVEY,
)
def profile_of_survey(premise: Profile, *, samples: int, population: int) -> Profile:
    """Asked, asked with other data, and someone else asked instead differ in one person of the survey."""
    return _survey_profile(premise, SurveyCurve(samples, population, False, premise.uses))


@rule(
    "survey.strata-profile",
    source=_PROOF,
    statement="Asking a fixed number of people in every stratum, at most a share n/N of each, has the divergence of "
    "survey.profile with these n and N, with the data of one person replaced who stays in the stratum.",
    assumes=(Assumption.FIXED_SIZES_BY_STRATUM, *_ASKED),
    about=Composite("drawn.strata", ("samples", "population"), protects_all=True),
)
def profile_of_stratified_survey(premise: Profile, *, samples: int, population: int) -> Profile:
    """The other strata are the same in both worlds, and a larger share loses more."""
    return _survey_profile(premise, SurveyCurve(samples, population, True, premise.uses))


@rule(
    "survey.groups-profile",
    source="joint convexity; docs/proofs.md#surveys-of-a-fixed-size",
    statement="Asking all people of n of N groups, each set of groups equally likely, has at every α at most n/N times "
    "the divergence with one person's data in the survey replaced, in each direction, for a person who stays in the "
    "group.",
    assumes=(Assumption.GROUPS_DRAWN, *_ASKED),
    about=Composite("drawn.groups", ("samples", "population"), protects_all=True),
)
def profile_of_survey_of_groups(premise: Profile, *, samples: int, population: int) -> Profile:
    """A whole group is asked instead of another, so that only the chance of being asked counts."""
    return _survey_profile(premise, GroupSurveyCurve(samples, population, premise.uses))


@rule(
    "survey.zero-knowledge",
    source="crowdblend, docs/proofs.md#surveys-of-a-fixed-size",
    statement="Releases of surveys of n of N people that have a profile are (ε, δ)-zero-knowledge private together "
    "with respect to as many random people, the person concealed, δ the divergence of their profile at ε.",
    assumes=(Assumption.CONCEALED_ROWS,),
    about=same_release(),
    free={"epsilon": TARGET},
)
def survey_is_zero_knowledge(premise: Profile, *, epsilon: float) -> ZeroKnowledge:
    """The simulator asks as many people, among whom the person may be and then answers nothing."""
    require(premise, _REPLACED, relation=Relation.REPLACE, people=1)
    if not all(isinstance(use.curve, SurveyCurve) for use in premise.uses):
        raise Unmet("needs releases that are each of a survey of people. Start from survey.profile.")
    return ZeroKnowledge(epsilon, delta_of(premise, epsilon), aggregates_of(premise), Relation.CONCEAL)


def _survey_profile(premise: Profile, curve: LossCurve) -> Profile:
    require(premise, _REPLACED, relation=Relation.REPLACE, people=1)
    return Profile((Uses(curve, 1),), Relation.REPLACE, 1, premise.samplings + 1)

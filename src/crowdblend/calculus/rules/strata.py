"""Stratified samples: every stratum has a rate of its own, and a person is in one stratum (docs/proofs.md#strata).

There is no single rate, so no guarantee under sampling comes out of it: strata end in a differential guarantee, and in
a zero-knowledge one relative to the same stratified sample of everybody else.
"""

from __future__ import annotations

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.description import BIASED, Composite, same_release
from crowdblend.calculus.forms import TARGET
from crowdblend.calculus.rules.blending import robust_delta
from crowdblend.calculus.rules.sampling import FROM_SAMPLE
from crowdblend.calculus.theorem import Theorem, rule
from crowdblend.errors import NotApplicable
from crowdblend.guarantees import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    LossCurve,
    Profile,
    Relation,
    RobustSampling,
    StrataCurve,
    StratumOfSample,
    Uses,
    ZeroKnowledge,
)

_PROOF = "crowdblend, docs/proofs.md#strata"
_STRATA = Composite("strata")


@rule(
    Theorem(
        id="strata.at-one-rate",
        source="definition",
        statement="Sampling the people of a stratum at rate β, then a (β, ε, δ)-private mechanism, is (ε, δ)-private "
        "for them.",
        assumes=(Assumption.STRATUM_AT_RATE, *FROM_SAMPLE),
    ),
    about=same_release(),
)
def stratum_at_one_rate(premise: DifferentialUnderSampling) -> StratumOfSample:
    """The people of a stratum are a population with one rate."""
    return StratumOfSample(premise.rate, premise.rate, premise.epsilon, premise.delta)


@rule(
    Theorem(
        id="strata.between-rates",
        source="CBP Theorem 16, constants from the proofs of Lemmas 17 to 19",
        statement="When everybody of a stratum is sampled with a probability in {0} ∪ [p, p'], a (k, ε)-crowd-blending "
        "mechanism on the sample is (ε', δ')-private for them, with the δ' of robust.differential without exceptions "
        "and P = p'.",
        assumes=(Assumption.STRATUM_BETWEEN_RATES, Assumption.OWN_PROBABILITY, *FROM_SAMPLE),
    ),
    about=Composite(BIASED, ("low", "high")),
    free={"epsilon": TARGET},
)
def stratum_between_rates(premise: CrowdBlending, *, low: float, high: float, epsilon: float) -> StratumOfSample:
    """The people of a stratum are a population under biased sampling."""
    return StratumOfSample(low, high, epsilon, robust_delta(premise, low, high, 0, high, epsilon))


@rule(
    Theorem(
        id="strata.worst",
        source=_PROOF,
        statement="Strata that share nobody, fixed in advance, each with a sample of its own people and a mechanism of "
        "its own, are (ε, δ)-differentially private together with one person more or less, ε and δ the largest of all "
        "strata.",
        assumes=(Assumption.FIXED_STRATA,),
    ),
    about=_STRATA,
)
def worst_stratum(*premises: StratumOfSample) -> Differential:
    """One person more or less touches one stratum, and all others are independent of it."""
    epsilon, delta = _largest(premises)
    return Differential(epsilon, delta, Relation.ADD_REMOVE, samplings=1)


@rule(
    Theorem(
        id="strata.zero-knowledge",
        source="CBP Theorem 13, the simulator of its proof; docs/proofs.md#strata",
        statement="Under the conditions of strata.worst the release is (ε, δ)-zero-knowledge private with respect to "
        "the same stratified sample of everybody else, whose rates lie between the smallest and the largest of all "
        "strata.",
        assumes=(Assumption.FIXED_STRATA,),
    ),
    about=_STRATA,
)
def strata_are_zero_knowledge(*premises: StratumOfSample) -> ZeroKnowledge:
    """The simulator runs all mechanisms on the stratified sample of everybody else."""
    epsilon, delta = _largest(premises)
    low, high = min(stratum.low for stratum in premises), max(stratum.high for stratum in premises)
    return ZeroKnowledge(epsilon, delta, RobustSampling(low, high, 0), Relation.ADD_REMOVE)


@rule(
    Theorem(
        id="profile.strata",
        source="crowdblend, docs/proofs.md#strata and #composition-by-profiles",
        statement="Strata that share nobody, fixed in advance, each with a sample of its own people and a mechanism of "
        "its own, have at every ε the largest divergence of all strata, in each direction.",
        assumes=(Assumption.FIXED_STRATA,),
    ),
    about=_STRATA,
)
def profile_of_strata(*premises: Profile) -> Profile:
    """The largest of convex curves is convex, so that it is the curve of a pair, which dominates every stratum."""
    return Profile((Uses(StrataCurve(tuple(map(_curve, premises))), 1),), Relation.ADD_REMOVE, 1, 1)


def _curve(premise: Profile) -> LossCurve:
    (use, *others) = premise.uses
    stated = (premise.relation, premise.people, premise.samplings, use.releases)
    if others or stated != (Relation.ADD_REMOVE, 1, 1, 1):
        raise NotApplicable(
            "profile.strata needs one release from one sample of each stratum, with one person more or less, got "
            "another profile. Start from the profile of the stratum's mechanism."
        )
    return use.curve


def _largest(premises: tuple[StratumOfSample, ...]) -> tuple[float, float]:
    return max(stratum.epsilon for stratum in premises), max(stratum.delta for stratum in premises)

"""Stratified samples: every stratum has a rate of its own, and a person is in one stratum (docs/proofs.md#strata).

There is no single rate, so no guarantee under sampling comes out of it: strata end in a differential guarantee, and in
a zero-knowledge one relative to the same stratified sample of everybody else.
"""

from __future__ import annotations

from flint import arb

from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import BIASED, TARGET, Composite, SeesSamples, same_release
from crowdblend.trusted.calculus.rules.blending import robust_delta
from crowdblend.trusted.calculus.rules.sampling import FROM_SAMPLE
from crowdblend.trusted.calculus.theorem import require, require_unsampled, rule
from crowdblend.trusted.guarantees.aggregates import RobustSampling
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import StrataCurve, StrataOfSample, StratumOfSample
from crowdblend.trusted.numerics.balls import expm1, log1p, round_up

_PROOF = "crowdblend, docs/proofs.md#strata"
_STRATA = Composite("strata")
_STRATA_APART = (Assumption.FIXED_STRATA, Assumption.OWN_RANDOMNESS)
_STRATA_TOGETHER = (Assumption.STRATA_TOGETHER, Assumption.OWN_RANDOMNESS)
_JOINT_PROOF = "crowdblend, docs/proofs.md#statistics-of-strata"
# One mechanism that sees the sampled people of all strata, each counted as often as the stratum says.
_COPIES = (Assumption.COPIES, Assumption.OWN_PROBABILITY, *FROM_SAMPLE)
_JOINT = SeesSamples("strata.joint", "sampled.copies", ("low", "high", "copies"))


@rule(
    "strata.at-one-rate",
    source="definition",
    statement="Sampling the people of a stratum at rate β, then a (β, ε, δ)-private mechanism, is (ε, δ)-private for "
    "them.",
    assumes=(Assumption.STRATUM_AT_RATE, *FROM_SAMPLE),
    about=same_release(),
)
def stratum_at_one_rate(premise: DifferentialUnderSampling) -> StratumOfSample:
    """The people of a stratum are a population with one rate."""
    return StratumOfSample(premise.rate, premise.rate, premise.epsilon, premise.delta)


@rule(
    "strata.between-rates",
    source="CBP Theorem 16, constants from the proofs of Lemmas 17 to 19",
    statement="When everybody of a stratum is sampled with a probability in {0} ∪ [p, p'], a (k, ε)-crowd-blending "
    "mechanism on the sample is (ε', δ')-private for them, with the δ' of robust.differential without exceptions and P "
    "= p'.",
    assumes=(Assumption.STRATUM_BETWEEN_RATES, Assumption.OWN_PROBABILITY, *FROM_SAMPLE),
    about=Composite(BIASED, ("low", "high")),
    free={"epsilon": TARGET},
)
def stratum_between_rates(premise: CrowdBlending, *, low: float, high: float, epsilon: float) -> StratumOfSample:
    """The people of a stratum are a population under biased sampling."""
    return StratumOfSample(low, high, epsilon, robust_delta(premise, low, high, 0, high, epsilon))


@rule(
    "strata.worst",
    source=_PROOF,
    statement="Strata that share nobody, fixed in advance, each with a sample of its own people and a mechanism with "
    "randomness of its own, are (ε, δ)-differentially private together with one person more or less, ε and δ the "
    "largest of all strata.",
    assumes=_STRATA_APART,
    about=_STRATA,
)
def worst_stratum(*premises: StratumOfSample) -> Differential:
    """One person more or less touches one stratum, and all others are independent of it."""
    epsilon, delta = _largest(premises)
    return Differential(epsilon, delta, Relation.ADD_REMOVE, samplings=1)


@rule(
    "strata.zero-knowledge",
    source="CBP Theorem 13, the simulator of its proof; docs/proofs.md#strata",
    statement="Under the conditions of strata.worst the release is (ε, δ)-zero-knowledge private with respect to the "
    "same stratified sample of everybody else, whose rates lie between the smallest and the largest of all strata.",
    assumes=_STRATA_APART,
    about=_STRATA,
)
def strata_are_zero_knowledge(*premises: StratumOfSample) -> ZeroKnowledge:
    """The simulator runs all mechanisms on the stratified sample of everybody else."""
    return _zero_knowledge_of(premises)


@rule(
    "strata.together",
    source=_PROOF,
    statement="Strata that share nobody, fixed in advance, are (ε, δ)-differentially private together with one person "
    "more or less, ε and δ the largest of all strata, where noise counts the people of several strata too: if what is "
    "published is (ε, δ)-private for the people of each stratum, whoever was sampled in the others.",
    assumes=_STRATA_TOGETHER,
    about=_STRATA,
)
def strata_together(*premises: StratumOfSample) -> Differential:
    """One person more or less touches one stratum, and averages over the samples of the others diverge no more."""
    epsilon, delta = _largest(premises)
    return Differential(epsilon, delta, Relation.ADD_REMOVE, samplings=1)


@rule(
    "strata.together-zero-knowledge",
    source="CBP Theorem 13, the simulator of its proof; docs/proofs.md#strata",
    statement="Under the conditions of strata.together the release is (ε, δ)-zero-knowledge private with respect to "
    "the same stratified sample of everybody else, whose rates lie between the smallest and the largest of all strata.",
    assumes=_STRATA_TOGETHER,
    about=_STRATA,
)
def strata_together_are_zero_knowledge(*premises: StratumOfSample) -> ZeroKnowledge:
    """The simulator runs all mechanisms on the stratified sample of everybody else."""
    return _zero_knowledge_of(premises)


@rule(
    "strata.copies",
    source=_JOINT_PROOF,
    statement="When everybody of a stratum is sampled with a probability in {0} ∪ [p, p'] and whoever is kept counts "
    "as w equal people at most, an ε-differentially private mechanism (one person more or less) on all who are kept, "
    "those of other strata too, is ln(1 + p'(e^{wε} − 1))-private for the people of the stratum.",
    assumes=_COPIES,
    about=_JOINT,
)
def stratum_in_copies(premise: Differential, *, low: float, high: float, copies: int) -> StrataOfSample:
    """A person who is kept moves the mechanism as w people do, and is kept with probability p' at most."""
    require(premise, "State the mechanism's own guarantee.", relation=Relation.ADD_REMOVE, people=1, delta=0)
    require_unsampled(premise)
    return StrataOfSample(low, high, premise.epsilon, _kept_in_copies(premise.epsilon, high, copies))


@rule(
    "strata.more-copies",
    source=_JOINT_PROOF,
    statement="The same mechanism sees the people of another stratum as well, sampled with probabilities in {0} ∪ [p, "
    "p'] and counted as w equal people each at most: it is private for the people of all these strata, with the larger "
    "of both ε.",
    assumes=_COPIES,
    about=_JOINT,
)
def another_stratum_in_copies(premise: StrataOfSample, *, low: float, high: float, copies: int) -> StrataOfSample:
    """A person is hidden as the people of their stratum are, no matter who else is kept."""
    epsilon = _kept_in_copies(premise.inner_epsilon, high, copies)
    ends = min(low, premise.low), max(high, premise.high)
    return StrataOfSample(*ends, premise.inner_epsilon, max(premise.epsilon, epsilon))


@rule(
    "strata.joint",
    source=_JOINT_PROOF,
    statement="A mechanism that sees the kept people of all strata, which share nobody and were fixed in advance, is "
    "ε-differentially private with one person more or less, ε the largest of all strata.",
    assumes=(Assumption.ONE_STRATUM,),
    about=same_release(),
)
def mechanism_of_all_strata(premise: StrataOfSample) -> Differential:
    """Every person is in one of the strata."""
    return Differential(premise.epsilon, 0.0, Relation.ADD_REMOVE, samplings=1)


@rule(
    "strata.joint-zero-knowledge",
    source="CBP Theorem 13, the simulator of its proof; docs/proofs.md#statistics-of-strata",
    statement="Under the conditions of strata.joint the release is ε-zero-knowledge private with respect to the same "
    "stratified sample of everybody else, whose rates lie between the smallest and the largest of all strata.",
    assumes=(Assumption.ONE_STRATUM,),
    about=same_release(),
)
def mechanism_of_all_strata_is_zero_knowledge(premise: StrataOfSample) -> ZeroKnowledge:
    """The simulator runs the mechanism on the stratified sample of everybody else."""
    return ZeroKnowledge(premise.epsilon, 0.0, RobustSampling(premise.low, premise.high, 0), Relation.ADD_REMOVE)


@rule(
    "profile.strata",
    source="crowdblend, docs/proofs.md#strata and #composition-by-profiles",
    statement="Strata that share nobody, fixed in advance, each with a sample of its own people and a mechanism with "
    "randomness of its own, have at every ε the largest divergence of all strata, in each direction.",
    assumes=_STRATA_APART,
    about=_STRATA,
)
def profile_of_strata(*premises: Profile) -> Profile:
    """The largest of convex curves is convex, so that it is the curve of a pair, which dominates every stratum."""
    return Profile((Uses(StrataCurve(tuple(map(_curve, premises))), 1),), Relation.ADD_REMOVE, 1, 1)


def _curve(premise: Profile) -> LossCurve:
    remedy = "Start from the profile of the stratum's mechanism."
    require(premise, remedy, relation=Relation.ADD_REMOVE, people=1, samplings=1, releases=1)
    return premise.uses[0].curve


def _zero_knowledge_of(premises: tuple[StratumOfSample, ...]) -> ZeroKnowledge:
    epsilon, delta = _largest(premises)
    low, high = min(stratum.low for stratum in premises), max(stratum.high for stratum in premises)
    return ZeroKnowledge(epsilon, delta, RobustSampling(low, high, 0), Relation.ADD_REMOVE)


def _kept_in_copies(epsilon: float, high: float, copies: int) -> float:
    return round_up(log1p(arb(high) * expm1(copies * arb(epsilon))))


def _largest(premises: tuple[StratumOfSample, ...]) -> tuple[float, float]:
    return max(stratum.epsilon for stratum in premises), max(stratum.delta for stratum in premises)

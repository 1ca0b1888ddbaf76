"""Sampling strengthens guarantees, and makes suppression differentially private (LQS; docs/proofs.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from flint import arb

from crowdblend.errors import InvalidInput, NotApplicable
from crowdblend.trusted.calculus.assumptions import BELOW_K, MOVED_POINTS, Assumption
from crowdblend.trusted.calculus.description import (
    NAMED,
    NOISY_BELOW_K,
    NOISY_POINTS,
    TARGET,
    UNDER_SAMPLING,
    Composite,
    SampledAnew,
    mechanism,
    same_release,
)
from crowdblend.trusted.calculus.theorem import Unmet, require, require_one_person, require_unsampled, rule
from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import Number
from crowdblend.trusted.numerics.balls import expm1, log1p, round_up, upper_bound
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from crowdblend.trusted.numerics.noise_below_k import spliced_divergence
from crowdblend.trusted.numerics.points_in_crowds import shuffled_divergence
from crowdblend.trusted.numerics.tail_suprema import rising_tail

# A guarantee under sampling names its rate; that the sample was in fact drawn so is assumed where it is used.
FROM_SAMPLE = (Assumption.SECRET_SAMPLE, Assumption.SINGLE_RELEASE)
SAMPLED = (Assumption.INDEPENDENT_SAMPLING, *FROM_SAMPLE)


@rule(
    "sampling.amplification",
    source="LQS Theorem 1 with β₁ = 1",
    statement="(ε, δ)-differential privacy after Poisson sampling at rate β is (ln(1 + β(e^ε − 1)), βδ).",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
)
def sampling_amplifies(premise: Differential, *, rate: float) -> DifferentialUnderSampling:
    """Sampling people before a mechanism strengthens its guarantee."""
    require_one_person(premise, "State the mechanism's add-remove guarantee.")
    require_unsampled(premise)
    return DifferentialUnderSampling(
        rate, round_up(log1p(arb(rate) * expm1(premise.epsilon))), round_up(arb(rate) * premise.delta)
    )


@rule(
    "dps.lower-rate",
    source="LQS Theorem 1",
    statement="A mechanism that is (β₁, ε₁, δ₁)-private under sampling is (β₂, ε₂, δ₂)-private under sampling for β₂ < "
    "β₁, with e^ε₂ − 1 = (β₂/β₁)(e^ε₁ − 1) and δ₂ = (β₂/β₁)δ₁.",
    assumes=FROM_SAMPLE,
    about=SampledAnew(),
)
def lower_rate_protects_more(premise: DifferentialUnderSampling, *, rate: float) -> DifferentialUnderSampling:
    """A smaller sample of the same kind is a sample of the sample."""
    if rate > premise.rate:
        raise NotApplicable(f"rate must be at most {premise.rate:g}, got {rate:g}. A larger sample protects less.")
    share = arb(rate) / arb(premise.rate)
    return DifferentialUnderSampling(
        rate, round_up(log1p(share * expm1(premise.epsilon))), round_up(share * premise.delta)
    )


@rule(
    "dps.postprocessing",
    source="LQS Theorem 2",
    statement="Whatever is computed from the output alone keeps differential privacy under sampling.",
    about=same_release(),
)
def sampled_guarantee_survives_postprocessing(premise: DifferentialUnderSampling) -> DifferentialUnderSampling:
    """An event of the computed result is an event of the output."""
    return premise


@rule(
    "dps.random-choice",
    source="LQS Theorem 3",
    statement="Running one of two mechanisms, chosen by a coin that depends on nothing else, keeps the weaker of their "
    "guarantees under sampling.",
    assumes=(Assumption.RANDOM_CHOICE,),
    about=Composite("random-choice", ("weight",)),
)
def random_choice_keeps_the_weaker(
    first: DifferentialUnderSampling, second: DifferentialUnderSampling, *, weight: float
) -> DifferentialUnderSampling:
    """A mixture with fixed weights; δ mixes in proportion."""
    if first.rate != second.rate:
        raise NotApplicable(
            f"Both mechanisms must run on samples of one rate, got {first.rate:g} and {second.rate:g}. "
            "Lower the larger rate first (dps.lower-rate)."
        )
    mixed = arb(weight) * first.delta + (1 - arb(weight)) * second.delta
    return DifferentialUnderSampling(
        first.rate, max(first.epsilon, second.epsilon), min(round_up(mixed), max(first.delta, second.delta))
    )


@rule(
    "dps.differential",
    source="LQS Definition 3",
    statement="Sampling at rate β followed by a (β, ε, δ)-private mechanism is (ε, δ)-differentially private.",
    assumes=SAMPLED,
    about=same_release(),
)
def sampled_release_is_differential(premise: DifferentialUnderSampling) -> Differential:
    """The definition, read for sampling and mechanism together."""
    return Differential(premise.epsilon, premise.delta, premise.relation, samplings=1)


@rule(
    "dps.zero-knowledge",
    source="CBP Theorem 13, the simulator of its proof",
    statement="Sampling at rate β followed by a (β, ε, δ)-private mechanism is (ε, δ)-zero-knowledge private with "
    "respect to i.i.d. sampling at rate β.",
    assumes=SAMPLED,
    about=same_release(),
)
def sampled_release_is_zero_knowledge(premise: DifferentialUnderSampling) -> ZeroKnowledge:
    """The simulator runs the mechanism on a sample of everybody else."""
    return ZeroKnowledge(premise.epsilon, premise.delta, IidSampling(premise.rate), premise.relation)


@rule(
    "differential.replace",
    source="transitivity of (ε, δ)-closeness",
    statement="(ε, δ)-differential privacy with one person more or less is (2ε, (1 + e^ε)δ)-differential privacy with "
    "one person's data replaced.",
    about=same_release(),
)
def replacing_is_removing_and_adding(premise: Differential) -> Differential:
    """Both tables are neighbours of the one without the person."""
    require(premise, "Nothing needs converting.", relation=Relation.ADD_REMOVE)
    return replace(
        premise,
        epsilon=2 * premise.epsilon,
        delta=min(1.0, round_up((1 + arb(premise.epsilon).exp()) * premise.delta)),
        relation=Relation.REPLACE,
    )


@rule(
    "differential.group",
    source="group privacy, by a chain of neighbours",
    statement="(ε, δ)-differential privacy for one person is (cε, δ(e^{cε} − 1)/(e^ε − 1)) for c people together.",
    about=same_release(),
    free={"people": NAMED},
)
def differential_for_groups(premise: Differential, *, people: int) -> Differential:
    """c steps of one person each; the errors grow geometrically along the chain."""
    require(premise, "Use the guarantee for one person.", people=1)
    growth = arb(premise.epsilon).exp()
    # The geometric sum 1 + e^ε + … + e^{(c−1)ε}, whose closed form is 0/0 at ε = 0.
    chain = arb(people) if premise.epsilon == 0 else expm1(arb(people) * premise.epsilon) / (growth - 1)
    delta = min(1.0, round_up(chain * premise.delta))
    return replace(premise, epsilon=round_up(arb(people) * premise.epsilon), delta=delta, people=people)


@rule(
    "suppression.published",
    source="LQS Theorem 5",
    statement="Poisson sampling at rate β, then dropping classes with fewer than k sampled members, is (β, ε, "
    "δ)-private under sampling for ε ≥ −ln(1−β), δ = max over n ≥ ⌈k/γ − 1⌉ of P[Bin(n, β) > γn], γ = 1 − (1−β)e^{−ε}.",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def suppression_published(premise: CrowdBlending, *, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """The published bound: the probability of seeing more of a class than e^ε allows."""
    require(premise, "Use blending.sharp.", epsilon=0)
    if not epsilon >= -(1 - arb(rate)).log():
        floor = round_up(-(1 - arb(rate)).log())
        raise Unmet(
            f"needs epsilon of at least -ln(1 - rate) = {floor:.6g}, got {epsilon:g}. "
            "Use suppression.exact, which has no such limit."
        )

    def delta() -> Number:
        beta = arb(rate)
        return rising_tail(balls, premise.k - 1, 1 - (1 - beta) * (-arb(epsilon)).exp(), beta, person=0)

    return DifferentialUnderSampling(rate, epsilon, min(1.0, upper_bound(delta)))


@rule(
    "suppression.exact",
    source="crowdblend, docs/proofs.md#the-exact-delta",
    statement="Poisson sampling at rate β, then a (k, 0)-crowd-blending mechanism, is (β, ε, δ)-private under sampling "
    "for every ε ≥ 0, where δ is the hockey-stick divergence at the worst class size; for suppression below k no "
    "smaller δ is true.",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def suppression_exact(premise: CrowdBlending, *, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """The smallest δ that is true of sampling and suppression."""
    require(premise, "Use blending.sharp.", epsilon=0)
    return _sampled_crowds(premise, rate, epsilon)


@rule(
    "blending.sharp",
    source="crowdblend, docs/proofs.md#any-crowd-blending-mechanism",
    statement="Poisson sampling at rate β, then any (k, ε)-crowd-blending mechanism, is (β, ε', δ)-private under "
    "sampling for ε' ≥ ln(βe^ε + 1 − β), where δ bounds the optimum of the linear program behind CBP Lemmas 14 and 15 "
    "at every class size.",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def blending_sharp(premise: CrowdBlending, *, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """CBP Theorem 13 with the best numbers its argument can give."""
    require_amplified(premise.epsilon, rate, epsilon)
    return _sampled_crowds(premise, rate, epsilon)


def require_amplified(blend_epsilon: float, rate: float, epsilon: float) -> None:
    """Refuse a target below what sampling alone makes of the crowd's own ε."""
    floor = log1p(arb(rate) * expm1(blend_epsilon))
    if not epsilon >= floor:
        raise NotApplicable(
            f"epsilon must be at least ln(rate*e^blend_epsilon + 1 - rate) = {round_up(floor):.6g}, got {epsilon:g}. "
            "Raise epsilon, lower the rate, or use a mechanism with a smaller blend_epsilon."
        )


def _sampled_crowds(premise: CrowdBlending, rate: float, epsilon: float) -> DifferentialUnderSampling:
    return under_sampling(
        rate,
        epsilon,
        lambda growth: crowd_divergence(balls, premise.k, arb(rate), arb(premise.epsilon).exp(), growth),
    )


def under_sampling(rate: float, epsilon: float, divergence: Callable[[arb], Number]) -> DifferentialUnderSampling:
    """Return the guarantee of a mechanism with this divergence at e^ε; sampling alone makes (0, rate) true of any."""
    return DifferentialUnderSampling(rate, epsilon, min(rate, upper_bound(lambda: divergence(arb(epsilon).exp()))))


@rule(
    "histogram.noisy-sampled",
    source="crowdblend, docs/proofs.md#noise-below-k",
    statement="Poisson sampling at rate β, then a histogram that is exact from k on and carries discrete Laplace noise "
    "of loss ε₀ below, is (β, ε, δ)-private under sampling, where δ is the hockey-stick divergence of the published "
    "value at the worst class size.",
    assumes=(*BELOW_K, *FROM_SAMPLE),
    about=mechanism(UNDER_SAMPLING.name, "rate", inside=NOISY_BELOW_K),
    free={"epsilon": TARGET},
)
def noisy_histogram_sampled(
    *, k: int, noise_epsilon: float, rate: float, epsilon: float, flag: bool
) -> DifferentialUnderSampling:
    """The exact δ of noise below k; flag says whether cells tell that they are exact."""
    return under_sampling(
        rate,
        epsilon,
        lambda growth: spliced_divergence(balls, k, arb(rate), (-arb(noise_epsilon)).exp(), growth, flagged=flag),
    )


@rule(
    "points.sampled",
    source="crowdblend, docs/proofs.md#points-in-a-block",
    statement="Poisson sampling at rate β, then dropping the points of blocks that hold fewer than k, moving every "
    "other point by noise of its own that hides where in its block it was up to a factor e^ε₀, and publishing them in "
    "an order that says nothing, is (β, ε, δ)-private under sampling, where δ bounds the divergence of a point hidden "
    "among k − 1 others at the worst block size.",
    assumes=(*MOVED_POINTS, *FROM_SAMPLE),
    about=mechanism(UNDER_SAMPLING.name, "rate", inside=NOISY_POINTS),
    free={"epsilon": TARGET},
)
def points_sampled(*, k: int, noise_epsilon: float, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """Noisy points hide each other: a point swapped for another of the block is one among many alike."""
    return under_sampling(
        rate, epsilon, lambda growth: shuffled_divergence(balls, k, arb(rate), arb(noise_epsilon).exp(), growth)
    )


Chosen = TypeVar("Chosen", DifferentialUnderSampling, Differential, ZeroKnowledge)

# Taking the best of several derivations is itself a visible step.
_STATEMENT = "When several derivations of the same guarantee differ only in δ, the smallest δ holds."
_SOURCE = "each derivation is a proof"


@rule("choice.sampling", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_under_sampling(*premises: DifferentialUnderSampling) -> DifferentialUnderSampling:
    """The smallest δ of several true statements."""
    return _smallest(premises)


@rule("choice.differential", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_differential(*premises: Differential) -> Differential:
    """The smallest δ of several true statements."""
    return _smallest(premises)


@rule("choice.zero-knowledge", source=_SOURCE, statement=_STATEMENT, about=same_release())
def best_zero_knowledge(*premises: ZeroKnowledge) -> ZeroKnowledge:
    """The smallest δ of several true statements."""
    return _smallest(premises)


def _smallest(premises: tuple[Chosen, ...]) -> Chosen:
    best = min(premises, key=lambda premise: premise.delta)
    if any(replace(premise, delta=best.delta) != best for premise in premises):
        raise InvalidInput(
            "The derivations to choose from must guarantee the same but for delta; compare like with like."
        )
    return best

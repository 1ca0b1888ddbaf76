"""Sampling turns any crowd-blending mechanism private: CBP Theorems 13 and 16 with explicit numbers."""

from __future__ import annotations

from flint import arb

from crowdblend.errors import InvalidInput, NotApplicable
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import TARGET, UNDER_BIAS, UNDER_SAMPLING
from crowdblend.trusted.calculus.rules.sampling import FROM_SAMPLE, require_amplified
from crowdblend.trusted.calculus.theorem import rule
from crowdblend.trusted.guarantees.aggregates import RobustSampling
from crowdblend.trusted.guarantees.parameters import check_ends
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import Number
from crowdblend.trusted.numerics.balls import round_up, upper_bound
from crowdblend.trusted.numerics.tail_suprema import robust_divergence

ROBUST = (
    Assumption.ROBUST_SAMPLING,
    Assumption.PROTECTED_PEOPLE,
    Assumption.OWN_PROBABILITY,
    *FROM_SAMPLE,
)


@rule(
    "blending.explicit",
    source="CBP Theorem 13, constants from the proofs of Lemmas 14 and 15",
    statement="Poisson sampling at rate p, then a (k, ε)-crowd-blending mechanism, is (p, ε', δ')-private under "
    "sampling for ε' ≥ ln(pe^ε + 1 − p), δ' = sup over n of min(δ14(n), δ15(n)).",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def blending_explicit(premise: CrowdBlending, *, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """The paper's argument, evaluated; it is the case of robust sampling where nothing is biased."""
    require_amplified(premise.epsilon, rate, epsilon)
    return DifferentialUnderSampling(rate, epsilon, min(rate, _robust_delta(premise, rate, rate, 0, rate, epsilon)))


@rule(
    "blending.closed-form",
    source="CBP Theorem 13",
    statement="Poisson sampling at rate p, then a (k, ε)-crowd-blending mechanism, is (p, ε', δ')-private under "
    "sampling at ε' = ln(p(2−p)/(1−p)·e^ε + 1 − p), with the δ' of blending.explicit.",
    assumes=FROM_SAMPLE,
    about=UNDER_SAMPLING,
)
def blending_closed_form(premise: CrowdBlending, *, rate: float) -> DifferentialUnderSampling:
    """The ε' that the paper names, with a number in place of its Ω."""
    p = arb(rate)
    epsilon = round_up((p * (2 - p) / (1 - p) * arb(premise.epsilon).exp() + 1 - p).log())
    return DifferentialUnderSampling(rate, epsilon, min(rate, _robust_delta(premise, rate, rate, 0, rate, epsilon)))


@rule(
    "robust.differential",
    source="CBP Theorem 16, constants from the proofs of Lemmas 17 to 19",
    statement="When everybody but ℓ < k − 1 people is sampled with a probability in {0} ∪ [p, p'] and nobody protected "
    "above P, a (k, ε)-crowd-blending mechanism on the sample is (ε', δ')-differentially private for ε' ≥ ln(Pe^ε + 1 "
    "− P), δ' = sup over n of min(max(up(n), down(n)), few(n)).",
    assumes=ROBUST,
    about=UNDER_BIAS,
    free={"epsilon": TARGET},
)
def robust_sampling_is_differential(
    premise: CrowdBlending, *, low: float, high: float, exceptions: int, max_rate: float, epsilon: float
) -> Differential:
    """Biased sampling still hides people, as long as the bias is bounded."""
    delta = robust_delta(premise, low, high, exceptions, max_rate, epsilon)
    return Differential(epsilon, delta, Relation.ADD_REMOVE, samplings=1)


@rule(
    "robust.zero-knowledge",
    source="CBP Theorem 16, constants from the proofs of Lemmas 17 to 19",
    statement="Under the conditions of robust.differential the release is (ε', δ')-zero-knowledge private with respect "
    "to the same robust sampling of everybody else.",
    assumes=ROBUST,
    about=UNDER_BIAS,
    free={"epsilon": TARGET},
)
def robust_sampling_is_zero_knowledge(
    premise: CrowdBlending, *, low: float, high: float, exceptions: int, max_rate: float, epsilon: float
) -> ZeroKnowledge:
    """The simulator runs the mechanism on a sample of everybody else, drawn with the same probabilities."""
    delta = robust_delta(premise, low, high, exceptions, max_rate, epsilon)
    return ZeroKnowledge(epsilon, delta, RobustSampling(low, high, exceptions), Relation.ADD_REMOVE)


def check_bias(premise: CrowdBlending, low: float, high: float, exceptions: int, max_rate: float) -> None:
    """Refuse a bias that the theorem is not about."""
    check_rates(low, high, exceptions, max_rate)
    if exceptions >= premise.k - 1:
        raise NotApplicable(
            f"exceptions must be below k - 1 = {premise.k - 1}, got {exceptions}. Raise k or bound the exceptions."
        )


def check_rates(low: float, high: float, exceptions: int, max_rate: float) -> None:
    """Refuse probabilities of being sampled that contradict each other."""
    check_ends(low, high)
    if max_rate < high:
        raise InvalidInput(
            f"max_rate must be at least high = {high:g}, got {max_rate:g}. Everybody in that range is protected."
        )
    if exceptions == 0 and max_rate > high:
        raise InvalidInput(
            f"max_rate must be at most high = {high:g} when there are no exceptions, got {max_rate:g}. "
            "State the people sampled more often as exceptions."
        )


def robust_delta(
    premise: CrowdBlending, low: float, high: float, exceptions: int, max_rate: float, epsilon: float
) -> float:
    """Return the δ' of robust sampling at this ε'; refuse what the theorem is not about."""
    check_bias(premise, low, high, exceptions, max_rate)
    require_amplified(premise.epsilon, max_rate, epsilon)
    return min(max_rate, _robust_delta(premise, low, high, exceptions, max_rate, epsilon))


def _robust_delta(
    premise: CrowdBlending, low: float, high: float, exceptions: int, max_rate: float, epsilon: float
) -> float:
    """sup over n of min(max(up(n), down(n)), few(n)), in the notation of docs/proofs.md#robust-sampling."""
    crowd = premise.k - exceptions - 1

    def delta() -> Number:
        blend, growth = arb(premise.epsilon).exp(), arb(epsilon).exp()
        return robust_divergence(balls, crowd, (arb(low), arb(high), arb(max_rate)), blend, growth)

    return upper_bound(delta)

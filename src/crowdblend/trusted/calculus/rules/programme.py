"""Several publications of any kinds from one sample: each from a part of it that shares nobody with the others.

Two tables from one sample need not hide anyone (CBP Proposition 7). Publications from parts that share nobody do, and
their losses are not added: a person is in one part, or in none (docs/proofs.md#parts-of-one-sample-of-any-kind).
"""

from __future__ import annotations

from flint import arb

from crowdblend.trusted.calculus.assumptions import BELOW_K, MOVED_POINTS, Assumption
from crowdblend.trusted.calculus.description import (
    NOISY_BELOW_K,
    NOISY_POINTS,
    TARGET,
    UNDER_BIAS,
    UNDER_SAMPLING,
    Composite,
    mechanism,
)
from crowdblend.trusted.calculus.loss_curves import part_terms
from crowdblend.trusted.calculus.rules.blending import ROBUST, check_bias, check_rates
from crowdblend.trusted.calculus.rules.sampling import FROM_SAMPLE, under_sampling
from crowdblend.trusted.calculus.theorem import Unmet, require_one_person, require_unsampled, rule
from crowdblend.trusted.guarantees.privacy import CrowdBlending, DifferentialUnderSampling, Relation
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from crowdblend.trusted.guarantees.programme import (
    PartInCrowds,
    PartOfPoints,
    PartOfSample,
    PartWithNoise,
    PrivatePart,
    UnequalProgrammeCurve,
    exceeds_sample,
)
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.programme import programme_divergence

_PART = Composite("part", ("share",))


@rule(
    "programme.part",
    source="definition",
    statement="A (k, ε)-crowd-blending mechanism runs on a part of the sample, to which each sampled person goes with "
    "probability s.",
    assumes=(Assumption.RANDOM_PART,),
    about=_PART,
)
def crowds_in_a_part(premise: CrowdBlending, *, share: float) -> PartInCrowds:
    """A guarantee on every table holds on the part, which is a table."""
    return PartInCrowds(share, premise.k, premise.epsilon)


@rule(
    "programme.part-noise-below-k",
    source="definition",
    statement="A histogram that is exact from k on and carries discrete Laplace noise of loss ε₀ below is made of a "
    "part of the sample, to which each sampled person goes with probability s.",
    assumes=(*BELOW_K, Assumption.RANDOM_PART),
    about=mechanism("part", "share", inside=NOISY_BELOW_K),
)
def noise_below_k_in_a_part(*, k: int, noise_epsilon: float, flag: bool, share: float) -> PartWithNoise:
    """The noise is known, so that its divergence is, not only that it blends."""
    return PartWithNoise(share, k, noise_epsilon, flag)


@rule(
    "programme.part-points",
    source="definition",
    statement="The noisy points of blocks that hold at least k are published of a part of the sample, to which each "
    "sampled person goes with probability s.",
    assumes=(*MOVED_POINTS, Assumption.RANDOM_PART),
    about=mechanism("part", "share", inside=NOISY_POINTS),
)
def points_in_a_part(*, k: int, noise_epsilon: float, share: float) -> PartOfPoints:
    """Points of a block hide each other, which is more than that they blend."""
    return PartOfPoints(share, k, noise_epsilon)


@rule(
    "programme.part-private",
    source="definition",
    statement="A mechanism with a profile of its own, with one person more or less, runs on a part of the sample, to "
    "which each sampled person goes with probability s.",
    assumes=(Assumption.RANDOM_PART,),
    about=_PART,
)
def private_in_a_part(premise: Profile, *, share: float) -> PrivatePart:
    """A guarantee on every table holds on the part, which is a table."""
    require_one_person(premise, "State the mechanism's add-remove guarantee.")
    require_unsampled(premise)
    return PrivatePart(share, premise.uses)


@rule(
    "programme.parts",
    source="crowdblend, docs/proofs.md#parts-of-one-sample-of-any-kind",
    statement="Poisson sampling at rate β, sending each sampled person to part i with probability s_i (Σs_i ≤ 1; where "
    "doubles add up to a little more, s_i is divided by their sum), then a mechanism with randomness of its own on "
    "every part, which may depend on what was published of earlier parts, is (β, ε, δ)-private under sampling. With "
    "β_i = βs_i and b = Σβ_i, δ is the average over the parts, weighted by β_i/b, of the divergence of mechanism i "
    "where the person is in part i with probability b and everybody else with probability β_i/(1 − b + β_i).",
    assumes=(Assumption.OWN_RANDOMNESS, *FROM_SAMPLE),
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def programme_of_parts(*premises: PartOfSample, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """A person is in one part at most, so that the parts share one ε and average their δ."""
    check_shares(premises)
    return under_sampling(
        rate, epsilon, lambda growth: programme_divergence(balls, part_terms(premises), arb(rate), growth)
    )


@rule(
    "profile.unequal-programme",
    source="crowdblend, docs/proofs.md#parts-of-a-biased-sample",
    statement="When everybody but ℓ people comes into a sample by an independent coin with a probability in {0} ∪ [p, "
    "p'] and nobody protected above P, sending each sampled person to part i with probability s_i (as in "
    "programme.parts), then a crowd-blending or private mechanism with randomness of its own on every part, has at "
    "every ε the average over the parts, weighted by s_i/S, S = Σs_i, of the divergence of mechanism i where the "
    "person is in part i with probability PS and the others with a probability in {0} ∪ [r(p), r(p')], r(p) = "
    "ps_i/(1 − p(S − s_i)), in each direction.",
    assumes=(Assumption.OWN_RANDOMNESS, *ROBUST),
    about=UNDER_BIAS,
)
def profile_of_unequal_programme(
    *premises: PartOfSample, low: float, high: float, exceptions: int, max_rate: float
) -> Profile:
    """A part of a biased sample is a biased sample, also given who is in the others."""
    check_shares(premises)
    for part in premises:
        if isinstance(part, PartInCrowds):
            check_bias(CrowdBlending(part.k, part.blend_epsilon), low, high, exceptions, max_rate)
        elif not isinstance(part, PrivatePart):
            raise Unmet("needs parts that blend into crowds or are private by themselves. Start from programme.part.")
    check_rates(low, high, exceptions, max_rate)
    curve = UnequalProgrammeCurve(low, high, exceptions, max_rate, premises)
    return Profile((Uses(curve, 1),), Relation.ADD_REMOVE, 1, 1)


def check_shares(premises: tuple[PartOfSample, ...]) -> None:
    """Refuse parts that are more than the sample, but for rounding."""
    if exceeds_sample(premises):
        raise Unmet("needs shares that add up to at most 1, got more. Nobody may be in two parts.")

"""Recodings chosen from the data and released: LQS Theorem 6 in the two forms that are sound.

When the choice looks at the same sample that is then suppressed, Theorem 6 fails: its proof treats the choice as
independent of the sample (docs/proofs.md#choosing-the-recoding has a counterexample). There is no rule for it here. A
choice by scores comes first: how far one person moves a score, then the loss.
"""

from __future__ import annotations

from flint import arb

from crowdblend.trusted.calculus.assumptions import ROWS, Assumption
from crowdblend.trusted.calculus.description import TARGET, Composite, mechanism
from crowdblend.trusted.calculus.rules.sampling import SAMPLED, suppression_exact
from crowdblend.trusted.calculus.theorem import require, require_unsampled, rule
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.trusted.guarantees.utility import BoundedScore
from crowdblend.trusted.numerics.balls import round_up
from crowdblend.trusted.numerics.expected_people import largest_step


@rule(
    "recoding.population",
    source="LQS Theorem 6, with the choice on the population",
    statement="Choosing the recoding by an ε₁-differentially private selection on the whole population, then drawing "
    "an independent sample and releasing it with (β, ε₂, δ), is (ε₁ + ε₂, δ)-differentially private.",
    assumes=(Assumption.FRESH_SAMPLES, *SAMPLED),
    about=Composite("recoding.population"),
)
def recoding_from_population(choice: Differential, release: DifferentialUnderSampling) -> Differential:
    """Adaptive composition: the release holds for every recoding that may have been chosen."""
    require_pure(choice)
    epsilon = round_up(arb(choice.epsilon) + release.epsilon)
    return Differential(epsilon, release.delta, Relation.ADD_REMOVE, samplings=choice.samplings + 1)


@rule(
    "recoding.split",
    source="crowdblend, docs/proofs.md#choosing-the-recoding",
    statement="Sending each sampled person to the choosing part with probability ρ and else to the released part: with "
    "an ε₁-differentially private choice and suppression below k, each with randomness of its own, the release is (ε, "
    "δ)-differentially private, ε = ln(βρe^ε₁ + (1−βρ)e^ε₂), δ the exact δ of suppression at ε₂ and rate "
    "β(1−ρ)/(1−βρ).",
    assumes=(Assumption.CHOOSING_PART, Assumption.OWN_RANDOMNESS, *SAMPLED),
    about=Composite("recoding.split", ("rate", "share")),
    free={"epsilon": TARGET},
)
def recoding_from_split(
    choice: Differential, release: CrowdBlending, *, rate: float, share: float, epsilon: float
) -> Differential:
    """Given the choosing part, the released part is a Poisson sample of everybody else.

    Here epsilon is ε₂, the target of the released part.
    """
    require_pure(choice)
    # That only a part decides is counted below; a choice that counted on it already would count it twice.
    require_unsampled(choice)
    chosen = arb(rate) * share
    released_rate = arb(rate) * (1 - arb(share)) / (1 - chosen)
    # δ grows with the rate, so the larger neighbouring double is the safe one.
    safe_rate = round_up(released_rate)
    released = suppression_exact.conclude(release, rate=safe_rate, epsilon=epsilon)
    assert isinstance(released, DifferentialUnderSampling)
    total = chosen * arb(choice.epsilon).exp() + (1 - chosen) * arb(epsilon).exp()
    return Differential(round_up(total.log()), released.delta, Relation.ADD_REMOVE, samplings=1)


def require_pure(choice: Differential) -> None:
    """Refuse a choice that is not purely private for one person more or less."""
    require(choice, "Use the exponential mechanism.", relation=Relation.ADD_REMOVE, people=1, delta=0)


_SCORED = (*ROWS, Assumption.FIXED_CANDIDATES)


@rule(
    "score.published",
    source="crowdblend, docs/proofs.md#choosing-the-recoding",
    statement="Scoring a recoding by the people whom sampling at rate β and suppression below k are expected to "
    "publish, each times what the class keeps, at most W: one person who decides and stands for m people moves every "
    "score by at most W times the largest E[X·1(X ≥ k)] that m people add to a class, and upwards only.",
    assumes=(*_SCORED, Assumption.SCORED_BY_PUBLISHED),
    about=mechanism("score.published", "counted_from", "rate", "stands_for", "parts"),
)
def expected_people_bound_a_score(*, counted_from: int, rate: float, stands_for: int, parts: int) -> BoundedScore:
    """A person is in one class of each recoding; what m people add to a class is largest around k/β people."""
    return BoundedScore(round_up(arb(parts * largest_step(counted_from, rate, stands_for))), monotone=True)


@rule(
    "score.stated",
    source="definition",
    statement="Scores of which it is stated how far one person more or less moves them.",
    assumes=(*_SCORED, Assumption.BOUNDED_SCORE),
    about=mechanism("score.stated", "sensitivity", "monotone"),
)
def score_is_stated(*, sensitivity: float, monotone: bool) -> BoundedScore:
    """Taken for granted."""
    return BoundedScore(sensitivity, monotone)


@rule(
    "selection.exponential",
    source="exponential mechanism, docs/proofs.md#choosing-the-recoding",
    statement="Choosing with probability proportional to e^{ε·score/(2Δ)}, where one person moves every score by at "
    "most Δ, is ε-differentially private with one person more or less; e^{ε·score/Δ} will do when a further person "
    "never lowers a score.",
    assumes=(Assumption.CHOICE_WEIGHTS, Assumption.EXACT_CHOICE),
    about=Composite("selection.exponential", ("epsilon",)),
)
def exponential_choice(score: BoundedScore, *, epsilon: float) -> Differential:  # noqa: ARG001  its Δ is in the weights
    """A person moves all weights and their sum by factors whose quotients stay within e^ε."""
    return Differential(epsilon, 0.0, Relation.ADD_REMOVE)

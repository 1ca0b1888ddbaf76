"""Recodings chosen from the data and released: LQS Theorem 6 in the two forms that are sound.

When the choice looks at the same sample that is then suppressed, Theorem 6 fails: its proof treats the choice as
independent of the sample (docs/proofs.md#choosing-the-recoding has a counterexample). There is no rule for it here.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.conditions import require, require_unsampled
from crowdblend.calculus.description import TARGET, Composite
from crowdblend.calculus.rules.sampling import SAMPLED, suppression_exact
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation
from crowdblend.numerics.balls import round_up


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

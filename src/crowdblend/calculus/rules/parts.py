"""Several tables from disjoint parts of one sample (docs/proofs.md#parts-of-one-sample).

Two tables from one sample need not hide anybody (CBP Proposition 7). Tables from parts that share nobody do, and their
losses are not added: a person is in one part, or in none.
"""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.conditions import Unmet, require
from crowdblend.calculus.description import Composite
from crowdblend.calculus.forms import TARGET, UNDER_SAMPLING
from crowdblend.calculus.rules.sampling import FROM_SAMPLE, under_sampling
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees import CrowdBlending, DifferentialUnderSampling, PartOfSample
from crowdblend.guarantees.parameters import SHARES_ROUNDING
from crowdblend.numerics import balls
from crowdblend.numerics.arithmetic import Number
from crowdblend.numerics.parts_of_sample import parts_divergence


@rule(
    "sampling.part",
    source="definition",
    statement="A (k, 0)-crowd-blending mechanism runs on a part of the sample, to which each sampled person goes with "
    "probability s.",
    assumes=(Assumption.RANDOM_PART,),
    about=Composite("part", ("share",)),
)
def blending_in_a_part(premise: CrowdBlending, *, share: float) -> PartOfSample:
    """What is true of the mechanism on every table is true of it on the part."""
    require(premise, "Publish it from a sample of its own.", epsilon=0)
    return PartOfSample(share, premise.k)


@rule(
    "composition.parts",
    source="crowdblend, docs/proofs.md#parts-of-one-sample",
    statement="Poisson sampling at rate β, sending each sampled person to part i with probability s_i (Σs_i ≤ 1; where "
    "doubles add up to a little more, s_i is divided by their sum), then a (k_i, 0)-crowd-blending mechanism with "
    "randomness of its own on every part, is (β, ε, δ)-private under sampling. With β_i = βs_i and b = Σβ_i, δ is the "
    "average over the parts, weighted by β_i/b, of the divergence at the worst class size where the person is in part "
    "i with probability b and everybody else with probability β_i/(1 − b + β_i).",
    assumes=(Assumption.OWN_RANDOMNESS, *FROM_SAMPLE),
    about=UNDER_SAMPLING,
    free={"epsilon": TARGET},
)
def disjoint_parts(*premises: PartOfSample, rate: float, epsilon: float) -> DifferentialUnderSampling:
    """A person is in one part at most, so that the parts share one ε and average their δ."""
    check_shares(premises)

    def divergence(growth: arb) -> Number:
        total = _total(premises).max(arb(1))
        return parts_divergence(balls, [(part.k, arb(part.share) / total) for part in premises], arb(rate), growth)

    return under_sampling(rate, epsilon, divergence)


def check_shares(premises: tuple[PartOfSample, ...]) -> None:
    """Refuse parts that are more than the sample, but for rounding."""
    if _total(premises) > 1 + arb(SHARES_ROUNDING):
        raise Unmet("needs shares that add up to at most 1, got more. Nobody may be in two parts.")


def _total(premises: tuple[PartOfSample, ...]) -> arb:
    return sum((arb(part.share) for part in premises), arb(0))

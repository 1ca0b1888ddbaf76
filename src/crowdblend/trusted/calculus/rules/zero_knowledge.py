"""Zero-knowledge privacy: groups, its relation to differential privacy, and its basic mechanisms (ZKP 2 and 3)."""

from __future__ import annotations

from dataclasses import replace

from flint import arb

from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.description import (
    LAPLACE,
    NAMED,
    OF_DRAWN,
    STATISTIC,
    Composite,
    mechanism,
    same_release,
)
from crowdblend.trusted.calculus.theorem import Unmet, require, require_unsampled, rule
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import RELEASED, Sampler, Useful
from crowdblend.trusted.numerics.balls import expm1, log1p, round_up

_ONE = "Use the guarantee for one person."
_REPLACE = "Convert with differential.replace first, which doubles epsilon."
DRAWN = (
    Assumption.FIXED_SIZE_SAMPLING,
    Assumption.RANDOM_ORDER,
    Assumption.SECRET_SAMPLE,
    Assumption.SINGLE_RELEASE,
    Assumption.CONCEALED_ROWS,
    Assumption.PUBLIC_SIZE,
)


@rule(
    "zero-knowledge.group",
    source="ZKP Proposition 3",
    statement="ε-zero-knowledge privacy is (2c − 1)ε-zero-knowledge privacy for c people together.",
    about=same_release(),
    free={"people": NAMED},
)
def group_by_chain(premise: ZeroKnowledge, *, people: int) -> ZeroKnowledge:
    """Conceal one of the group by the guarantee, the others by its differential privacy."""
    require(premise, _ONE, people=1)
    require(premise, "Use zero-knowledge.group-distance or zero-knowledge.group-samples.", delta=0)
    return replace(premise, epsilon=round_up(arb(2 * people - 1) * premise.epsilon), people=people)


@rule(
    "zero-knowledge.group-distance",
    source="ZKP Proposition 4",
    statement="(ε, δ)-zero-knowledge privacy is (0, (2c − 1)(e^ε − 1 + δ))-zero-knowledge privacy for c people "
    "together.",
    about=same_release(),
    free={"people": NAMED},
)
def group_by_distance(premise: ZeroKnowledge, *, people: int) -> ZeroKnowledge:
    """The same chain in statistical distance."""
    require(premise, _ONE, people=1)
    distance = (2 * people - 1) * (expm1(premise.epsilon) + premise.delta)
    return replace(premise, epsilon=0.0, delta=min(1.0, round_up(distance)), people=people)


@rule(
    "zero-knowledge.group-samples",
    source="ZKP Proposition 5",
    statement="(ε, δ)-zero-knowledge privacy with respect to k of n random samples is (ε, δ + e^ε(c − "
    "1)k/n)-zero-knowledge privacy for c people together.",
    about=same_release(),
    free={"people": NAMED},
)
def group_by_samples(premise: ZeroKnowledge, *, people: int) -> ZeroKnowledge:
    """Few samples rarely meet anyone else of the group."""
    require(premise, _ONE, people=1)
    drawn = premise.aggregate
    if not isinstance(drawn, RandomSamples):
        raise Unmet(
            f"needs random samples as the aggregate, got {type(drawn).__name__}. "
            "Use zero-knowledge.group or zero-knowledge.group-distance."
        )
    met = arb(people - 1) * drawn.samples / drawn.population
    return replace(premise, delta=min(1.0, round_up(premise.delta + arb(premise.epsilon).exp() * met)), people=people)


@rule(
    "zero-knowledge.differential",
    source="ZKP Proposition 7",
    statement="(ε, δ)-zero-knowledge privacy, whatever the aggregate, is (2ε, (1 + e^ε)δ)-differential privacy with "
    "one person's data replaced.",
    about=same_release(),
)
def zero_knowledge_is_differential(premise: ZeroKnowledge) -> Differential:
    """Both tables are close to the same simulator. The release may have sampled, so that counts as a sampling."""
    delta = min(1.0, round_up((1 + arb(premise.epsilon).exp()) * premise.delta))
    return Differential(2 * premise.epsilon, delta, Relation.REPLACE, premise.people, samplings=1)


@rule(
    "differential.zero-knowledge",
    source="ZKP Proposition 8",
    statement="(ε, δ)-differential privacy with one person's data replaced is (ε, δ)-zero-knowledge privacy with "
    "respect to all n people, the person concealed.",
    assumes=(Assumption.CONCEALED_ROWS, Assumption.PUBLIC_SIZE),
    about=same_release("population"),
)
def differential_is_zero_knowledge(premise: Differential, *, population: int) -> ZeroKnowledge:
    """The simulator runs the mechanism on everybody else and a concealed row."""
    require(premise, _REPLACE, relation=Relation.REPLACE)
    everybody = RandomSamples(population, population)
    return ZeroKnowledge(premise.epsilon, premise.delta, everybody, Relation.CONCEAL, premise.people)


@rule(
    "laplace.sample-complexity",
    source="ZKP Proposition 12",
    statement="A statistic whose range has L1 length w, with a (δ, β)-sampler and L1 sensitivity Δ, released with "
    "Lap(λ) on each coordinate, is ln((1−β)e^{(Δ+δ)/λ} + βe^{w/λ})-zero-knowledge private with respect to the "
    "sampler's aggregate; w = (b − a)m for [a, b]^m.",
    assumes=(Assumption.STATED_SENSITIVITY, Assumption.EXACT_NOISE, Assumption.LAPLACE_NOISE),
    about=same_release("sensitivity", "scale", noise=LAPLACE),
)
def laplace_by_sample_complexity(premise: Sampler, *, sensitivity: float, scale: float) -> ZeroKnowledge:
    """The simulator estimates the statistic without the person and adds the same noise."""
    return laplace_release(premise, arb(sensitivity), arb(scale))


def laplace_release(premise: Sampler, sensitivity: arb, scale: arb, step: float = 0.0) -> ZeroKnowledge:
    """Proposition 12: the noise hides a typical step, and the width of the range where the sampler fails.

    On a grid both values are rounded first, which moves them apart by at most one `step` of the grid.
    """
    near = ((sensitivity + premise.accuracy + step) / scale).exp()
    far = ((arb(premise.width) + step) / scale).exp()
    failure = arb(premise.failure)
    # Nothing moves further than the range is wide, so an accuracy beyond it costs no more than that.
    typical = near.min(far)
    epsilon = ((1 - failure) * typical + failure * far).log()
    return ZeroKnowledge(round_up(epsilon), 0.0, premise.aggregate, Relation.CONCEAL)


@rule(
    "laplace.random-samples",
    source="ZKP Corollary 13",
    statement="When the sampler of Proposition 12 draws k of n people and fails with probability β < (1 − k/n)/2, the "
    "sensitivity is at most 2δ and the release is ln((1−β)e^{3δ/λ} + βe^{w/λ})-zero-knowledge private.",
    assumes=(Assumption.EXACT_NOISE, Assumption.LAPLACE_NOISE),
    about=same_release("scale", noise=LAPLACE),
)
def laplace_by_random_samples(premise: Sampler, *, scale: float) -> ZeroKnowledge:
    """A statistic that few random people estimate cannot depend much on one."""
    drawn = premise.aggregate
    if (
        not isinstance(drawn, RandomSamples)
        or not arb(premise.failure) < (1 - arb(drawn.samples) / drawn.population) / 2
    ):
        raise Unmet(
            "needs a sampler of k of n people that fails with probability below (1 - k/n)/2, "
            f"got failure = {premise.failure:g}. Use laplace.sample-complexity with a sensitivity of your own."
        )
    return laplace_release(premise, 2 * arb(premise.accuracy), arb(scale))


@rule(
    "laplace.everybody",
    source="ZKP Corollary 14",
    statement="A statistic with L1 sensitivity Δ, released with Lap(λ) on each coordinate, is Δ/λ-zero-knowledge "
    "private with respect to all n people, the person concealed.",
    assumes=(
        Assumption.STATED_SENSITIVITY,
        Assumption.EXACT_NOISE,
        Assumption.LAPLACE_NOISE,
        Assumption.CONCEALED_ROWS,
        Assumption.PUBLIC_SIZE,
    ),
    about=mechanism(STATISTIC, "sensitivity", "scale", "population", noise=LAPLACE),
)
def laplace_seen_by_everybody(*, sensitivity: float, scale: float, population: int) -> ZeroKnowledge:
    """Proposition 12 with a sampler that reads everything and never errs."""
    epsilon = round_up(arb(sensitivity) / scale)
    return ZeroKnowledge(epsilon, 0.0, RandomSamples(population, population), Relation.CONCEAL)


@rule(
    "zero-knowledge.sampler",
    source="ZKP Proposition 15",
    statement="A mechanism that is ε-zero-knowledge private and within δ of a statistic except with probability β "
    "shows that the aggregate estimates the statistic within δ except with probability (β + e^ε − 1)/e^ε.",
    assumes=(Assumption.STATED_RANGE,),
    about=Composite(STATISTIC, ("width",), groups=((0, 1),), fixed=(("statistic", RELEASED),)),
)
def private_accuracy_gives_a_sampler(premise: ZeroKnowledge, accurate: Useful, *, width: float) -> Sampler:
    """The simulator is a sampler: what can be released well can be estimated from the aggregate."""
    require(premise, "State the mechanism with delta = 0.", delta=0)
    # (β + e^ε − 1)/e^ε = 1 − (1 − β)e^{−ε}.
    failure = 1 - (1 - arb(accurate.failure)) * (-arb(premise.epsilon)).exp()
    return Sampler(RELEASED, accurate.accuracy, min(1.0, round_up(failure)), width, premise.aggregate)


@rule(
    "sample-and-sanitize.plain",
    source="ZKP Proposition 16, first part",
    statement="Drawing k of n people and running an (ε, δ)-differentially private sanitizer (data replaced) on them is "
    "(ε, δ)-zero-knowledge private with respect to k of n random samples.",
    assumes=DRAWN,
    about=OF_DRAWN,
)
def sample_and_sanitize(premise: Differential, *, samples: int, population: int) -> ZeroKnowledge:
    """The mechanism itself is a computation on k random people."""
    return _sanitize(premise, samples, population, arb(premise.epsilon), arb(premise.delta))


@rule(
    "sample-and-sanitize.doubled",
    source="ZKP Proposition 16, second part",
    statement="The same is (2 ln(1 + (k/n)(e^ε − 1)), (2 + (k/n)(e^ε − 1))(k/n)δ)-zero-knowledge private.",
    assumes=DRAWN,
    about=OF_DRAWN,
)
def sample_and_sanitize_doubled(premise: Differential, *, samples: int, population: int) -> ZeroKnowledge:
    """Through the table without the person, in two steps."""
    q = arb(samples) / population
    gain = q * expm1(premise.epsilon)
    return _sanitize(premise, samples, population, 2 * log1p(gain), (2 + gain) * q * premise.delta)


@rule(
    "sample-and-sanitize.linear",
    source="ZKP Proposition 16, third part",
    statement="For ε ≤ 1 the same is (4kε/n, 4kδ/n)-zero-knowledge private.",
    assumes=DRAWN,
    about=OF_DRAWN,
)
def sample_and_sanitize_linear(premise: Differential, *, samples: int, population: int) -> ZeroKnowledge:
    """The second part, simplified by e^ε − 1 ≤ 2ε."""
    if premise.epsilon > 1:
        raise Unmet(f"needs epsilon of at most 1, got {premise.epsilon:g}. Use sample-and-sanitize.sharp.")
    q = 4 * arb(samples) / population
    return _sanitize(premise, samples, population, q * premise.epsilon, q * premise.delta)


@rule(
    "sample-and-sanitize.sharp",
    source="crowdblend, docs/proofs.md#sample-and-sanitize",
    statement="Drawing k of n people and running an (ε, δ)-differentially private sanitizer (data replaced) on them is "
    "(ln(1 + (k/n)(e^ε − 1)), (k/n)δ)-zero-knowledge private with respect to k of n random samples.",
    assumes=DRAWN,
    about=OF_DRAWN,
)
def sample_and_sanitize_sharp(premise: Differential, *, samples: int, population: int) -> ZeroKnowledge:
    """Drawn, drawn but concealed, and not drawn are pairwise close, so one step suffices."""
    return _in_one_step(premise, samples, population)


@rule(
    "sample-and-sanitize.differential",
    source="crowdblend, docs/proofs.md#sample-and-sanitize",
    statement="Drawing k of n people and running an (ε, δ)-differentially private sanitizer (data replaced) on them is "
    "(ln(1 + (k/n)(e^ε − 1)), (k/n)δ)-differentially private with one person's data replaced.",
    assumes=tuple(made for made in DRAWN if made is not Assumption.CONCEALED_ROWS),
    about=OF_DRAWN,
)
def sample_and_sanitize_differential(premise: Differential, *, samples: int, population: int) -> Differential:
    """The same argument with other data in the place of a concealed row."""
    close = _in_one_step(premise, samples, population)
    return Differential(close.epsilon, close.delta, Relation.REPLACE, samplings=1)


def _in_one_step(premise: Differential, samples: int, population: int) -> ZeroKnowledge:
    q = arb(samples) / population
    return _sanitize(premise, samples, population, log1p(q * expm1(premise.epsilon)), q * premise.delta)


def _sanitize(premise: Differential, samples: int, population: int, epsilon: arb, delta: arb) -> ZeroKnowledge:
    require(premise, _REPLACE, relation=Relation.REPLACE, people=1)
    require_unsampled(premise)
    drawn = RandomSamples(samples, population)
    return ZeroKnowledge(round_up(epsilon), min(1.0, round_up(delta)), drawn, Relation.CONCEAL)

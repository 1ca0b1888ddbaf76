"""Parts of a sample to which everybody came with a probability of their own: no small world exceeds the curve."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from crowdblend.errors import InvalidInput
from crowdblend.trusted.calculus.loss_curves import curve_of
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Uses
from crowdblend.trusted.guarantees.programme import (
    PartInCrowds,
    PartOfSample,
    PartWithNoise,
    PrivatePart,
    UnequalProgrammeCurve,
)
from crowdblend.trusted.numerics.balls import precision, round_up
from crowdblend.trusted.numerics.mechanism_curves import BiasedCrowds
from tests.cases import seeds

from .distributions import Distribution, growth_below, hockey_stick
from .programmes import ONE, Laplace, Moved, NoiseBelow, Response, Suppressed, random_world

EPSILONS = (0.05, 0.3, 0.7, 1.2)
KINDS = (Suppressed, Suppressed, NoiseBelow, Moved, Laplace, Response)
WORLDS, MANY = 6, 2_000
CROWDS, MANY_CROWDS = 8, 2_000
# Rates and losses of the rules are doubles, which stand for fractions up to this.
HAIR = Fraction(1, 10**12)


def hold_below(curve: UnequalProgrammeCurve, laws: tuple[Distribution, Distribution]) -> None:
    with precision(128):
        for epsilon in EPSILONS:
            growth = growth_below(epsilon)
            ways = curve_of(curve).bounds([arb(epsilon).exp()])
            for (one, other), (found,) in zip((laws, laws[::-1]), ways, strict=True):
                bound = ONE if found is None else Fraction(round_up(found)) * (1 + HAIR) + HAIR
                assert hockey_stick(one, other, growth) <= bound, (curve, epsilon)


def blending(part: PartOfSample) -> PartOfSample:
    """What is known of crowds under biased sampling: that they blend."""
    loss = getattr(part, "noise_epsilon", None)
    return part if loss is None else PartInCrowds(part.share, part.k, loss)  # type: ignore[attr-defined]


def check_mixed_kinds(seed: int) -> None:
    """Mechanisms of all kinds; somebody may never be sampled, and where k allows it one is an exception."""
    world, dice = random_world(seed, KINDS), random.Random(seed)
    low = Fraction(dice.randint(1, 9), 20)
    high = min(low + Fraction(dice.randint(0, 4), 20), Fraction(19, 20))
    rates = [dice.choice([low, high, (low + high) / 2, Fraction(0)]) for _ in world.others]
    exceptions = dice.random() < 0.5
    if exceptions:
        raised = [replace(made, k=made.k + 2) if hasattr(made, "k") else made for made in world.mechanisms]
        world = replace(world, mechanisms=tuple(raised))
        rates[:1] = [dice.choice([Fraction(1, 20), ONE]) for _ in rates[:1]]
    most = dice.choice([high, ONE]) if exceptions else high
    parts = [blending(made.part(float(share))) for share, made in zip(world.shares, world.mechanisms, strict=True)]
    curve = UnequalProgrammeCurve(float(low), float(high), int(exceptions), float(most), tuple(parts))
    hold_below(curve, world.laws((*rates, most)))


@seeds(WORLDS, MANY, 245)
def test_no_world_of_mixed_kinds_exceeds_the_curve(seeds: range) -> None:
    for seed in seeds:
        check_mixed_kinds(seed)


def crowd_laws(
    rates: tuple[Fraction, ...], person: Fraction, shares: tuple[Fraction, ...], crowds: tuple[int | None, ...]
) -> tuple[Distribution, Distribution]:
    """Counts of the parts of one class, with the person and without; where k is None the others alone are listed."""
    counts: dict[tuple[int, ...], Fraction] = {(0,) * len(shares): ONE}
    for rate in rates:
        counts = one_more(counts, rate, shares, [True] * len(shares))
    with_person = one_more(counts, person, shares, [k is not None for k in crowds])
    return shown(with_person, crowds), shown(counts, crowds)


Counts = dict[tuple[int, ...], Fraction]


def one_more(counts: Counts, rate: Fraction, shares: tuple[Fraction, ...], seen: list[bool]) -> Counts:
    moved: Counts = {}
    for places, chance in counts.items():
        outcomes = [(places, chance * (1 - rate * sum(shares)))]
        for part, share in enumerate(shares):
            more = (*places[:part], places[part] + seen[part], *places[part + 1 :])
            outcomes.append((more, chance * rate * share))
        for outcome, weight in outcomes:
            moved[outcome] = moved.get(outcome, Fraction(0)) + weight
    return moved


def shown(counts: Counts, crowds: tuple[int | None, ...]) -> Distribution:
    found: Counts = {}
    for places, chance in counts.items():
        seen = tuple(count if k is None or count >= k else 0 for count, k in zip(places, crowds, strict=True))
        found[seen] = found.get(seen, Fraction(0)) + chance
    return found  # type: ignore[return-value]


def random_crowd(seed: int) -> tuple[UnequalProgrammeCurve, tuple[Distribution, Distribution]]:
    """A class of up to fourteen others, most of them at one end, so that crowds do come together."""
    dice = random.Random(seed)
    low = Fraction(dice.randint(4, 17), 20)
    high = min(low + Fraction(dice.randint(0, 3), 40), Fraction(19, 20))
    weights = [dice.randint(1, 5) for _ in range(dice.choice([2, 2, 3]))]
    unused = dice.choice([0, 0, 3])
    shares = tuple(Fraction(weight, sum(weights) + unused) for weight in weights)
    end = dice.choice([low, high])
    others = dice.randint(0, 14 if len(shares) == 2 else 9)
    rates = tuple(end if dice.random() < 0.8 else dice.choice([low, high]) for _ in range(others))
    crowds = tuple(dice.randint(1, 4) for _ in shares)
    parts = tuple(PartInCrowds(float(share), k, 0.0) for share, k in zip(shares, crowds, strict=True))
    return UnequalProgrammeCurve(float(low), float(high), 0, float(high), parts), crowd_laws(
        rates, high, shares, crowds
    )


@seeds(CROWDS, MANY_CROWDS, 490)
def test_no_crowd_exceeds_the_curve(seeds: range) -> None:
    for seed in seeds:
        hold_below(*random_crowd(seed))


NOTHING = (Uses(ClosenessCurve(1e-9, 0.0), 1),)
MISTAKES: dict[str, Callable[[float, float, float], tuple[float, float, float]]] = {
    "the rate of the part alone": lambda _, high, share: (high * share,) * 2 + (high,),
    "as large as the smallest": lambda low, high, share: (given(low, share),) * 2 + (high,),
    "the person in this part": lambda low, high, share: (given(low, share), given(high, share), high * share),
}


def given(rate: float, share: float) -> float:
    return rate * share / (1 - rate * (1 - share))


def test_what_other_parts_say_counts_and_every_mistake_would_be_caught() -> None:
    """The second part lists the others and never the person: who is left is in the first more often than before."""
    caught, (low, high) = set(), (Fraction(4, 5), Fraction(9, 10))
    for share, k, n in product((Fraction(1, 3), Fraction(1, 2)), (2, 5, 8), (5, 9, 14)):
        parts = PartInCrowds(float(share), k, 0.0), PrivatePart(float(1 - share), NOTHING)
        curve = UnequalProgrammeCurve(float(low), float(high), 0, float(high), parts)
        laws = crowd_laws((high,) * n, high, (share, 1 - share), (k, None))
        hold_below(curve, laws)
        for name, mistake in MISTAKES.items():
            wrong = BiasedCrowds(k, arb(1), *mistake(0.8, 0.9, float(share))[:2], 0, mistake(0.8, 0.9, float(share))[2])
            for epsilon in EPSILONS:
                (bound,), _ = wrong.bounds([arb(epsilon).exp()])
                true = hockey_stick(*laws, growth_below(epsilon))
                caught |= {name} if float(true) > float(share) * float(bound or 1) * (1 + 1e-9) else set()
    assert caught == set(MISTAKES)


def test_other_parts_of_a_biased_sample_are_refused() -> None:
    for parts in ((), (PartWithNoise(0.5, 5, 1.0, False),), (PartInCrowds(0.6, 5, 0.0),) * 2):
        with pytest.raises(InvalidInput):
            UnequalProgrammeCurve(0.1, 0.2, 0, 0.2, parts)

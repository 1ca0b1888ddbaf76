"""Statistics of strata: weighted totals and quantiles in small worlds of three strata, enumerated in exact fractions.

A person who is kept counts as many times as the stratum says. Nobody's presence changes any outcome by more than the
certificate says, whatever the others are, in both directions.
"""

import random
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from crowdblend.methods.mechanisms.statistics import quantile_losses
from crowdblend.trusted.calculus import RULES, Derivation

from .distributions import both, divergence, epsilon_above, growth_below, mix
from .noise_below_k import blurred
from .test_quantiles import permuted_and_flipped

STEPS, GROUPS = 2, 2
# e^η of the noise on totals, e^{η/2} of the choice.
TOTAL, CHOICE = Fraction(6, 5), Fraction(9, 8)
Law = dict[Hashable, Fraction]
WORLDS, MANY = range(1), range(100, 220)


@dataclass(frozen=True)
class Person:
    stratum: int
    group: int
    value: int
    rate: Fraction


@dataclass(frozen=True)
class World:
    """Rates of three strata between two ends, the copies of each, and the people who are there anyway."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    copies: tuple[int, ...]
    people: tuple[Person, ...]
    at: Fraction

    def law(self, person: Person | None = None) -> Law:
        people = (*self.people, *([] if person is None else [person]))
        return mix(
            (
                prod(
                    (one.rate if is_kept else 1 - one.rate for one, is_kept in zip(people, kept, strict=True)),
                    start=Fraction(1),
                ),
                self.published(tuple(one for one, is_kept in zip(people, kept, strict=True) if is_kept)),
            )
            for kept in product((False, True), repeat=len(people))
        )

    def published(self, kept: tuple[Person, ...]) -> Law:
        """The two noisy totals of an average in the first group, and the quantile of the second."""
        most = STEPS * (len(self.people) + 1) * max(self.copies)
        totals = [0, 0]
        counts = np.zeros(STEPS + 1, np.int64)
        for one in kept:
            copies = self.copies[one.stratum]
            if one.group == 0:
                totals = [totals[0] + copies * (STEPS - one.value), totals[1] + copies * one.value]
            else:
                counts[one.value] += copies
        law: Law = permuted_and_flipped(quantile_losses(counts, self.at, int(counts.sum())).tolist(), CHOICE)
        for total in totals:
            law = both(law, blurred(total, 1 / TOTAL, 0, most))
        return law

    def persons(self) -> list[Person]:
        return [
            Person(stratum, group, value, rate)
            for stratum, ends in enumerate(self.ends)
            for rate in dict.fromkeys(ends)
            for group in range(GROUPS)
            for value in (0, STEPS)
        ]


def claim(world: World, *, copies: tuple[int, ...] | None = None) -> Derivation:
    """What the rules say of this world, by the derivation that a release has."""
    at = world.at
    inner = RULES["composition.adaptive"](
        RULES["totals.add-remove"](bins=2, grid_steps=STEPS, noise_epsilon=epsilon_above(TOTAL)),
        RULES["quantile.add-remove"](
            numerator=at.numerator, denominator=at.denominator, noise_epsilon=epsilon_above(CHOICE**2)
        ),
    )
    found = inner
    for number, ((low, high), copied) in enumerate(zip(world.ends, copies or world.copies, strict=True)):
        rule = RULES["strata.more-copies" if number else "strata.copies"]
        found = rule(found, low=float(low), high=float(high), copies=copied)
    return RULES["strata.joint"](found)


def random_world(seed: int, most: int = 2) -> World:
    """At most so many people, each counted at most so many times."""
    chance = random.Random(seed)
    ends = []
    for _ in range(3):
        low = Fraction(chance.randint(1, 6), 8)
        ends.append((low, low + Fraction(chance.randint(0, 1), 8)))
    people = []
    for _ in range(chance.randint(0, most)):
        stratum = chance.randrange(3)
        place = chance.randrange(GROUPS), chance.randint(0, STEPS)
        people.append(Person(stratum, *place, chance.choice(ends[stratum])))
    copies = tuple(chance.randint(1, most) for _ in range(3))
    return World(tuple(ends), copies, tuple(people), chance.choice([Fraction(1, 2), Fraction(1, 4)]))


def assert_covered(world: World) -> None:
    growth, without = growth_below(claim(world).conclusion.epsilon), world.law()
    for person in world.persons():
        assert divergence(world.law(person), without, growth) == 0, (world, person)


def test_nothing_in_small_worlds_exceeds_the_certificate() -> None:
    for seed in WORLDS:
        assert_covered(random_world(seed))


@pytest.mark.slow
def test_nothing_in_120_small_worlds_exceeds_the_certificate() -> None:
    for seed in MANY:
        assert_covered(random_world(seed, 2 if seed < 210 else 3))


def test_the_bound_is_attained_by_totals_alone_and_forgotten_copies_are_caught() -> None:
    """One sum of nobody else: the largest ratio is the claimed one; with a copy fewer it is exceeded."""
    rate, copies, top = Fraction(1, 4), 3, 40
    kept, nobody = blurred(copies, 1 / TOTAL, 0, top), blurred(0, 1 / TOTAL, 0, top)
    law = mix([(rate, kept), (1 - rate, nobody)])
    inner = RULES["totals.add-remove"](bins=1, grid_steps=1, noise_epsilon=epsilon_above(TOTAL))

    def growth(number: int) -> Fraction:
        made = RULES["strata.copies"](inner, low=float(rate) / 4, high=float(rate), copies=number)
        return growth_below(RULES["strata.joint"](made).conclusion.epsilon)

    assert divergence(law, nobody, growth(copies)) == 0
    assert divergence(law, nobody, growth(copies) * (1 - Fraction(1, 10**9))) > 0
    assert divergence(law, nobody, growth(copies - 1)) > 0


def test_a_stratum_certified_at_the_smallest_rate_is_caught() -> None:
    world = World(
        ((Fraction(1, 8), Fraction(1, 8)), (Fraction(7, 8),) * 2, (Fraction(1, 2),) * 2), (1, 1, 1), (), Fraction(1, 2)
    )
    understated = World(((Fraction(1, 8),) * 2,) * 3, (1, 1, 1), (), Fraction(1, 2))
    growth, without = growth_below(claim(understated).conclusion.epsilon), world.law()
    assert max(divergence(world.law(person), without, growth) for person in world.persons()) > 0

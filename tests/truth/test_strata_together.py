"""Noise that counts the people of all strata beside crowds within strata, each of a part of one sample: enumerated."""

import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from crowdblend.methods.designs.design import SeveralRows
from crowdblend.methods.designs.strata import Strata, Stratum
from crowdblend.methods.mechanisms.histograms import SuppressedHistogram
from crowdblend.methods.mechanisms.statistics import NoisyStatistics
from crowdblend.methods.planning.certified_choice import CertifiedChoice, ExpectedPeople
from crowdblend.methods.planning.statistics.accuracy import Shape
from crowdblend.trusted.calculus import RULES, Derivation
from tests.cases import for_each

from .distributions import Distribution, both, divergence, epsilon_above, mix, surely
from .noise_below_k import blurred

STRATA, CLASSES = 2, 2
GROWTHS = (Fraction(11, 10), Fraction(3, 2), Fraction(3))
# A person: the stratum, and the class within it.
Person = tuple[int, int]


@dataclass(frozen=True)
class World:
    """The rates, thresholds and copies of two strata, the share of the table, the noise, and who is there anyway."""

    rates: tuple[Fraction, ...]
    ks: tuple[int, ...]
    copies: tuple[int, ...]
    share: Fraction
    ratio: Fraction
    people: tuple[Person, ...]

    def law(self, *more: Person) -> Distribution:
        """A table of crowds from the first part, and a noisy sum of copies by class from the second."""
        people = (*self.people, *more)
        return mix(
            (
                prod((self._chance(one, where) for one, where in zip(people, places, strict=True)), start=Fraction(1)),
                self._published(people, places),
            )
            for places in product((None, 0, 1), repeat=len(people))
        )

    def _chance(self, person: Person, where: int | None) -> Fraction:
        rate = self.rates[person[0]]
        return 1 - rate if where is None else rate * (self.share if where == 0 else 1 - self.share)

    def _published(self, people: tuple[Person, ...], places: tuple[int | None, ...]) -> Distribution:
        first, second = ([one for one, where in zip(people, places, strict=True) if where == part] for part in (0, 1))
        counts = [first.count(one) for one in product(range(STRATA), range(CLASSES))]
        shown = tuple(n if n >= self.ks[place // CLASSES] else 0 for place, n in enumerate(counts))
        law: Distribution = surely(shown)
        for label in range(CLASSES):
            total = sum(self.copies[stratum] for stratum, own in second if own == label)
            law = both(law, blurred(total, self.ratio, 0, 4 * max(self.copies)))
        return law

    def claim(self, epsilon: float, *, copies: tuple[int, ...] | None = None) -> Derivation:
        """What the design derives, as a programme does."""
        strata = {str(place): Stratum(*(float(rate),) * 3) for place, rate in enumerate(self.rates)}
        noise = NoisyStatistics((Shape(1, CLASSES),), (epsilon_above(1 / self.ratio),), True, copies or self.copies)
        tables = [SuppressedHistogram(k) for k in self.ks]
        shares = (float(self.share), float(1 - self.share))
        return Strata("stratum", strata).parts_derivations([tables, [noise]], shares, epsilon)[1]


class ChosenWorld(World):
    """The second part, of people of all strata, says by which classes the tables of the first are made."""

    def _published(self, people: tuple[Person, ...], places: tuple[int | None, ...]) -> Distribution:
        first, second = ([one for one, where in zip(people, places, strict=True) if where == part] for part in (0, 1))
        odd = sum(own == 0 for _, own in second) % 2
        right = 1 / (1 + self.ratio)
        return mix(
            (right if merged == odd else 1 - right, surely((merged, self._table(first, merged)))) for merged in (0, 1)
        )

    def _table(self, people: list[Person], merged: int) -> tuple[int, ...]:
        counts = [
            (stratum, sum(one == stratum and (merged or own == label) for one, own in people))
            for stratum, label in product(range(STRATA), range(1 if merged else CLASSES))
        ]
        return tuple(n if n >= self.ks[stratum] else 0 for stratum, n in counts)

    def claim(self, epsilon: float, *, copies: tuple[int, ...] | None = None) -> Derivation:
        strata = {str(place): Stratum(*(float(rate),) * 3) for place, rate in enumerate(self.rates)}
        choice = CertifiedChoice(ExpectedPeople(2, 0.5, 1, 1), epsilon_above(1 / self.ratio))
        ran = [[choice], [SuppressedHistogram(k) for k in self.ks]]
        shares = (float(1 - self.share), float(self.share))
        return Strata("stratum", strata).parts_derivations(ran, shares, epsilon)[1]


def random_world(seed: int, kind: type[World] = World) -> World:
    chance = random.Random(seed)
    return kind(
        tuple(Fraction(chance.randint(1, 7), 8) for _ in range(STRATA)),
        tuple(chance.randint(1, 3) for _ in range(STRATA)),
        tuple(chance.randint(1, 3) for _ in range(STRATA)),
        Fraction(chance.randint(1, 3), 4),
        Fraction(chance.randint(2, 6), 8),
        tuple((chance.randrange(STRATA), chance.randrange(CLASSES)) for _ in range(chance.randint(0, 3))),
    )


@for_each("kind", [World, ChosenWorld])
@for_each("seed", range(120), daily=6)
def test_noise_beside_crowds_in_parts_of_strata(seed: int, kind: type[World]) -> None:
    """One person more or less, of any stratum and class, changes no outcome by more than the worst stratum says."""
    world = random_world(seed, kind)
    without = world.law()
    persons = [world.law(person) for person in product(range(STRATA), range(CLASSES))]
    for growth in GROWTHS:
        made = world.claim(epsilon_above(growth))
        assert made.rule.id == "strata.together"
        worst = max(divergence(one, without, growth) for one in persons)
        assert worst <= Fraction(made.conclusion.delta), world


def test_forgotten_copies_are_caught() -> None:
    rates, growth = (Fraction(1, 8), Fraction(1, 2)), Fraction(3, 2)
    world = World(rates, (3, 3), (1, 3), Fraction(1, 4), Fraction(1, 2), ())
    worst = max(divergence(world.law((1, label)), world.law(), growth) for label in range(CLASSES))
    assert worst <= Fraction(world.claim(epsilon_above(growth)).conclusion.delta)
    assert worst > Fraction(world.claim(epsilon_above(growth), copies=(1, 1)).conclusion.delta)


def test_a_person_in_copies_loses_what_as_many_rows_do() -> None:
    noise = NoisyStatistics((Shape(1, CLASSES),), (0.5,), True, (2, 3))
    rows = RULES["rows.per-person"](noise.claim(), rows_per_person=3)
    assert SeveralRows(noise, 3).claim() == rows

"""People with several rows and a coin for every row, enumerated: every coin, every survey, every person.

No world exceeds what the rule states; with one coin for all rows of a person, or two rows in a class, some world does.
"""

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import prod

from crowdblend.trusted.calculus import RULES
from tests.cases import for_each, seeds

from .distributions import Distribution, growth_below, hockey_stick, mix

ONE = Fraction(1)
EPSILONS = (0.0, 0.3, 0.8, 1.5)
WORLDS, MANY = 20, 2_560
# The rates of the rules are doubles, which stand for fractions up to this.
HAIR = Fraction(1, 10**12)
Rows = tuple[int, ...]


@dataclass(frozen=True)
class World:
    """The classes of everybody's rows, the protected person's last; of how many people a survey asks, if any."""

    others: tuple[Rows, ...]
    person: Rows
    instead: Rows
    rate: Fraction
    k: int
    most: int
    asked: int | None = None
    one_coin: bool = False

    def laws(self) -> tuple[Distribution, Distribution]:
        """Return what is published with the person and without, or with other rows where people were asked."""
        if self.asked is None:
            return self._thinned((*self.others, self.person)), self._thinned(self.others)
        return self._survey((*self.others, self.person)), self._survey((*self.others, self.instead))

    def _survey(self, people: tuple[Rows, ...]) -> Distribution:
        assert self.asked is not None
        surveys = list(combinations(people, self.asked))
        return mix((Fraction(1, len(surveys)), self._thinned(some)) for some in surveys)

    def _thinned(self, people: tuple[Rows, ...]) -> Distribution:
        """Every coin of every row, or of every person, and then counts from k on."""
        units = people if self.one_coin else tuple((row,) for rows in people for row in rows)
        law: Counter = Counter()
        for kept in product((False, True), repeat=len(units)):
            chance = prod((self.rate if keep else 1 - self.rate for keep in kept), start=ONE)
            counts = Counter(row for rows, keep in zip(units, kept, strict=True) if keep for row in rows)
            law[tuple(sorted((row, count) for row, count in counts.items() if count >= self.k))] += chance
        return law

    def stated(self, epsilon: float) -> Fraction:
        """Return the δ that the rules state."""
        people = None if self.asked is None else len(self.others) + 1
        return _stated(self.k, float(self.rate), self.most, self.asked, people, epsilon)


@cache
def _stated(k: int, rate: float, most: int, asked: int | None, people: int | None, epsilon: float) -> Fraction:
    row = RULES["profile.crowds"](RULES["generalization.suppressed"](k=k), rate=rate)
    person = RULES["rows.own-coins"](row, rows_per_person=most)
    if asked is not None:
        person = RULES["survey.profile"](RULES["profile.replaced"](person), samples=asked, population=people)
    return Fraction(RULES["profile.delta"](person, epsilon=epsilon).conclusion.delta)


def world(seed: int) -> World:
    """People with up to three rows, each in another class; of a third of the worlds a survey asks some."""
    dice = random.Random(f"rows {seed}")
    most, classes = dice.choice([1, 2, 2, 3]), dice.randint(2, 3)

    def rows() -> Rows:
        return tuple(dice.sample(range(classes), dice.randint(min(1, most), min(most, classes))))

    surveyed = dice.random() < 1 / 3
    others = [rows() for _ in range(dice.randint(1, 3 if surveyed else 4))]
    asked = dice.randint(1, len(others)) if surveyed else None
    rate = Fraction(dice.choice([2, 5, 8]), 10)
    return World(tuple(others), rows(), rows(), rate, dice.randint(1, 3), most, asked)


def excess(made: World) -> Fraction:
    """Return by how much the truth is above what is stated, in the worse direction."""
    laws = made.laws()
    return max(
        hockey_stick(*pair, growth_below(epsilon)) - made.stated(epsilon) * (1 + HAIR) - HAIR
        for pair in (laws, laws[::-1])
        for epsilon in EPSILONS
    )


@seeds(WORLDS, MANY, 508)
def test_no_world_exceeds_what_is_stated(seeds: range) -> None:
    assert max(excess(world(seed)) for seed in seeds) <= 0


def test_the_bound_is_attained() -> None:
    made = World(((0, 2), (0,), (1,)), (1, 2), (), Fraction(1, 2), 2, 2)
    laws = made.laws()
    true = max(hockey_stick(*pair, growth_below(0.3)) for pair in (laws, laws[::-1]))
    assert true <= made.stated(0.3) < true * (1 + HAIR)


# Everybody but the person has a row in both classes: the difference of both counts is the person.
SHARED = World(((0, 1),) * 4, (0,), (), Fraction(1, 2), 3, 2, one_coin=True)


@for_each("made", [SHARED, World(((0,),) * 4, (0, 0, 0), (), Fraction(1, 2), 3, 1)])
def test_one_coin_for_all_rows_or_two_rows_in_a_class_exceed_it(made: World) -> None:
    assert excess(made) > 0
    # Coins of their own, or a class once, are what is stated.
    assert excess(replace(made, one_coin=False, person=made.person[:1])) <= 0

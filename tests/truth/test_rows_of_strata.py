"""People with rows in several strata: one mark decides about all rows, and each row counts as its stratum does."""

import random
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from crowdblend.trusted.calculus import RULES
from tests.cases import seeds

from .distributions import Distribution, divergence, epsilon_above, growth_below, mix

ONE = Fraction(1)
WORLDS, MANY = 60, 1_000


def noisy(total: int, growth: Fraction) -> Distribution:
    """A total with noise of which each step has a probability 1/growth times that of the last, cut at both ends.

    The ends take what is beyond them, which is post-processing: a factor of growth a step hides one copy.
    """
    a, reach = 1 / growth, 12
    inside = {y: (1 - a) / (1 + a) * a ** abs(y - total) for y in range(-reach + 1, reach)}
    low = a ** (total + reach) / (1 + a)
    return {**inside, -reach: low, reach: ONE - low - sum(inside.values())}


def stated(growth: Fraction, rows: list[tuple[int, Fraction, int]], most: int) -> float:
    """Return ε by the rules: of at most so many rows, each in a stratum with a rate and copies."""
    mechanism = RULES["totals.add-remove"](bins=2, grid_steps=1, noise_epsilon=epsilon_above(growth))
    person = RULES["rows.per-person"](mechanism, rows_per_person=most)
    strata = [{"low": float(rate), "high": float(rate), "copies": copies} for _, rate, copies in rows]
    derived = RULES["strata.copies"](person, **strata[0])
    for one in strata[1:]:
        derived = RULES["strata.more-copies"](derived, **one)
    return float(RULES["strata.joint"](derived).conclusion.epsilon)


@seeds(WORLDS, MANY, 235)
def test_no_person_with_rows_in_several_strata_exceeds_what_is_stated(seeds: range) -> None:
    """With one mark for all rows, and with a coin for each: the proof holds for any joint law of the coins."""
    closest = Fraction(0)
    for seed in seeds:
        dice = random.Random(f"rows of strata {seed}")
        growth, most = Fraction(dice.choice([5, 6, 8]), 4), dice.randint(1, 3)
        strata = [(number, Fraction(dice.randint(1, 15), 16), dice.randint(1, 2)) for number in range(2)]
        rows = [dice.choice(strata) for _ in range(dice.randint(1, most))]
        epsilon = stated(growth, strata, most)
        marks = sorted({Fraction(0), ONE, *(rate for _, rate, _ in rows)})
        one_mark = [
            (upper - lower, sum(copies for _, rate, copies in rows if rate >= upper))
            for lower, upper in pairwise(marks)
        ]
        coins = [
            (
                prod((rate if keep else 1 - rate for (_, rate, _), keep in zip(rows, kept, strict=True)), start=ONE),
                sum(copies for (_, _, copies), keep in zip(rows, kept, strict=True) if keep),
            )
            for kept in product((False, True), repeat=len(rows))
        ]
        for law in (one_mark, coins):
            there = mix((chance, noisy(total, growth)) for chance, total in law)
            assert divergence(there, noisy(0, growth), growth_below(epsilon)) <= Fraction(1, 10**12)
            expected = sum(chance * growth**total for chance, total in law)
            closest = max(closest, expected / growth_below(epsilon))
    assert closest > Fraction(999, 1000)

"""What a simulator may look at, as exact distributions over what it sees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb

from crowdblend.auditing.exact.distributions import Distribution, beside, mix, surely
from crowdblend.auditing.exact.worlds import Database, samples

Aggregate = Callable[[Database], Distribution]


def random_samples(size: int) -> Aggregate:
    """The data of `size` different people, each set equally likely; of fewer people everybody."""

    def seen(table: Database) -> Distribution:
        drawn_here = min(size, len(table))
        share = Fraction(1, comb(len(table), drawn_here))
        return mix((share, surely(some)) for some in combinations(table, drawn_here))

    return seen


def iid_samples(rate: Fraction, rounds: int = 1) -> Aggregate:
    """`rounds` samples, each of which keeps everybody with probability `rate`."""

    def seen(table: Database) -> Distribution:
        one = mix((chance, surely(some)) for chance, some in samples(table, rate))
        return one if rounds == 1 else beside([one] * rounds)

    return seen


def drawn(table: Database, size: int) -> Distribution:
    """A draw of exactly `size` people without replacement."""
    return random_samples(size)(table)

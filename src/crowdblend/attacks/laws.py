"""The few laws that attacks are computed with, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

Law = dict[int, Fraction]


@cache
def binomial(people: int, rate: Fraction) -> tuple[Fraction, ...]:
    """P[X = 0], P[X = 1], … for the number of sampled people of a class."""
    return tuple(math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1))


def at_least(people: int, rate: Fraction, k: int) -> Fraction:
    """P[X ≥ k]."""
    return sum(binomial(people, rate)[max(k, 0) :], Fraction(0))


def published_law(people: int, rate: Fraction, k: int) -> Law:
    """The law of the published count of one class, 0 when it is suppressed."""
    pmf = binomial(people, rate)
    return {0: sum(pmf[:k], Fraction(0)), **{j: pmf[j] for j in range(k, people + 1)}}


def difference_at_least(first: Law, second: Law, least: int) -> Fraction:
    """P[X − Y ≥ least] for independent X and Y."""
    tail, tails = Fraction(0), {}
    for value in sorted(second):
        tail += second[value]
        tails[value] = tail
    total = Fraction(0)
    for value, chance in first.items():
        below = [other for other in tails if other <= value - least]
        if below:
            total += chance * tails[max(below)]
    return total


def laplace_is(value: int, epsilon: float) -> float:
    """P[Y = value] for discrete Laplace noise of loss epsilon."""
    return math.tanh(epsilon / 2) * math.exp(-epsilon * abs(value))


def laplace_reaches(least: int, epsilon: float) -> float:
    """P[Y ≥ least]."""
    if least >= 1:
        return math.exp(-epsilon * least) / (1 + math.exp(-epsilon))
    return 1 - laplace_reaches(1 - least, epsilon)

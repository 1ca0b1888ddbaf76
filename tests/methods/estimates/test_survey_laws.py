"""Counts of a survey of a fixed size are more concentrated than the binomial law that intervals invert.

The class has N of M people, n are asked and each kept with probability t: hypergeometric, then thinned.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from math import comb

import numpy as np

from crowdblend.methods.estimates.acceptance import acceptance, last_tested
from crowdblend.methods.estimates.laws import ExactCounts
from tests.cases import for_each

_LOGS = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 8_001)))])


def exact(members: int, asked: int, people: int, thin: Fraction) -> list[Fraction]:
    """Return the law of the published count."""
    law = [Fraction(0)] * (members + 1)
    for x in range(max(0, asked + members - people), min(members, asked) + 1):
        chance = Fraction(comb(members, x) * comb(people - members, asked - x), comb(people, asked))
        for v in range(x + 1):
            law[v] += chance * comb(x, v) * thin**v * (1 - thin) ** (x - v)
    return law


def worlds() -> Iterator[tuple[int, int, int, Fraction]]:
    for people in (3, 6, 9):
        for members in range(1, people + 1):
            for asked in range(1, people + 1):
                yield from ((members, asked, people, Fraction(t, 10)) for t in (3, 9, 10))


def test_the_ratio_to_the_binomial_law_is_log_concave() -> None:
    """So it is above any constant on an interval: what the survey makes more probable lies in the middle."""
    tried = 0
    for members, asked, people, thin in worlds():
        rate = Fraction(asked, people) * thin
        if rate == 1:
            continue
        law = exact(members, asked, people, thin)
        same_mean = [comb(members, v) * rate**v * (1 - rate) ** (members - v) for v in range(members + 1)]
        assert sum(v * p for v, p in enumerate(law)) == members * rate
        ratio = [p / q for p, q in zip(law, same_mean, strict=True)]
        assert all(b * b >= a * c for a, b, c in zip(ratio, ratio[1:], ratio[2:], strict=False))
        positive = [v for v, one in enumerate(ratio) if one]
        assert positive == list(range(positive[0], positive[-1] + 1))
        tried += 1
    assert tried > 200


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return _LOGS[n] - _LOGS[k] - _LOGS[n - k]


def kept(members: int, asked: int, people: int, thin: float) -> np.ndarray:
    """Return the same law in doubles, of large classes."""
    found = np.zeros(members + 1)
    numbers = np.arange(max(0, asked + members - people), min(members, asked) + 1)
    chances = np.exp(
        _log_choose(members, numbers)
        + _log_choose(people - members, asked - numbers)
        - _log_choose(people, np.array([asked]))
    )
    for x, chance in zip(numbers[chances > 1e-15], chances[chances > 1e-15], strict=True):
        v = np.arange(x + 1)
        found[: x + 1] += chance * np.exp(_log_choose(x, v) + v * math.log(thin) + (x - v) * math.log(1 - thin))
    return found


@for_each("k", [35, 300])
@for_each("share", [0.5, 1.0])
@for_each("thin", [0.9, 0.98])
def test_intervals_of_crowds_near_k_hold_where_nearly_everybody_is_asked(k: int, share: float, thin: float) -> None:
    """The case that the proof leaves open: k lies where the survey makes counts more probable."""
    people_asked = 0.98
    law, least = ExactCounts(k), 2.0
    tests = acceptance(law, people_asked * thin, 0.05)
    for deviations in np.linspace(-2, 5, 15):
        rate = people_asked * thin
        members = max(k, int(k / rate + deviations * math.sqrt(k * (1 - rate)) / rate))
        people = 50 * math.ceil(members / share / 50)
        masses = kept(members, round(people_asked * people), people, thin)[k:]
        values = np.arange(k, members + 1)
        assert members <= last_tested(law)
        holds = (tests.low(values) <= members) & (members <= tests.high(values))
        least = min(least, float(masses[holds].sum() / masses.sum()))
    assert least >= 0.95

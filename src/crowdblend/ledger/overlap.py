"""Overlap of two sources, compared with that of independent samples.

Theorem. Let two samples of one population be drawn independently, and nobody be in the second one with more than
probability r. Of n people of the first sample, chosen without looking at the second one, at most Binomial(n, r) are in
both, in the sense of stochastic order.
Proof. Given the first sample, whether each of the n is in the second one is an independent coin of probability at most
r. ∎

The people of a sketch are chosen by a hash that knows no sample. So an overlap beyond the quantile of that binomial
shows, except with probability `FALSE_ALARM`, that the samples are not independent. A table from which we draw ourselves
holds everybody, r = 1: it is compared with a table that was already drawn in one direction only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from crowdblend.ledger.identity import Sketch
from crowdblend.ledger.number_places import numbers_at

FALSE_ALARM = 1e-9
"""The probability with which two independent samples are taken for one, in each of two directions."""
CHANCE = 1e-6
"""The probability with which ids of other people, spread evenly, are taken for ids of the same people."""
_SIGMAS = 6
NEARLY = 0.9
"""The share of people or rows in common from which on two sources are nearly the same."""
_COPY = 0.1
"""A copy differs by at most this share of what independent samples differ by."""
_MANY, _SELDOM = 30, 1.5


def comparable(one: Sketch, other: Sketch) -> bool:
    """Return whether two sketches are comparable: of people, of one column, or of equal columns."""
    if "rows" in (one.kind, other.kind):
        return one.kind == other.kind and one.anchor == other.anchor
    return (one.of_people and other.of_people) or one.anchor == other.anchor


def tells_apart(one: Sketch, other: Sketch) -> bool:
    """Return whether most rows of both sources are unique, so that equal rows are a copy."""
    return all(
        len(counts) >= _MANY and sum(counts.values()) <= _SELDOM * len(counts) for counts in _common_level(one, other)
    )


def have_in_common(one: Sketch, other: Sketch) -> bool:
    """Return whether any mark is in both."""
    first, second = _common_level(one, other)
    return not first.keys().isdisjoint(second.keys())


def nearly_equal(one: Sketch, other: Sketch, rates: tuple[float, float] = (0.0, 0.0)) -> bool:
    """Return whether at least nine of ten people or rows are in both; people count once, rows as often as they occur.

    Rows that many people share are in any two tables: of these a copy has more nearly the same number than two tables
    of independent people, or samples at these rates, would have.
    """
    first, second = _common_level(one, other)
    common = sum(min(first[mark], second[mark]) for mark in first.keys() & second.keys())
    union = sum(first.values()) + sum(second.values()) - common
    if not common or common < NEARLY * union:
        return False
    return one.kind != "rows" or first == second or _closer_than_independent(first, second, rates)


def too_much_in_common(one: Sketch, other: Sketch, rates: tuple[float, float]) -> bool:
    """Return whether independent samples, whom nobody joins with more than these probabilities, would overlap less."""
    first, second = _common_level(one, other)
    common = len(first.keys() & second.keys())
    if not common:
        return False
    if first == second:
        return True
    if not (one.of_people and other.of_people):  # a column that tells no persons apart may have fewer values
        return nearly_equal(one, other, rates) or (one.kind == "rows" and _too_many_rows(one, other, rates))
    return tail(len(first), rates[1], common) < FALSE_ALARM or tail(len(second), rates[0], common) < FALSE_ALARM


def agree_by_chance(one: Sketch, other: Sketch) -> bool:
    """Return whether two tables have ids in common that are whole numbers, and no more of them than chance gives.

    The numbers within the spans of both tables are divided into eighths of a power of two. Were the people others, and
    the ids of each table spread evenly over such a part, a and b ids among its w numbers would agree in a·b/w on
    average. Their sum over all parts is exceeded by as much as is seen with probability at most e^(−n·KL), n the most
    that can agree (Hoeffding 1963, Theorems 1 and 4). A probability below `CHANCE` shows that people are the same. A
    sketch of a part of all numbers knows a, b and w to six standard deviations only: the numbers are taken to be as
    few, and the ids as many.
    """
    level = max(one.level, other.level)
    first, second = one.places(level), other.places(level)
    common = first.keys() & second.keys()
    if not common or one.span is None or other.span is None or any(first[mark] is None for mark in common):
        return False
    each, beside = Counter(first.values()), Counter(second.values())
    expected, most = 0.0, 0.0
    for place in each.keys() & beside.keys():
        if place is not None and (width := _width(place, one.span, other.span)):
            here = _at_most(each[place], width / _width(place, one.span))
            there = _at_most(beside[place], width / _width(place, other.span))
            numbers = width / 2**level
            if level:
                numbers = max(numbers - _SIGMAS * math.sqrt(numbers), here, there)
            most += min(here, there)
            expected += min(here, there, here * there / numbers)
    return _exceeding(len(common), most, expected) >= CHANCE


def _width(place: int, *spans: tuple[int, int]) -> int:
    """Return how many numbers of a place are within all spans."""
    first, last = numbers_at(place)
    return max(0, min(last, *(span[1] for span in spans)) - max(first, *(span[0] for span in spans)) + 1)


def _at_most(count: int, share: float) -> float:
    """Return how many of some ids are in a share of their numbers, up to six standard deviations."""
    return min(count, count * share + _SIGMAS * math.sqrt(count * share * (1 - share)))


def _exceeding(number: int, most: float, average: float) -> float:
    """Return a bound on the probability that of `most` ids `number` agree, if `average` do on average."""
    if number <= average:
        return 1.0
    if number > most or not average:
        return 0.0
    share, mean = number / most, average / most
    divergence = share * math.log(share / mean)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - mean))
    return math.exp(-most * divergence)


def tail(n: int, rate: float, least: int) -> float:
    """Return the probability that a Binomial(n, rate) is at least `least`.

    >>> round(tail(10, 0.5, 9), 6) == round(11 / 1024, 6)
    True
    """
    if least <= 0 or rate >= 1:
        return 1.0
    odds = rate / (1 - rate)
    log_term = math.lgamma(n + 1) - math.lgamma(least + 1) - math.lgamma(n - least + 1)
    log_term += least * math.log(rate) + (n - least) * math.log1p(-rate)
    term, total = 1.0, 1.0
    for successes in range(least, n):
        term *= (n - successes) / (successes + 1) * odds
        total += term
        if term < 1e-17 * total:
            break
    return min(1.0, math.exp(min(0.0, log_term + math.log(total))))


def _too_many_rows(one: Sketch, other: Sketch, rates: tuple[float, float]) -> bool:
    """Return whether mostly unique rows are in both more often than people and twins would be.

    Of N people with equal rows, samples at rates r and r' have r·r'·N(N−1) pairs of different people in common on
    average, and the first one alone has r²·N(N−1): so its own twins tell how many rows are equal by coincidence. Where
    the tables differ in size, those of the larger one tell it too: how often another row is equal to one of its rows.
    Three times as many are allowed, and some more where it has few.
    """
    if not tells_apart(one, other):
        return False
    first, second = _common_level(one, other)
    common = len(first.keys() & second.keys())
    for counts, beside, own, others in ((first, second, *rates), (second, first, *rates[::-1])):
        larger = max(1.0, others / own)
        by_size = sum(counts.values()) / sum(beside.values())
        coincidences = max(_twins(counts.values()) * larger, _twins(beside.values()) * by_size)
        twins = math.ceil(3 * coincidences + _MANY * larger)
        if tail(len(counts), others, common - twins) < FALSE_ALARM:
            return True
    return False


def _twins(counts: Iterable[int]) -> int:
    """Return the number of pairs of equal rows, each in both orders."""
    return sum(count * (count - 1) for count in counts)


def _common_level(one: Sketch, other: Sketch) -> tuple[dict[int, int], dict[int, int]]:
    level = max(one.level, other.level)
    return one.at(level), other.at(level)


def _closer_than_independent(first: dict[int, int], second: dict[int, int], rates: tuple[float, float]) -> bool:
    """Return whether the numbers of equal rows differ by less than a tenth of what independent samples show.

    Of s equal rows in both tables together, about s/(r₁+r₂) are in the population, so that the difference of the two
    numbers has the mean s·|r₁−r₂|/(r₁+r₂) and the variance s·(r₁(1−r₁)+r₂(1−r₂))/(r₁+r₂), which tends to s for small
    rates.
    """
    difference = sum(abs(first.get(mark, 0) - second.get(mark, 0)) for mark in first.keys() | second.keys())
    spread = sum(rate * (1 - rate) for rate in rates) / sum(rates) if sum(rates) else 1.0
    shift = abs(rates[0] - rates[1]) / sum(rates) if sum(rates) else 0.0
    expected = 0.0
    for mark in first.keys() | second.keys():
        both = first.get(mark, 0) + second.get(mark, 0)
        expected += max(min(both * spread, math.sqrt(both * spread)), both * shift)
    return difference <= _COPY * expected

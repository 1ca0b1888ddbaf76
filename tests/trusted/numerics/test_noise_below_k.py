"""Noise below k, exact counts above: the divergence against a plain enumeration of outputs."""

from fractions import Fraction

import pytest

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics import noise_below_k
from crowdblend.trusted.numerics.arithmetic import sampled_factors
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

LARGEST = 26
FAR = 30


def _published(k: int, a: Fraction, count: int, most: int, flagged: bool) -> dict[object, Fraction]:
    """What is published of a count."""
    if count >= k:
        return {("exact", count) if flagged else count: Fraction(1)}
    near = range(-FAR, most + FAR)
    return {("noisy", y) if flagged else y: (1 - a) / (1 + a) * a ** abs(y - count) for y in near}


def _divergence(here: dict[object, Fraction], there: dict[object, Fraction], growth: Fraction) -> Fraction:
    return sum((max(Fraction(0), mass - growth * there.get(y, Fraction(0))) for y, mass in here.items()), Fraction(0))


def test_beyond_the_largest_class_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_below_k, "LARGEST_CLASS", 4)
    with pytest.raises(NotProved, match="4 people"):
        noise_below_k.spliced_divergence(exact, 3, Fraction(1, 4), Fraction(1, 2), Fraction(3, 2), flagged=True)


@for_each("flagged", [False, True])
@for_each(("k", "others", "a"), [(1, "1/9", "1/3"), (2, "1/5", "1/10"), (3, "1/3", "1/2"), (2, "3/4", "1/4")], daily=2)
def test_the_gaps_are_those_of_a_person_who_is_surely_there(k: int, others: str, a: str, flagged: bool) -> None:
    """Everybody else is there with another probability than the person; both directions at factors of their own."""
    rate, ratio, factors = Fraction(others), Fraction(a), (Fraction(3), Fraction(7, 2))
    brute = [Fraction(0), Fraction(0)]
    for n in range(LARGEST):
        laws: list[dict[object, Fraction]] = [{}, {}]
        for j in range(n + 1):
            for law, count in zip(laws, (j + 1, j), strict=True):
                for y, mass in _published(k, ratio, count, n + 1, flagged).items():
                    law[y] = law.get(y, Fraction(0)) + exact.pmf(n, j, rate) * mass
        brute[0] = max(brute[0], _divergence(laws[0], laws[1], factors[0]))
        brute[1] = max(brute[1], _divergence(laws[1], laws[0], factors[1]))
    found = noise_below_k.spliced_gaps(exact, k, rate, ratio, factors, (Fraction(1), Fraction(1)), flagged=flagged)
    # What is small against the other direction need not be sharp; the enumeration leaves out what is far.
    assert abs(max(found) - max(brute)) <= Fraction(1, 10**8)
    assert all(bound + Fraction(1, 10**8) >= true for bound, true in zip(found, brute, strict=True))


@for_each(("p", "growth"), [("1/8", "9/8"), ("7/8", "3/2"), ("1/10", "101/100"), ("3/10", "101/100")])
def test_the_bound_for_larger_classes_is_the_divergence_of_plain_counts_both_ways(p: str, growth: str) -> None:
    chance, factor, downward = Fraction(p), Fraction(growth), 0
    for n in (1, 2, 3, 8):
        fewer, more = ({j: exact.pmf(size, j, chance) for j in range(size + 1)} for size in (n - 1, n))
        up, down = _divergence(more, fewer, factor), _divergence(fewer, more, factor)
        gain, factors = sampled_factors(exact, chance, factor)
        counts = [exact.pmf(n - 1, j, chance) for j in range(n)]
        gaps = noise_below_k._plain_divergences(exact, counts, factors)
        assert (chance * gaps[0], gain * gaps[1]) == (up, down)
        downward += down > up
    assert downward == (factor == Fraction(101, 100))

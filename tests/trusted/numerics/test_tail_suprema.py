"""Suprema of binomial tails beyond a line, against a scan of every n in exact fractions."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from scipy.stats import binom

from crowdblend.trusted.numerics import balls, tail_suprema
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

SCANNED = 260


def _upper(n: int, least: int, p: Fraction) -> Fraction:
    return sum((exact.pmf(n, i, p) for i in range(max(0, least), n + 1)), Fraction(0))


def _lower(n: int, below: Fraction, p: Fraction) -> Fraction:
    return sum((exact.pmf(n, i, p) for i in range(n + 1) if i < below), Fraction(0))


@for_each("person", [0, 1])
@for_each(
    ("first", "slope", "p"),
    [
        (0, 0.5, 0.25),
        (3, 0.5, 0.25),
        (7, 0.6875, 0.5),
        (2, 0.875, 0.125),
        (12, 0.3, 0.125),
        # The largest value is at the second tooth: a scan that ends too early misses it.
        (30, 0.4375, 0.3125),
        (20, 0.45703125, 0.2890625),
    ],
    daily=4,
)
def test_rising_tail_is_the_supremum(first: int, slope: float, p: float, person: int) -> None:
    line, rate = Fraction(slope), Fraction(p)
    brute = max(
        _upper(n, math.floor(line * (n + person)) + 1 - person, rate)
        for n in range(SCANNED if slope == 0.3 else 120)
        if math.floor(line * (n + person)) >= first
    )
    with ctx.workprec(200):
        found = tail_suprema.rising_tail(balls, first, arb(slope), arb(p), person)
    assert brute <= Fraction(balls.round_up(found)) <= brute * (1 + Fraction(1, 10**12))


def test_a_line_below_the_mean_proves_nothing() -> None:
    assert tail_suprema.rising_tail(balls, 3, arb(0.2), arb(0.3), 0) == 1


def test_a_scan_that_is_cut_short_returns_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    with ctx.workprec(200):
        full = tail_suprema.rising_tail(balls, 4, arb(0.35), arb(0.25), 0)
        monkeypatch.setattr(tail_suprema, "MOST_STEPS", 2)
        short = tail_suprema.rising_tail(balls, 4, arb(0.35), arb(0.25), 0)
    assert short >= full


CROSSINGS = [
    # crowd, q, w, line, p, v
    (3, 0.5, 0.5, 0.25, 0.5, 0.5),
    (2, 0.3125, 0.3125, 0.125, 0.25, 0.125),
    (5, 0.625, 0.875, 0.375, 0.5, 0.75),
    (0, 0.5, 0.25, 0.125, 0.5, 0.5),
    # The minimum rises again after it has fallen: a scan that ends too early misses that.
    (12, 0.96875, 0.25, 0.75, 0.90625, 0.65625),
    (5, 0.984375, 0.609375, 0.765625, 0.96875, 0.078125),
]


@for_each(("crowd", "q", "w", "line", "p", "v"), CROSSINGS, daily=3)
def test_crossing_tails_is_the_supremum(crowd: int, q: float, w: float, line: float, p: float, v: float) -> None:
    scanned = max(
        min(Fraction(w) * _upper(n, crowd, Fraction(q)), Fraction(v) * _lower(n, Fraction(line) * (n + 1), Fraction(p)))
        for n in range(120)
    )
    for floor in (0.0, 0.001, 0.1):
        brute = max(Fraction(floor), scanned)
        with ctx.workprec(200):
            found = tail_suprema.crossing_tails(balls, arb(floor), (crowd, arb(q), arb(w)), (arb(line), arb(p), arb(v)))
        assert brute <= Fraction(balls.round_up(found)) <= brute * (1 + Fraction(1, 10**12)), floor


def test_a_line_above_the_mean_costs_the_smaller_weight() -> None:
    found = tail_suprema.crossing_tails(balls, arb(0.1), (3, arb(0.5), arb(0.5)), (arb(0.6), arb(0.5), arb(0.25)))
    assert found.contains(0.25)
    assert float(found.upper()) == pytest.approx(0.25, rel=1e-8)


def test_a_crossing_that_is_cut_short_returns_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (balls, arb(0), (6, arb(0.5), arb(0.5)), (arb(0.45), arb(0.5), arb(0.5)))
    with ctx.workprec(200):
        full = tail_suprema.crossing_tails(*arguments)
        monkeypatch.setattr(tail_suprema, "MOST_STEPS", 3)
        short = tail_suprema.crossing_tails(*arguments)
    assert short.upper() >= full


def _falls(_calc: object, n: arb, *_: object) -> arb:
    """In the place of Chernoff's bound: shows where it was asked."""
    return 1 / (1000 + n)


@pytest.mark.parametrize("person", [0, 1])
def test_what_is_not_scanned_is_bounded_from_the_next_tooth_on(person: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_suprema, "_affordable", lambda n: 4)
    monkeypatch.setattr(tail_suprema, "_beyond", _falls)
    monkeypatch.setattr(tail_suprema, "upper_tail", lambda *_: arb(0))
    p, slope, first = arb(1) / 4, arb(1) / 2, 3
    found = tail_suprema.rising_tail(balls, first, slope, p, person)
    # Teeth 3, 4, 5 and 6 were scanned; the next begins at n + person = 7/slope, and n is at least one less.
    assert float(found) == pytest.approx(1 / (1000 + 13) * 4**person, rel=1e-12)


def test_what_is_not_scanned_of_crossing_tails_is_bounded_from_the_next_size_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tail_suprema, "_affordable", lambda n: 4)
    monkeypatch.setattr(tail_suprema, "_beyond", _falls)
    monkeypatch.setattr(tail_suprema, "upper_tail", lambda calc, n, *_: arb(int(n >= 7)))
    monkeypatch.setattr(tail_suprema, "lower_tail", lambda *_: arb(0))
    found = tail_suprema.crossing_tails(balls, arb(0), (5, arb(1) / 2, arb(1)), (arb(1) / 8, arb(1) / 4, arb(1) / 2))
    # The tails cross at 7, and 7 to 10 were scanned; one of n + 1 is a sure member, who costs 1/(1 − p).
    assert float(found) == pytest.approx(0.5 / (1000 + 11) / 0.75, rel=1e-12)


@for_each(("n", "slope", "p"), [(4, 0.7, 0.6), (30, 0.5, 0.4), (300, 0.3, 0.25), (50, 0.9, 0.2)])
def test_the_sharpened_bound_of_chernoff_is_one_and_is_sharpened(n: int, slope: float, p: float) -> None:
    decay = slope * math.log(slope / p) + (1 - slope) * math.log((1 - slope) / (1 - p))
    found = float(tail_suprema._beyond(balls, arb(n), arb(slope), arb(p), arb(decay)))
    assert max(binom.sf(math.floor(slope * m), m, p) for m in range(n, n + 200)) <= found
    room = slope * ((1 - slope) * n - 1)
    chernoff, ratio = math.exp(-n * decay), p * (1 - slope) / (slope * (1 - p))
    assert found == pytest.approx(min(chernoff, chernoff / ((1 - ratio) * math.sqrt(6.28 * room))), rel=1e-9)

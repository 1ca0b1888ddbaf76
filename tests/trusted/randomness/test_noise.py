import itertools
from collections import Counter
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import SeededSource, discrete_laplace, noise, rational
from crowdblend.trusted.randomness.digits import digit, low_digits
from crowdblend.trusted.randomness.noise import BLOCK, LaplaceStream, differs_from_zero, geometric, reaches
from tests.cases import for_each

from .goodness import fits, fits_share, fits_whole_numbers
from .tape import Tape

EPSILONS = [0.01, 0.1, 0.5, 1.0, 3.0, 14.0]


def geometric_law(a, n):
    return [(1 - a) * a**g for g in range(n)]


def laplace_law(a, far):
    return [(1 - a) / (1 + a) * a ** abs(y) for y in range(-far, far + 1)]


@for_each("a", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 100)])
@for_each("m", [0, 1, 4])
def test_independent_digits_make_a_geometric_number(a, m):
    """The theorem in fractions: m independent low digits and a geometric number of higher ones."""
    for high in range(3):
        for low in range(2**m):
            ones = [low >> i & 1 for i in range(m)]
            mass = (1 - a**2**m) * a ** (2**m * high)
            for i, one in enumerate(ones):
                heads = a**2**i / (1 + a**2**i)
                mass *= heads if one else 1 - heads
            assert mass == (1 - a) * a ** (low + (high << m))


def test_the_probability_of_a_digit():
    ratio = Fraction(3, 7)
    for i in range(6):
        expected = ratio**2**i / (1 + ratio**2**i)
        lower, upper = digit(lambda i: arb(fmpq(3, 7)) ** 2**i, i)(200)
        assert lower <= expected * 2**200 <= upper <= lower + 2


def test_digits_are_put_in_their_places():
    """Every stream for two short digit probabilities, once each: the joint law in fractions."""
    law: Counter[Any] = Counter()
    for looks in itertools.product(range(4), repeat=2):
        tape = Tape(b"".join((look << 14).to_bytes(2, "little") for look in looks))
        law[int(low_digits(1, [rational(0.25), rational(0.75)], tape)[0])] += Fraction(1, 16)  # type: ignore[assignment]
    assert law == {0: Fraction(3, 16), 1: Fraction(1, 16), 2: Fraction(9, 16), 3: Fraction(3, 16)}


@for_each("epsilon", EPSILONS, daily=3)
def test_geometric_draws_fit_to_the_tails(epsilon):
    a = exp(-epsilon)
    draws = geometric(3_000_000, epsilon, SeededSource(1))
    assert draws.min() >= 0
    assert fits_whole_numbers(draws, geometric_law(a, int(20 / epsilon) + 2), 0)


@for_each("epsilon", EPSILONS, daily=3)
def test_laplace_draws_fit_to_the_tails(epsilon):
    a, far = exp(-epsilon), int(20 / epsilon) + 2
    draws = discrete_laplace(3_000_000, epsilon, SeededSource(2))
    assert fits_whole_numbers(draws, laplace_law(a, far), -far)


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_each_rare_tail_has_its_own_probability(epsilon):
    n, a = 4_000_000, exp(-epsilon)
    draws = discrete_laplace(n, epsilon, SeededSource(3))
    for tail in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        t = int(-np.log(tail) / epsilon)
        share = a**t / (1 + a)
        assert fits_share(int((draws >= t).sum()), n, share)
        assert fits_share(int((draws <= -t).sum()), n, share)


@for_each("rare", [0, 1, 2], daily=2)
def test_the_digits_drawn_one_at_a_time_are_right_too(monkeypatch, rare):
    # With a low limit most of a number is in the digits that are rare in use.
    monkeypatch.setattr(noise, "RARE", rare)
    # The cache may know the law with the usual limit.
    law = noise._Law(0.5)
    assert 2**law._levels * 0.5 < 2 * max(rare, 1)
    draws = law.geometric(100_000, SeededSource(4))
    assert fits_whole_numbers(draws, geometric_law(exp(-0.5), 60), 0)


@for_each("epsilon", [0.25, 1.0, 3.0])
def test_no_tail_is_cut_off(epsilon):
    """All coins heads: a number beyond every digit that is drawn at once, as large as the coins say."""
    law = noise._law(epsilon)
    heads = 5
    # Two bytes for every digit, and a word for each whose probability they do not tell from 0.
    first = sum(2 + 8 * (coin(16)[0] == 0) for coin in (*law._digits, law._more))
    tape = Tape(bytes(first) + bytes(8 * heads) + b"\xff" * 8)
    assert law.geometric(1, tape).tolist() == [((heads + 1) << law._levels) + (1 << law._levels) - 1]
    assert (heads << law._levels) * epsilon >= 12 * heads


def test_a_law_is_remembered_by_its_epsilon():
    assert noise._law(0.75) is noise._law(0.75)
    assert noise._law(0.75).nonzero(64) != noise._law(0.5).nonzero(64)


def test_neighbouring_values_are_independent():
    draws = discrete_laplace(2_000_000, 1.0, SeededSource(5))
    near = np.clip(draws, -2, 2) + 2
    a = exp(-1.0)
    middle = laplace_law(a, 1)
    law = np.array([a**2 / (1 + a), *middle, a**2 / (1 + a)])
    assert fits(np.bincount(5 * near[::2] + near[1::2], minlength=25), np.outer(law, law).ravel())


def test_tiny_and_huge_epsilons():
    assert not discrete_laplace(100_000, 800.0, SeededSource(6)).any()
    assert not discrete_laplace(100_000, 1e308, SeededSource(6)).any()
    wide = discrete_laplace(100_000, 2.0**-40, SeededSource(6))
    assert fits_share(int((np.abs(wide) > 2**40).sum()), 100_000, exp(-1))


def test_an_epsilon_is_its_exact_value():
    as_fraction = discrete_laplace(1000, Fraction(0.1), SeededSource(7))
    assert (as_fraction == discrete_laplace(1000, 0.1, SeededSource(7))).all()
    assert (as_fraction == discrete_laplace(1000, fmpq(*(0.1).as_integer_ratio()), SeededSource(7))).all()
    assert (discrete_laplace(1000, 1, SeededSource(7)) == discrete_laplace(1000, 1.0, SeededSource(7))).all()


@pytest.mark.parametrize("draw", [geometric, discrete_laplace])
def test_blocks_follow_each_other(draw):
    whole = draw(2 * BLOCK + 3, 0.3, SeededSource(8))
    source = SeededSource(8)
    parts = [draw(n, 0.3, source) for n in (BLOCK, BLOCK, 3)]
    assert (whole == np.concatenate(parts)).all()
    assert len(draw(0, 0.3, source)) == 0


def test_a_stream_is_the_same_however_it_is_cut():
    whole = discrete_laplace(2 * BLOCK + 3, 0.3, SeededSource(9))
    stream = LaplaceStream(len(whole), 0.3, SeededSource(9))
    cuts = [0, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 1, 2 * BLOCK + 1, len(whole)]
    assert (whole == np.concatenate([stream.take(stop - start) for start, stop in itertools.pairwise(cuts)])).all()


@for_each("threshold", [-3, 0, 1, 2, 40])
def test_the_probability_of_reaching_a_threshold(threshold):
    epsilon = Fraction(1, 3)
    with ctx.workprec(400):
        a = (-arb(fmpq(1, 3))).exp()
        below_one = [(1 - a) / (1 + a) * a ** abs(y) for y in range(min(threshold, 1), 1)]
        expected = sum(below_one, a ** max(threshold, 1) / (1 + a))
        lower, upper = reaches(threshold, epsilon)(100)
        assert lower <= expected * arb(2) ** 100
        assert expected * arb(2) ** 100 <= upper


def test_the_probability_of_not_being_zero():
    with ctx.workprec(400):
        a = (-arb(fmpq(1, 3))).exp()
        expected = 2 * a / (1 + a) * arb(2) ** 100
    lower, upper = differs_from_zero(Fraction(1, 3))(100)
    assert lower <= expected <= upper


@for_each("epsilon", [0.0, -1.0, float("inf"), float("nan"), 1e-13, fmpq(0), Fraction(-1, 2)])
def test_wrong_epsilons_are_refused(epsilon):
    with pytest.raises(InvalidInput, match="epsilon must be"):
        discrete_laplace(1, epsilon, SeededSource(1))

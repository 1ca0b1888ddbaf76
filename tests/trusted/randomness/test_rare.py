from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom, poisson

from crowdblend.errors import InvalidInput
from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.randomness import SeededSource, rational, successes
from crowdblend.trusted.randomness.digits import digit
from crowdblend.trusted.randomness.noise import reaches
from crowdblend.trusted.randomness.probability import enclose
from crowdblend.trusted.randomness.rare import _Failure
from tests.cases import for_each

from .goodness import fits, fits_share, fits_whole_numbers
from .tape import Tape


@for_each(("rate", "size"), [(0.07, 20), (0.5, 5), (0.93, 6)])
def test_runs_of_trials_are_independent_binomials(rate, size):
    runs = 50_000
    places = successes(runs * size, rational(rate), SeededSource(1))
    assert (np.diff(places) > 0).all()
    counts = np.bincount(places // size, minlength=runs)
    assert len(counts) == runs
    law = binom.pmf(np.arange(size + 1), size, rate)
    assert fits_whole_numbers(counts, law, 0)
    low = np.minimum(counts, 2)
    pair_law = np.array([law[0], law[1], law[2:].sum()])
    assert fits(np.bincount(3 * low[::2] + low[1::2], minlength=9), np.outer(pair_law, pair_law).ravel())


def test_every_place_is_equally_likely():
    places = successes(10**18, rational(1e-13), SeededSource(2))
    assert fits(np.bincount(places // 10**16, minlength=100), np.full(100, 0.01))
    assert fits_share(len(places), 10**9, 1e-4)


@for_each(("trials", "rate"), [(10**18, 3e-18), (10**12, 2e-12), (7, 0.25)], daily=2)
def test_numbers_of_successes(trials, rate):
    source, law = SeededSource(3), rational(rate)
    draws = [len(successes(trials, law, source)) for _ in range(150)]
    top = np.arange(30)
    expected = binom.pmf(top, trials, rate) if trials < 100 else poisson.pmf(top, trials * rate)
    assert fits_whole_numbers(draws, expected, 0)


def test_a_real_probability():
    count = len(successes(10**9, reaches(8, 1.0), SeededSource(4)))
    assert fits_share(count, 10**9, np.exp(-8.0) / (1 + np.exp(-1.0)))


@for_each("trials", [0, 1, 2, 300, 2**62])
def test_certain_failure(trials):
    assert len(successes(trials, rational(0), SeededSource(6))) == 0


@for_each("trials", [0, 1, 2, 255, 256, 257, 2000])
def test_certain_success(trials):
    assert successes(trials, rational(1), SeededSource(6)).tolist() == list(range(trials))


def test_success_all_but_certain():
    nearly = enclose(lambda: 1 - arb(-300).exp())
    assert successes(500, nearly, SeededSource(6)).tolist() == list(range(500))


def test_a_single_trial():
    source = SeededSource(7)
    heads = sum(len(successes(1, rational(0.3), source)) for _ in range(2000))
    assert fits_share(heads, 2000, 0.3)


def test_the_end_is_not_passed_or_missed():
    """All-zero bits make every coin heads, so a gap is as long as can be: nothing is found, at any size."""
    for trials in (1, 2, 3, 2**31, 2**62 - 1, 2**62):
        assert len(successes(trials, rational(2.0**-70), Tape(bytes(2**17)))) == 0


@for_each("i", [0, 1, 30, 62])
def test_powers_of_the_failure_probability_stay_tight(i):
    lower, upper = digit(_Failure(rational(1e-18)).power, i)(80)
    assert upper - lower <= 2


def test_too_much_is_refused():
    with pytest.raises(InvalidInput, match="trials must be"):
        successes(2**62 + 1, rational(0.5), SeededSource(1))
    with pytest.raises(InvalidInput, match="2\\^32"):
        successes(10**12, rational(0.5), SeededSource(1))


@for_each("bits", [53, 64, 200])
def test_powers_of_a_failure_enclose_the_exact_ones(bits: int) -> None:
    """A third has no end in binary, so that a ball around its first digits alone would miss it."""
    failure = _Failure(rational(Fraction(1, 3)))
    for i in range(4):
        with precision(bits):
            ball = failure.power(i)
        with precision(2000):
            assert (ball * 3**2**i).contains(arb(2) ** 2**i)

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.trusted.randomness import SeededSource, rational
from crowdblend.trusted.randomness.probability import bernoulli, enclose, flips
from tests.cases import for_each

from .goodness import fits_share
from .tape import EndOfTapeError, Tape

EVERY_FIRST_LOOK = np.arange(2**16, dtype="<u2").tobytes()


def inverse_e():
    return arb(-1).exp()


def digits_of(compute, bits):
    """The first binary digits of a number, computed far beyond them."""
    with ctx.workprec(bits + 500):
        return int((compute() * arb(2) ** bits).floor().unique_fmpz())


@given(st.fractions(0, 1), st.integers(0, 300))
def test_rational_bounds_enclose(probability, bits):
    lower, upper = rational(probability)(bits)
    assert lower <= probability * 2**bits <= upper <= lower + 1


@for_each("bits", [0, 1, 16, 80, 144, 1000])
def test_ball_bounds_enclose(bits):
    lower, upper = enclose(inverse_e)(bits)
    assert lower <= digits_of(inverse_e, bits) < upper <= lower + 2


@for_each("numerator", [0, 1, 5, 32_768, 65_535, 65_536])
def test_a_short_probability_is_met_exactly(numerator):
    # Every stream of 16 bits once: no tie, so the share of heads is the probability.
    heads = flips(2**16, rational(Fraction(numerator, 2**16)), Tape(EVERY_FIRST_LOOK))
    assert heads.sum() == numerator


@for_each("further", [0, 1, 2**64 // 3, 2**64 // 3 + 1, 2**64 - 1])
def test_a_tie_is_settled_by_further_bits(further):
    # 1/3 = 0.0101…: the first look 21845 ties, and the next word is compared with 64 further digits.
    tape = Tape(EVERY_FIRST_LOOK + further.to_bytes(8, "little") + bytes(8))
    heads = flips(2**16, rational(Fraction(1, 3)), tape)
    assert heads[:21_845].all()
    assert not heads[21_846:].any()
    assert heads[21_845] == (further <= 2**64 // 3)


@for_each("more", [1, 2, 3])
@for_each("step", [-2, -1, 0, 1, 2])
def test_decisions_agree_with_exact_comparison(more, step):
    """A stream that follows the digits of e^{−1} and leaves them in the last place is decided by that place."""
    bits = 64 * more
    prefix = digits_of(inverse_e, bits) + step
    words = [prefix >> 64 * i & (2**64 - 1) for i in reversed(range(more))]
    tape = Tape.of_words(words)
    if step == 0:
        with pytest.raises(EndOfTapeError):
            bernoulli(enclose(inverse_e), tape)
    else:
        try:
            assert bernoulli(enclose(inverse_e), tape) == (step < 0)
        except EndOfTapeError:
            assert abs(step) == 1  # the ball may be two units wide: it may ask for more, never decide wrongly


def test_certain_coins():
    source = SeededSource(1)
    assert not flips(1000, rational(0), source).any()
    assert flips(1000, rational(1), source).all()
    assert bernoulli(rational(1.0), source)
    assert not bernoulli(rational(0.0), source)


@for_each("probability", [1e-5, 0.1, 1 / 3, 0.5, 0.999])
def test_shares_of_heads(probability):
    n = 1_000_000
    assert fits_share(int(flips(n, rational(probability), SeededSource(3)).sum()), n, probability)


def test_single_coins():
    source, coin = SeededSource(4), enclose(inverse_e)
    assert fits_share(sum(bernoulli(coin, source) for _ in range(50_000)), 50_000, 0.36787944117144233)


def test_no_coins():
    assert len(flips(0, rational(0.5), SeededSource(1))) == 0


@for_each("probability", [-0.1, 1.1, Fraction(7, 6)])
def test_impossible_probabilities_are_refused(probability):
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        rational(probability)


def test_a_ball_that_never_tightens_is_refused():
    with pytest.raises(NotProved):
        enclose(lambda: arb(0.5, 0.1))(16)

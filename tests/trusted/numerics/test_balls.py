"""Balls enclose the exact value, and rounding goes outward by at most one double."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics import arithmetic, balls
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

QUIET = settings(deadline=None, derandomize=True, max_examples=200)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def _fraction(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _encloses(ball: arb, value: Fraction, relative: float = 1e-25) -> bool:
    with ctx.workprec(4000):
        return bool(ball.contains(_fraction(value))) and float(ball.rad()) <= relative * float(abs(value))


CASES = [
    (n, j, p) for n in (0, 1, 2, 7, 40) for j in sorted({0, 1, n // 3, n // 2, n}) if j <= n for p in (0.03, 0.5, 0.9)
]


@for_each(("n", "j", "p"), CASES)
def test_pmf_and_mills_ratios_enclose_the_exact_fractions(n: int, j: int, p: float) -> None:
    for name in ("pmf", "above", "below"):
        value = getattr(exact, name)(n, j, Fraction(p))
        with ctx.workprec(128):
            ball = getattr(balls, name)(n, j, arb(p))
        assert _encloses(ball, value), name


@for_each(("n", "j", "p"), CASES)
def test_tails_enclose_the_exact_fractions(n: int, j: int, p: float) -> None:
    for tail, sizes in ((arithmetic.upper_tail, range(j, n + 1)), (arithmetic.lower_tail, range(j + 1))):
        value = sum((exact.pmf(n, i, Fraction(p)) for i in sizes), Fraction(0))
        with ctx.workprec(128):
            ball = tail(balls, n, j, arb(p))
        assert _encloses(ball, value)


@pytest.mark.parametrize("j", [-1, 6])
def test_no_mass_outside_the_range(j: int) -> None:
    assert balls.pmf(5, j, arb(0.3)) == 0


@for_each(("n", "j"), [(3000, 900), (3000, 400), (3000, 1500)], daily=2)
def test_a_cut_off_series_still_encloses(n: int, j: int) -> None:
    with ctx.workprec(64):
        above, below = balls.above(n, j, arb(0.3)), balls.below(n, j, arb(0.3))
    with ctx.workprec(1024):
        pmf = [balls.pmf(n, i, arb(0.3)) for i in range(n + 1)]
        assert above.contains(sum(pmf[j + 1 :], arb(0)) / pmf[j])
        assert balls.above(n, j, arb(0.3)).rel_accuracy_bits() > 900  # what was remembered with 64 bits is not used
        assert below.contains(sum(pmf[:j], arb(0)) / pmf[j])


@QUIET
@given(middle=st.floats(-1e300, 1e300), radius=st.floats(0, 1e-12))
def test_rounding_is_outward_and_tight(middle: float, radius: float) -> None:
    ball = arb(middle, abs(middle) * radius * 1e-3)
    up, down = balls.round_up(ball), balls.round_down(ball)
    assert arb(up) >= ball
    assert arb(down) <= ball
    # One double less and it would not be sure any more.
    assert not arb(math.nextafter(up, -math.inf)) >= ball
    assert not arb(math.nextafter(down, math.inf)) <= ball


@QUIET
@given(value=FINITE)
def test_doubles_round_to_themselves(value: float) -> None:
    assert balls.round_up(arb(value)) == value == balls.round_down(arb(value))


@QUIET
@given(numerator=st.integers(-(10**30), 10**30), denominator=st.integers(1, 10**30))
def test_fractions_round_to_the_neighbouring_doubles(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    with ctx.workprec(256):
        ball = arb(fmpq(numerator, denominator))
        down, up = balls.round_down(ball), balls.round_up(ball)
    assert Fraction(down) <= value <= Fraction(up)
    assert up - down <= math.ulp(float(value))


def test_what_no_double_is_small_enough_for_rounds_to_the_smallest() -> None:
    assert balls.round_up(arb(2) ** -5000) == 5e-324
    assert balls.round_down(arb(2) ** -5000) == 0.0


@QUIET
@given(value=st.fractions(-1000, 1000, max_denominator=50))
def test_ceilings_are_right_or_one_too_large_at_whole_numbers(value: Fraction) -> None:
    made = balls.ceil(arb(_fraction(value)))
    assert made == math.ceil(value) or (value.denominator == 1 and made == value + 1)


def test_a_wide_ball_has_no_ceiling() -> None:
    with pytest.raises(balls.UndecidedBall):
        balls.ceil(arb(0.5, 3))


@for_each("value", [arb(0), arb(-1), arb(0, 1), arb(0.5, 0.5)])
def test_what_may_be_zero_or_less_has_no_logarithm(value: arb) -> None:
    with pytest.raises(balls.UndecidedBall):
        balls.log(value)


def test_crowds_beyond_63_bits_are_refused() -> None:
    assert balls.pmf(2**63 - 1, 0, arb(0)) == 1
    with pytest.raises(NotProved, match=r"2\^63"):
        balls.pmf(2**63, 1, arb(0.5))


@for_each("value", [arb("inf"), arb("nan"), arb(2) ** 1024, arb(0, "inf")])
def test_what_is_no_finite_number_has_no_bound(value: arb) -> None:
    for rounded in (balls.round_up, balls.round_down):
        with pytest.raises(NotProved):
            rounded(value)


def test_precision_rises_until_cancellation_is_harmless() -> None:
    tiny = balls.enclose(lambda: (1 + arb(2) ** -900) - 1)
    assert tiny.contains(arb(2) ** -900)
    assert tiny.rel_accuracy_bits() >= balls.ENOUGH_BITS
    assert balls.upper_bound(lambda: (1 + arb(2) ** -900) - 1) == 2.0**-900


def test_what_no_precision_settles_is_not_proved() -> None:
    with pytest.raises(NotProved):
        balls.enclose(lambda: arb(1, 1))


def test_at_most_holds_everything_from_zero() -> None:
    assert balls.at_most(arb(3)).contains(0)
    assert balls.at_most(arb(3)).contains(3)
    assert balls.at_most(arb(3)).contains(1.7)


@pytest.mark.parametrize(("x", "p"), [(0.3, 0.1), (0.05, 0.4)])
def test_relative_entropy_bounds_the_tail(x: float, p: float) -> None:
    n = 200
    decay = arithmetic.relative_entropy(balls, arb(x), arb(p))
    tail = arithmetic.upper_tail if x > p else arithmetic.lower_tail
    assert tail(balls, n, int(n * x), arb(p)) <= (-n * decay).exp()
    assert arithmetic.relative_entropy(balls, arb(p), arb(p)).contains(0)


@for_each("n", [5, 300, 40_000])
@for_each("p", [1e-4, 0.1, 0.5, 0.97])
def test_long_sums_agree_with_short_ones(n: int, p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways to enclose one series: term by term, and as a hypergeometric function."""
    for j in {1, round(n * p), min(n - 1, round(n * p + 3 * (n * p) ** 0.5 + 1))}:
        with balls.precision(128):
            monkeypatch.setattr(balls, "LONG_SUM", 10**7)
            short = [ratio(n, j, arb(p)) for ratio in (balls.above, balls.below)]
            monkeypatch.setattr(balls, "LONG_SUM", 0)
            balls._above.cache_clear()
            long = [ratio(n, j, arb(p)) for ratio in (balls.above, balls.below)]
            balls._above.cache_clear()
        for one, other in zip(short, long, strict=True):
            assert one.overlaps(other)
            assert other == 0 or other.rel_accuracy_bits() > 50 or abs(other) < 1e-20


def test_what_stays_undecided_is_tried_with_8192_bits_before_it_is_given_up() -> None:
    tried = []

    def undecided() -> arb:
        tried.append(ctx.prec)
        raise balls.UndecidedBall

    with pytest.raises(NotProved):
        balls.enclose(undecided)
    assert tried == [128, 256, 512, 1024, 2048, 4096, 8192]

"""Exact distributions over finitely many outcomes, and how far two of them are apart.

`hockey_stick` is the definition of (ε, δ)-closeness solved for δ: the event that favours the left side most is the
one where left > growth·right, so no search over events is needed.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

from flint import arb, ctx, fmpq

from crowdblend.trusted.numerics.balls import round_down, round_up

Distribution = Mapping[Hashable, Fraction]

_BITS = 120


def hockey_stick(left: Distribution, right: Distribution, growth: Fraction) -> Fraction:
    """The largest Pr[left ∈ Y] − growth·Pr[right ∈ Y] over all events Y."""
    factor, total = _flint(growth), fmpq(0)
    for outcome, mass in left.items():
        gap = _flint(mass) - factor * _flint(right[outcome]) if outcome in right else _flint(mass)
        if gap > 0:
            total += gap
    return Fraction(int(total.p), int(total.q))


def _flint(value: Fraction) -> fmpq:
    """The same fraction where adding and multiplying are ten times as fast."""
    return fmpq(value.numerator, value.denominator)


def divergence(one: Distribution, other: Distribution, growth: Fraction) -> Fraction:
    """The least δ for which the two are (ln growth, δ)-close, in both directions."""
    return max(hockey_stick(one, other, growth), hockey_stick(other, one, growth))


def largest_divergence(pairs: Iterable[tuple[Distribution, Distribution]], growth: Fraction) -> Fraction:
    return max((divergence(one, other, growth) for one, other in pairs), default=Fraction(0))


def mix(parts: Iterable[tuple[Fraction, Distribution]]) -> dict[Hashable, Fraction]:
    """The distribution of drawing a part with its weight and then an outcome from it."""
    mixed: dict[Hashable, fmpq] = {}
    for weight, part in parts:
        share = _flint(weight)
        for outcome, mass in part.items():
            more = share * _flint(mass)
            mixed[outcome] = mixed[outcome] + more if outcome in mixed else more
    return {outcome: Fraction(int(mass.p), int(mass.q)) for outcome, mass in mixed.items()}


def both(one: Distribution, other: Distribution) -> dict[Hashable, Fraction]:
    """Two independent draws side by side."""
    return {(x, y): p * q for x, p in one.items() for y, q in other.items()}


def pushed(distribution: Distribution, computed: Callable[[Hashable], Hashable]) -> dict[Hashable, Fraction]:
    """Post-processing: the distribution of a function of the outcome."""
    return mix((mass, {computed(outcome): Fraction(1)}) for outcome, mass in distribution.items())


def surely(outcome: Hashable) -> dict[Hashable, Fraction]:
    return {outcome: Fraction(1)}


def epsilon_above(growth: Fraction) -> float:
    """A double ε with e^ε ≥ growth, and hardly more."""
    if growth == 1:
        return 0.0
    with ctx.workprec(_BITS):
        return round_up((arb(growth.numerator) / growth.denominator).log())


def growth_below(epsilon: float) -> Fraction:
    """A fraction ≤ e^ε that agrees with it to 35 digits: closeness at this factor proves closeness at ε."""
    if epsilon == 0:
        return Fraction(1)
    with ctx.workprec(_BITS):
        mantissa, exponent = arb(epsilon).exp().lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def double_above(value: Fraction) -> float:
    """The smallest double of at least the value."""
    with ctx.workprec(_BITS):
        return round_up(arb(value.numerator) / value.denominator)


def double_below(value: Fraction) -> float:
    """The largest double of at most the value."""
    with ctx.workprec(_BITS):
        return round_down(arb(value.numerator) / value.denominator)

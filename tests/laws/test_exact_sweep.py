"""The exact δ of suppression over the whole range of parameters, against direct sums at 420 bits.

Every class size gives a true lower bound, so none may exceed the result; and THEORY 3.3 says where the supremum
is: where the best threshold leaves k − 1.
"""

import math
from collections.abc import Iterator

from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending

BITS = 420


def _pmf(n: int, j: int, p: arb) -> arb:
    """Through log-gamma rather than through binomial coefficients."""
    if not 0 <= j <= n:
        return arb(0)
    ways = arb(n + 1).lgamma() - arb(j + 1).lgamma() - arb(n - j + 1).lgamma()
    return (ways + j * p.log() + (n - j) * (1 - p).log()).exp()


def _tail(n: int, j: int, p: arb, step: int) -> arb:
    """P[X > j] for step +1 and P[X < j] for step −1, term by term until the rest is a falling geometric series."""
    i, term, total = j, _pmf(n, j, p), arb(0)
    while 0 <= i + step <= n:
        ratio = arb(n - i) / (i + 1) * p / (1 - p) if step > 0 else arb(i) / (n - i + 1) * (1 - p) / p
        term, i = term * ratio, i + step
        total += term
        if ratio < 1 and term * ratio / (1 - ratio) < total * arb(2) ** -BITS:
            return total + arb(0).union(term * ratio / (1 - ratio))
    return total


def _floor(value: arb) -> int:
    """Near a whole number it may be off by one, which the neighbours that are tried make up for."""
    return math.floor(float(value))


def _up(n: int, k: int, p: arb, growth: arb) -> arb:
    best = arb(0)
    centre = max(k - 1, _floor((1 - (1 - p) / growth) * n))
    for j in {centre - 1, centre, centre + 1}:
        if k - 1 <= j <= n - 1:
            best = best.max(p * _pmf(n - 1, j, p) - (growth - 1) * _tail(n - 1, j, p, 1))
    return best


def _down(n: int, k: int, p: arb, growth: arb) -> arb:
    best = arb(0)
    centre = _floor((1 - growth * (1 - p)) * n)
    for J in {k - 1, centre - 1, centre, centre + 1}:
        if k - 1 <= J <= n - 1:
            f = _pmf(n - 1, J, p)
            best = best.max(growth * p * f - (growth - 1) * (f + _tail(n - 1, J, p, -1)))
    return best


def _peaks(k: int, p: arb, growth: arb) -> Iterator[int]:
    """The class sizes around (k − 1)/γ and (k − 1)/θ, up to which THEORY 3.3 finds the best threshold at k − 1."""
    for slope in (1 - (1 - p) / growth, 1 - growth * (1 - p)):
        if slope > 0:
            centre = _floor((k - 1) / slope)
            yield from (max(k, centre + offset) for offset in (-1, 0, 1, 2))


@settings(deadline=None, derandomize=True, max_examples=20)
@given(
    k=st.one_of(st.integers(1, 60), st.integers(1, 10_000)),
    rate=st.floats(1e-4, 0.99),
    epsilon=st.one_of(st.floats(1e-3, 10), st.floats(1e-3, 0.3)),
    elsewhere=st.lists(st.floats(0.2, 5), min_size=3, max_size=3),
)
def test_no_class_size_exceeds_the_exact_delta(k: int, rate: float, epsilon: float, elsewhere: list[float]) -> None:
    delta = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon).delta
    with ctx.workprec(BITS):
        p, growth = arb(rate), arb(epsilon).exp()
        peaks = set(_peaks(k, p, growth))
        others = {max(k, int(spread * peak)) for spread in elsewhere for peak in (min(peaks), k)}
        values = {n: _up(n, k, p, growth).max(_down(n, k, p, growth)) for n in peaks | others}
        assert all(value.lower() <= delta for value in values.values())
        best = max((values[n].lower() for n in peaks), key=float)
        assert delta >= 1e-300 or best <= arb("1e-299")
        if delta >= 1e-300:
            assert arb(delta) <= best * (1 + arb("1e-6"))

"""Integer noise and what it does to a count, by direct summation with exact tails.

Discrete Laplace noise with ratio a has P[Y = y] = (1−a)/(1+a)·a^|y|. Outside the range of the centres every such
distribution falls by the factor a per step, so all outcomes to the left of it can be one outcome and all to the
right another: within each, the ratio of any two distributions is constant, and no event can gain by splitting it.
"""

from collections.abc import Hashable
from fractions import Fraction

from . import fractions_arithmetic as exact
from .class_of_people import class_divergence, unchanged
from .distributions import divergence


def blurred(centre: int, ratio: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """A centre in [low, high] plus noise; what falls outside is grouped into two outcomes."""
    scale = (1 - ratio) / (1 + ratio)
    spread: dict[Hashable, Fraction] = {y: scale * ratio ** abs(y - centre) for y in range(low, high + 1)}
    spread["left"] = scale * ratio ** (centre - low + 1) / (1 - ratio)
    spread["right"] = scale * ratio ** (high - centre + 1) / (1 - ratio)
    return spread


def published_count(n: int, k: int, rate: Fraction, ratio: Fraction, top: int, flag: bool) -> dict[Hashable, Fraction]:
    """A sampled class of n: exact from k on, blurred below; with the flag an outcome says which it is."""
    output: dict[Hashable, Fraction] = {}
    for count in range(n + 1):
        chance = exact.pmf(n, count, rate)
        itself = {("exact", count) if flag else count: Fraction(1)}
        shown = itself if count >= k else blurred(count, ratio, 0, top)
        for outcome, mass in shown.items():
            output[outcome] = output.get(outcome, Fraction(0)) + chance * mass
    return output


def worst_blurred_class(k: int, rate: Fraction, ratio: Fraction, growth: Fraction, flag: bool) -> Fraction:
    """The supremum over n, which ends where the sampled count itself, unblurred, diverges by no more."""
    best, n = Fraction(0), 0
    while True:
        n += 1
        more, fewer = (published_count(m, k, rate, ratio, max(n, k - 1), flag) for m in (n, n - 1))
        best = max(best, divergence(more, fewer, growth))
        if class_divergence(unchanged, n, rate, growth) <= best:
            return best


def step_by_summation(a: Fraction, b: Fraction, growth: Fraction) -> Fraction:
    """The divergence between noise of ratio a around 0 and of ratio b around −1, both ways, term by term."""
    mass_a, mass_b = (1 - a) / (1 + a), (1 - b) / (1 + b)
    # Each side of the centres as (first term, ratio) of two geometric sequences.
    sides = [((mass_a, a), (mass_b * b, b)), ((mass_a * a, a), (mass_b, b))]
    up = sum(_excess(x, p, growth * y, q) for (x, p), (y, q) in sides)
    down = sum(_excess(y, q, growth * x, p) for (x, p), (y, q) in sides)
    return max(up, down)


def _excess(x: Fraction, p: Fraction, y: Fraction, q: Fraction) -> Fraction:
    """Σ(x·pⁱ − y·qⁱ)₊, summed until the sign can no longer change and then closed exactly."""
    total = Fraction(0)
    while True:
        if p <= q and x <= y:
            return total
        if p >= q and x >= y:
            return total + x / (1 - p) - y / (1 - q)
        total += max(x - y, Fraction(0))
        x, y = x * p, y * q

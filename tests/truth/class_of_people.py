"""One class of people, sampled by coins and published with small counts hidden: the divergence by enumeration.

Everything is kept in whole numbers over one denominator, which makes hundreds of exact cases cheap. The scan over
class sizes ends by proof: what is published is computed from the sampled count, whose own divergence between n and
n−1 people cannot grow with n, since adding one more independent coin to both sides is post-processing.
"""

import math
from collections.abc import Callable
from fractions import Fraction

Published = Callable[[list[int]], list[int]]


def suppressed_below(k: int) -> Published:
    """Counts 0, …, k−1 become one outcome."""
    return lambda counts: [sum(counts[:k]), *counts[k:]]


def unchanged(counts: list[int]) -> list[int]:
    return counts


def worst_class(k: int, rate: Fraction, growth: Fraction) -> Fraction:
    """The supremum over n of the divergence of suppression below k between n and n−1 people."""
    return _scan(suppressed_below(k), k, rate, growth)


def class_divergence(published: Published, n: int, rate: Fraction, growth: Fraction) -> Fraction:
    """The divergence, both ways, between what is published about n and about n−1 people."""
    a, b = rate.numerator, rate.denominator
    more = published([math.comb(n, j) * a**j * (b - a) ** (n - j) for j in range(n + 1)])
    # The same denominator b^n for both sides.
    fewer = published([math.comb(n - 1, j) * a**j * (b - a) ** (n - 1 - j) * b for j in range(n)])
    fewer += [0] * (len(more) - len(fewer))
    g, h = growth.numerator, growth.denominator
    up = sum(max(0, h * x - g * y) for x, y in zip(more, fewer, strict=True))
    down = sum(max(0, h * y - g * x) for x, y in zip(more, fewer, strict=True))
    return Fraction(max(up, down), h * b**n)


def _scan(published: Published, k: int, rate: Fraction, growth: Fraction) -> Fraction:
    best, n = Fraction(0), 0
    while True:
        n += 1
        best = max(best, class_divergence(published, n, rate, growth))
        if n >= k and class_divergence(unchanged, n, rate, growth) <= best:
            return best

"""Shift of the expected number of published people of a class by one more person.

Of a class of n people, sampling at rate β and suppression below k publish f(n) = E[X·1(X ≥ k)] people on average,
X ~ Bin(n, β).

Theorem. f(n + 1) − f(n) = g(n) = β(P[Y ≥ k−1] + (k−1)·P[Y = k−1]) with Y ~ Bin(n, β). g does not fall before
n* = ⌊k/β⌋ − 1 and does not rise from there on, so among windows of m neighbouring sizes one that holds n* has the
largest sum, and f(n + m) − f(n) is at most the largest sum of such a window.

Proof. With the further person's coin B, E[(Y+B)·1(Y+B ≥ k)] − E[Y·1(Y ≥ k)] = β·E[(Y+1)·1(Y ≥ k−1) − Y·1(Y ≥ k)],
which is g(n). Write p(j) for P[Y = j] at n. From n to n + 1 the tail P[Y ≥ k−1] grows by β·p(k−2), and P[Y = k−1] by
β(p(k−2) − p(k−1)), so g grows by β²(k·p(k−2) − (k−1)·p(k−1)). As p(k−1)/p(k−2) = (n−k+2)β/((k−1)(1−β)), that is not
negative exactly while n ≤ k/β − 2. A window that lies before n* gains from a step to the right, one behind n* from a
step to the left. ∎
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import accumulate

from flint import arb

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics.balls import above, pmf, precision

UNITS = 1 << 12
"""One person is counted as this many units, so that scores are whole numbers."""

_BITS = 256
_MOST_TOGETHER = 10_000
# Rounding to whole units moves a difference by less than one; the listed values are off by less than this.
_SLACK = 1 / 16


@cache
def largest_step(k: int, rate: float, together: int) -> int:
    """Return a bound in units on f(n + j) − f(n), j ≤ `together`, for every n, values rounded to whole units included.

    >>> largest_step(23, 0.5, 1) / UNITS
    1.595703125
    """
    if together > _MOST_TOGETHER:
        raise NotProved(
            f"One person who decides must stand for at most {_MOST_TOGETHER:,} people, got {together:,}. Raise the "
            "rate, or the share that decides."
        )
    with precision(_BITS):
        top = (arb(UNITS) * _largest_window(k, arb(rate), together) + _SLACK).upper().floor().unique_fmpz()
    if top is None:
        raise NotProved("The steps of a score must be computable to whole units; move k and the rate.")
    return int(top) + 1


def _largest_window(k: int, rate: arb, together: int) -> arb:
    # A floor that was taken on the wrong side of a whole number is off by one: one size more at either end.
    peak = int(float(k / rate)) - 1
    first = max(0, peak - together - 1)
    # g(n + 1) − g(n).
    growths = (
        rate * rate * (k * pmf(n, k - 2, rate) - (k - 1) * pmf(n, k - 1, rate))
        for n in range(first, peak + together + 1)
    )
    steps = accumulate(growths, initial=_step(first, k, rate))
    sums = list(accumulate(steps, initial=arb(0)))
    return reduce(arb.max, (end - start for start, end in zip(sums, sums[together:], strict=False)))


def _step(n: int, k: int, rate: arb) -> arb:
    """g(n)."""
    if n < k - 1:
        return arb(0)
    return rate * pmf(n, k - 1, rate) * (above(n, k - 1, rate) + k)

"""The divergences `one_more` and `one_fewer` at many factors, from one table over crowd sizes.

Both are suprema over n of functions that are linear in the factor s,

    more(n)  = P[X = k−1] − (s − 1)·P[X > k−1]     fewer(n) = P[X = k−1] − (s − 1)·P[X < k−1],   X ~ Bin(n, p),

attained at the n that numerics/crowd_divergence.py names. From n to n + 1 the three probabilities follow by one
multiplication and one addition each, so a whole curve costs about as much as a few of its points would otherwise.
"""

from __future__ import annotations

import math

from flint import arb

from crowdblend.numerics import balls
from crowdblend.numerics.crowd_divergence import one_fewer, one_more

# Larger crowds are not tabulated but evaluated one by one.
LARGEST_TABLE = 20_000
# e to minus this is negligible.
ENOUGH = 60


class CrowdGaps:
    """sup over n of more(n) and fewer(n) for one k and one rate, at any factor s ≥ 1."""

    def __init__(self, k: int, p: arb) -> None:
        self.k, self.p, self._odds = k, p, (1 - p) / p
        self._ratio = float(self._odds)
        # Crowds beyond are so large that fewer than k of them are hardly ever sampled.
        spread = math.sqrt(2 * ENOUGH * k * float(1 - p))
        self._many = math.ceil((k + ENOUGH + spread) / float(p))
        # Those that most factors need; a few more are cheaper one by one.
        self._usual = 1.25 * k / float(p) + 20
        whole = p ** (k - 1)
        self._equal, self._above, self._below = [whole], [arb(0)], [1 - whole]

    def more(self, factor: arb) -> arb:
        """sup over n of more(n)."""
        peak = self.k - 2 + (self.k - 1) * self._ratio / float(factor)
        if peak > LARGEST_TABLE + self.k:
            found: arb = one_more(balls, self.k, self.p, factor)
            return found
        return self._largest(peak, factor, self._above)

    def fewer(self, factor: arb) -> arb:
        """sup over n of fewer(n)."""
        peak = self.k - 2 + (self.k - 1) * self._ratio * float(factor)
        if peak > self._many + 4:
            # fewer(n) ≤ P[X = k−1], which only falls once n exceeds (k−1)/p.
            return arb(0).union(balls.pmf(self._many, self.k - 1, self.p))
        if peak > min(self._usual, LARGEST_TABLE + self.k):
            found: arb = one_fewer(balls, self.k, self.p, factor)
            return found
        return self._largest(peak, factor, self._below)

    def _largest(self, peak: float, factor: arb, tail: list[arb]) -> arb:
        # The float is off by far less than 1, so the ceiling of the true peak, or the n before it, is among these.
        first = max(math.floor(peak) - self.k, 0)
        self._extend(first + 4)
        extra = factor - 1
        best = arb(0)
        for place in range(first, first + 4):
            best = best.max(self._equal[place] - extra * tail[place])
        return best

    def _extend(self, length: int) -> None:
        """Rows for n = k − 1, k, …, as many as that."""
        k, p, odds = self.k, self.p, self._odds
        for n in range(k - 2 + len(self._equal), k - 1 + length):
            equal = self._equal[-1]
            self._above.append(self._above[-1] + p * equal)
            # P[X = k−2] = P[X = k−1]·(k−1)(1−p)/((n−k+2)p).
            self._below.append((self._below[-1] - p * equal * odds * (k - 1) / (n - k + 2)).nonnegative_part())
            self._equal.append(equal * (n + 1) * (1 - p) / (n + 2 - k))

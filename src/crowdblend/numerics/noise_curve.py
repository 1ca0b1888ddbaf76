"""The divergence curve of counts that are exact from k on and noisy below, after sampling.

The same suprema over class sizes as in numerics/noise_below_k.py, at all factors in one scan: an outcome with
likelihood ratio r counts at every factor below r, so each outcome is added once, where its ratio lies among them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from flint import arb

from crowdblend.numerics import balls
from crowdblend.numerics.balls import precision
from crowdblend.numerics.noise_below_k import LARGEST_CLASS, Output, too_large
from crowdblend.numerics.profile_curves import LARGEST_LOSS, Bounds, Gaps, crowd_distance

# Ratios this close to a factor are compared there in balls. Doubles of balls with this many sure bits, and not near the
# smallest doubles, have ratios that are off by far less.
CLOSE = 1e-9
SURE_BITS = 40
SMALLEST = 1e-290
# Divergences this small are not worth a further class size.
NEGLIGIBLE = 1e-25
# Classes of which, on average, this many more than k are sampled end the scan.
LIKELY = 12
# The scan asks every this many class sizes whether it may stop.
STRIDE = 8
# Counts this many standard deviations, and this many people, above the mean are added up without being told apart.
DEVIATIONS, FURTHER = 12, 25
# What is missing to 1 is far below what is negligible.
ENOUGH_BITS = 104

Outcome = tuple[arb, arb]
Factors = tuple[Sequence[arb], Sequence[arb]]


class NoisyKernel(Gaps):
    """One cell of a histogram with discrete Laplace noise of loss `noise_epsilon` below k: the person in it or not.

    Everybody else is in the sample with probability `rate`.
    """

    density = 16

    def __init__(self, k: int, rate: arb, noise_epsilon: float, *, flagged: bool) -> None:
        if k >= LARGEST_CLASS:
            raise too_large()
        self.k, self.rate, self.flagged = k, rate, flagged
        self.ratio = (-arb(noise_epsilon)).exp()
        self.kinks = (noise_epsilon,)
        self.reach = math.exp(min(noise_epsilon, LARGEST_LOSS)) + math.e * (k + 1) / float(rate)
        self.distance = max(math.tanh(noise_epsilon / 2), crowd_distance(k, rate, arb(1)))
        # Larger classes are bounded by their counts without a threshold.
        self.largest = min(LARGEST_CLASS, k + math.ceil(LIKELY / float(rate)))

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        with precision(ENOUGH_BITS):
            return self._scan((mores, fewers))

    def _scan(self, factors: Factors) -> tuple[Bounds, Bounds]:
        best = [arb(0)] * len(factors[0]), [arb(0)] * len(factors[1])
        for n in range(self.largest - 1):
            counts, beyond = likely_counts(n, self.rate, self.k)
            member, without = (
                Output(balls, self.k, self.ratio, found, beyond) for found in ([arb(0), *counts], counts)
            )
            _raise(best, _divergences(list(member.pairs(without, self.flagged)), factors))
            if n + 1 >= self.k and (n + 1) % STRIDE == 0 and self._ends(best, n, factors):
                break
        else:
            _raise(best, _divergences(self._plain_outcomes(self.largest - 1), factors))
        return [*best[0]], [*best[1]]

    def _ends(self, best: tuple[list[arb], list[arb]], n: int, factors: Factors) -> bool:
        """Return whether no larger class matters: none has a larger divergence than the counts themselves at n."""
        rest = _divergences(self._plain_outcomes(n), factors)
        for values, bounds in zip(best, rest, strict=True):
            if not all(bound <= value or bound < NEGLIGIBLE for value, bound in zip(values, bounds, strict=True)):
                return False
        _raise(best, tuple([bound if bound < NEGLIGIBLE else arb(0) for bound in bounds] for bounds in rest))
        return True

    def _plain_outcomes(self, n: int) -> list[Outcome]:
        counts, beyond = likely_counts(n, self.rate)
        return [*zip([arb(0), *counts], [*counts, arb(0)], strict=True), (beyond, arb(0)), (arb(0), beyond)]


def likely_counts(n: int, rate: arb, least: int = 0) -> tuple[list[arb], arb]:
    """The probabilities of the counts that n people hardly exceed in the sample, and of all larger ones together."""
    mean = n * float(rate)
    most = min(n, max(math.ceil(mean + DEVIATIONS * math.sqrt(mean) + FURTHER), least))
    counts = [balls.pmf(n, j, rate) for j in range(most + 1)]
    return counts, arb(0) if most == n else (1 - sum(counts, arb(0))).nonnegative_part()


def _raise(best: tuple[list[arb], list[arb]], profiles: Sequence[Sequence[arb]]) -> None:
    for values, bounds in zip(best, profiles, strict=True):
        values[:] = [value.max(bound) for value, bound in zip(values, bounds, strict=True)]


def _divergences(outcomes: list[Outcome], factors: Factors) -> tuple[list[arb], list[arb]]:
    """Σ(P − sQ)₊ and Σ(Q − sP)₊ at every factor s of theirs."""
    return _one_way(outcomes, factors[0]), _one_way([(q, p) for p, q in outcomes], factors[1])


def _one_way(outcomes: list[Outcome], growths: Sequence[arb]) -> list[arb]:
    factors = [float(growth) for growth in growths]
    mine, theirs, extra = ([arb(0)] * (len(factors) + 1) for _ in range(3))
    for p, q in outcomes:
        top, bottom = float(p), float(q)
        if min(top, bottom) < SMALLEST or min(p.rel_accuracy_bits(), q.rel_accuracy_bits()) < SURE_BITS:
            # Where a double does not tell the ratio, q is left out and p counts at every factor: a larger sum.
            mine[-1] += p
            continue
        ratio = top / bottom
        sure = bisect_left(factors, ratio * (1 - CLOSE))
        mine[sure] += p
        theirs[sure] += q
        for place in range(sure, len(factors)):
            if factors[place] > ratio * (1 + CLOSE):
                break
            extra[place] += (p - growths[place] * q).nonnegative_part()
    # An outcome that was added at a place counts at every place before it.
    found = []
    above, below = mine[-1], theirs[-1]
    for place in range(len(factors) - 1, -1, -1):
        found.append((above - growths[place] * below).nonnegative_part() + extra[place])
        above, below = above + mine[place], below + theirs[place]
    return found[::-1]

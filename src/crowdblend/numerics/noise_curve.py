"""The divergence curve of counts that are exact from k on and noisy below, after sampling.

The same suprema over class sizes as in numerics/noise_below_k.py, at all factors in one scan: an outcome with
likelihood ratio r counts at every factor below r, so each outcome is added once, where its ratio lies among them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from flint import arb

from crowdblend.numerics import balls
from crowdblend.numerics.balls import precision
from crowdblend.numerics.noise_below_k import LARGEST_CLASS, Output, too_large
from crowdblend.numerics.profile_curves import Bounds, crowd_distance

# Ratios this close to a factor are compared there in balls. Doubles of balls with so many sure bits, and not near the
# smallest doubles, have ratios that are off by far less.
CLOSE = 1e-9
SURE_BITS = 40
SMALLEST = 1e-290
# Divergences this small are not worth a further class size.
NEGLIGIBLE = 1e-25
# Classes of which, on average, this many more than k are sampled end the scan.
LIKELY = 12
# The scan asks every so many class sizes whether it may stop.
STRIDE = 8
# Counts this many standard deviations, and so many people, above the mean are added up without being told apart.
DEVIATIONS, FURTHER = 12, 25
# What is missing to 1 is far below what is negligible.
ENOUGH_BITS = 104

Outcome = tuple[arb, arb]


class NoisyCounts:
    """The curve of one cell of a histogram with discrete Laplace noise of loss `noise_epsilon` below k."""

    density = 16

    def __init__(self, k: int, rate: arb, noise_epsilon: float, *, flagged: bool) -> None:
        if k >= LARGEST_CLASS:
            raise too_large()
        self.k, self.rate, self.flagged = k, rate, flagged
        self.ratio = (-arb(noise_epsilon)).exp()
        share = float(rate)
        self.kinks = (math.log1p(share * math.expm1(noise_epsilon)), -math.log1p(share * math.expm1(-noise_epsilon)))
        self.reach = max(self.kinks[0], math.log(k + 1)) + 1
        self.distance = share * max(math.tanh(noise_epsilon / 2), crowd_distance(k, rate, arb(1)))
        # Larger classes are bounded by their counts without a threshold.
        self.largest = min(LARGEST_CLASS, k + math.ceil(LIKELY / share))

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """sup over n of the divergence between n and n − 1 members, both ways, at every factor."""
        with precision(ENOUGH_BITS):
            return self._scan(growths)

    def _scan(self, growths: Sequence[arb]) -> tuple[Bounds, Bounds]:
        best = [arb(0)] * len(growths), [arb(0)] * len(growths)
        without = Likely(self.k, self.rate, self.ratio, 0)
        for n in range(1, self.largest):
            member = Likely(self.k, self.rate, self.ratio, n)
            _raise(best, _divergences(list(member.pairs(without, self.flagged)), growths))
            without = member
            if n >= self.k and n % STRIDE == 0 and self._ends(best, n, growths):
                break
        else:
            _raise(best, _divergences(self._unthresholded(self.largest), growths))
        return [*best[0]], [*best[1]]

    def _ends(self, best: tuple[list[arb], list[arb]], n: int, growths: Sequence[arb]) -> bool:
        """Whether no larger class matters: none has a larger divergence than the counts themselves at n."""
        rest = _divergences(self._unthresholded(n), growths)
        for values, bounds in zip(best, rest, strict=True):
            if not all(bound <= value or bound < NEGLIGIBLE for value, bound in zip(values, bounds, strict=True)):
                return False
        _raise(best, tuple([bound if bound < NEGLIGIBLE else arb(0) for bound in bounds] for bounds in rest))
        return True

    def _unthresholded(self, n: int) -> list[Outcome]:
        p, most = self.rate, likely(n, self.rate)
        counts = [balls.pmf(n - 1, j, p) for j in range(min(n, most + 1))]
        mixed = [
            p * (counts[j - 1] if j else 0) + (1 - p) * (counts[j] if j < len(counts) else 0)
            for j in range(len(counts) + (len(counts) == n))
        ]
        counts += [arb(0)] * (len(mixed) - len(counts))
        listed = list(zip(mixed, counts, strict=True))
        return listed if len(mixed) > n else [*listed, *_apart(_missing(mixed), _missing(counts))]


def likely(n: int, rate: arb) -> int:
    """A count that a class of n people hardly exceeds in the sample."""
    mean = n * float(rate)
    return min(n, math.ceil(mean + DEVIATIONS * math.sqrt(mean) + FURTHER))


class Likely(Output):
    """The output about a class of n people whose unlikely counts are not told apart.

    Where two outcomes are not told apart, each side has its mass to itself, so that no divergence is understated.
    """

    def __init__(self, k: int, rate: arb, ratio: arb, n: int) -> None:
        self.most = max(likely(n, rate), k)
        super().__init__(balls, k, rate, ratio, n, self.most)

    def pairs(self, other: Output, flagged: bool) -> Iterator[Outcome]:
        """Every likely outcome with its probability here and there, and what is missing to 1 on either side."""
        yield from super().pairs(other, flagged)
        yield from _apart(self.beyond, other.beyond)


def _apart(here: arb, there: arb) -> list[Outcome]:
    return [(here, arb(0)), (arb(0), there)]


def _missing(masses: list[arb]) -> arb:
    return (1 - sum(masses, arb(0))).nonnegative_part()


def _raise(best: tuple[list[arb], list[arb]], found: Sequence[Sequence[arb]]) -> None:
    for values, bounds in zip(best, found, strict=True):
        values[:] = [value.max(bound) for value, bound in zip(values, bounds, strict=True)]


def _divergences(outcomes: Iterable[Outcome], growths: Sequence[arb]) -> tuple[list[arb], list[arb]]:
    """Σ(P − αQ)₊ and Σ(Q − αP)₊ at every factor α."""
    both = list(outcomes)
    return _one_way(both, growths), _one_way([(q, p) for p, q in both], growths)


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

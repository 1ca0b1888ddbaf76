"""Counts that are exact from k on and noisy below, after sampling: the divergence of one more member.

X ~ Bin(n, p) counts the sampled people among n others. A count is published as it is from k on and with Y added below,
Y discrete Laplace with ratio a, so P[Y = y] = (1−a)/(1+a)·a^|y|. Compared are the outputs of X + 1, P, and of X, Q,
both ways, each at a factor of its own. With the flag published, exact and noisy values are told apart; without it they
mix.

Both outputs are post-processing of X + 1 and X, so their divergence is at most the one of X + 1 against X themselves,
and that one cannot grow with n (adding an independent coin to both is post-processing). The scan over n stops there.

`NoisyKernel` has the same suprema over class sizes at all factors in one scan: an outcome with likelihood ratio r
counts at every factor below r, so each outcome is added once, where its ratio lies among them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from flint import arb

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number, sampled_factors
from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.numerics.profile_curves import LARGEST_LOSS, Bounds, Gaps, crowd_distance

# Scanning n costs n steps each; beyond this the sum takes minutes rather than a second.
LARGEST_CLASS = 600
# A δ this small is not worth scanning for.
NEGLIGIBLE = 1e-30
# The scan asks every this many class sizes whether it may stop.
STRIDE = 4

# For the scan at all factors. Ratios this close to a factor are compared there in balls. Doubles of balls with this
# many sure bits, and not near the smallest doubles, have ratios that are off by far less.
CLOSE = 1e-9
SURE_BITS = 40
SMALLEST = 1e-290
# Divergences this small are not worth a further class size.
NEGLIGIBLE_GAP = 1e-25
# Classes of which, on average, this many more than k are sampled end the scan.
LIKELY = 12
STRIDE_OF_CURVE = 8
# Counts this many standard deviations, and this many people, above the mean are added up without being told apart.
DEVIATIONS, FURTHER = 12, 25
# What is missing to 1 is far below what is negligible.
ENOUGH_BITS = 104

Outcome = tuple[arb, arb]
Factors = tuple[Sequence[arb], Sequence[arb]]


def spliced_divergence(calc: Arithmetic, k: int, p: Number, ratio: Number, growth: Number, *, flagged: bool) -> Number:
    """The larger divergence at e^ε = growth where everybody is sampled with probability p, at the worst class size."""
    gain, factors = sampled_factors(calc, p, growth)
    more, fewer = spliced_gaps(calc, k, p, ratio, factors, (p, gain), flagged=flagged)
    return calc.maximum(p * more, gain * fewer)


def spliced_gaps(
    calc: Arithmetic,
    k: int,
    p: Number,
    ratio: Number,
    factors: tuple[Number, Number],
    weights: tuple[Number, Number],
    *,
    flagged: bool,
) -> tuple[Number, Number]:
    """sup over n ≥ 0 of Σ(P − sQ)₊ and of Σ(Q − sP)₊, each at its factor s.

    Weighted as they will be used, each is exact or, where the other is larger, no larger than that one.
    """
    if k >= LARGEST_CLASS:
        raise too_large()
    zero = calc.number(0)
    best, counts = [zero, zero], [calc.number(1)]
    for n in range(LARGEST_CLASS - 1):
        member, without = (Output(calc, k, ratio, found) for found in ([zero, *counts], counts))
        found = (member.exceeds(without, factors[0], flagged), without.exceeds(member, factors[1], flagged))
        best = [calc.maximum(*pair) for pair in zip(best, found, strict=True)]
        if n + 1 >= k and (n % STRIDE == 0 or n + 2 == LARGEST_CLASS):
            rest = _plain_divergences(calc, counts, factors)
            most = calc.maximum(*(weight * value for weight, value in zip(weights, best, strict=True)))
            left = calc.maximum(*(weight * value for weight, value in zip(weights, rest, strict=True)))
            if calc.surely(left <= most) or (calc.surely(left < NEGLIGIBLE) and not calc.surely(most > 0)):
                return calc.maximum(best[0], rest[0]), calc.maximum(best[1], rest[1])
        # One more person is one more coin.
        counts = [p * one + (1 - p) * other for one, other in zip([zero, *counts], [*counts, zero], strict=True)]
    raise too_large()


def too_large() -> NotProved:
    """Return the refusal of classes beyond the scan."""
    return NotProved(
        f"Noise below k is certified for classes of up to {LARGEST_CLASS} people at the worst, "
        "and these parameters go beyond; raise epsilon, lower k, or suppress below k instead."
    )


def _plain_divergences(calc: Arithmetic, counts: list[Number], factors: tuple[Number, Number]) -> tuple[Number, Number]:
    """Return the divergences of X + 1 from X and of X from X + 1, for X with these probabilities."""
    zero = calc.number(0)
    pairs = list(zip([zero, *counts], [*counts, zero], strict=True))
    up = sum((calc.nonnegative(more - factors[0] * fewer) for more, fewer in pairs), zero)
    return up, sum((calc.nonnegative(fewer - factors[1] * more) for more, fewer in pairs), zero)


class Output:
    """The distribution of what is published about a class whose sampled count has these probabilities.

    Counts that are not listed, which are at least k, have the mass `beyond`.
    """

    def __init__(
        self, calc: Arithmetic, k: int, ratio: Number, counts: Sequence[Number], beyond: Number | None = None
    ) -> None:
        self.calc, self.k, self.ratio = calc, k, ratio
        self.beyond = calc.number(0) if beyond is None else beyond
        # The exact part at k, k+1, … and the noisy part at 0, …, k−1.
        self.exact, self.noisy = counts[k:], self._blur([*counts[:k]])

    def _blur(self, small: list[Number]) -> list[Number]:
        """Return the noisy part at 0, 1, …, k−1; outside that range it falls by the factor `ratio` per step."""
        zero = self.calc.number(0)
        small = small + [zero] * (self.k - len(small))
        from_left, running = [], zero
        for mass in small:
            running = running * self.ratio + mass
            from_left.append(running)
        blurred, running = [zero] * self.k, zero
        for y in range(self.k - 1, -1, -1):
            blurred[y] = from_left[y] + running
            running = (running + small[y]) * self.ratio
        scale = (1 - self.ratio) / (1 + self.ratio)
        return [scale * value for value in blurred]

    def exceeds(self, other: Output, factor: Number, flagged: bool) -> Number:
        """Σ over outputs of (this − factor·other) where positive."""
        return sum(
            (self.calc.nonnegative(mine - factor * theirs) for mine, theirs in self.pairs(other, flagged)),
            self.calc.number(0),
        )

    def pairs(self, other: Output, flagged: bool) -> Iterator[tuple[Number, Number]]:
        """Yield every outcome with its probability here and there; counts that are not listed are apart."""
        yield from zip(self.noisy, other.noisy, strict=True)
        # Beyond both ends the noisy parts fall at the same pace on either side, so each end is one outcome with the
        # summed mass; on the upper one only as far as exact values are not among them.
        tail = self.ratio / (1 - self.ratio)
        yield self.noisy[0] * tail, other.noisy[0] * tail
        mine, theirs, zero = self.noisy[-1], other.noisy[-1], self.calc.number(0)
        for here, there in zip_longest(self.exact, other.exact, fillvalue=zero):
            if flagged:
                yield here, there
                continue
            mine, theirs = mine * self.ratio, theirs * self.ratio
            yield mine + here, theirs + there
        yield mine * tail, theirs * tail
        yield self.beyond, zero
        yield zero, other.beyond


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
            if n + 1 >= self.k and (n + 1) % STRIDE_OF_CURVE == 0 and self._ends(best, n, factors):
                break
        else:
            _raise(best, _divergences(self._plain_outcomes(self.largest - 1), factors))
        return [*best[0]], [*best[1]]

    def _ends(self, best: tuple[list[arb], list[arb]], n: int, factors: Factors) -> bool:
        """Return whether no larger class matters: none has a larger divergence than the counts themselves at n."""
        rest = _divergences(self._plain_outcomes(n), factors)
        for values, bounds in zip(best, rest, strict=True):
            if not all(bound <= value or bound < NEGLIGIBLE_GAP for value, bound in zip(values, bounds, strict=True)):
                return False
        _raise(best, tuple([bound if bound < NEGLIGIBLE_GAP else arb(0) for bound in bounds] for bounds in rest))
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

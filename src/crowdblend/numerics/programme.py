"""The divergence of several mechanisms, each on a part of one sample that shares nobody with the others.

Each person is sampled with probability β and, if sampled, goes to part i with probability s_i: to part i with
probability β_i = βs_i, to some part with b = Σβ_i. With Q the output without the person and P_i the output when the
person is put into part i, the output with the person is Σβ_i·P_i + (1−b)·Q, the average of b·P_i + (1−b)·Q with the
weights β_i/b. Joint convexity divides its divergence from Q among the parts, in each direction by itself:

    up   ≤ b·Σ(β_i/b)·more_i(1 + (α−1)/b)        down ≤ gain·Σ(β_i/b)·fewer_i(αb/gain),   gain = 1 − α(1−b),

more_i and fewer_i the divergences of P_i from Q and back. P_i and Q differ in publication i alone. Given all other
parts, everybody else is in part i independently with probability r_i = β_i/(1 − b + β_i); so the term of part i is that
of its mechanism with the person surely there and each other person with probability r_i, at the worst number of
others (docs/proofs.md#parts-of-one-sample-of-any-kind).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from crowdblend.frozen import dataclass
from crowdblend.numerics.arithmetic import Arithmetic, Number, sampled_factors
from crowdblend.numerics.crowd_divergence import Gap, one_fewer, one_more
from crowdblend.numerics.noise_below_k import spliced_gaps
from crowdblend.numerics.points_in_crowds import gathered_ratios, mean_gap

Pair = tuple[Number, Number]


class Term(Protocol):
    """A mechanism: P its output with the person surely in its table, Q without, everybody else there with
    probability `rate`."""

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, weights: Pair) -> Pair:
        """Bounds of Σ(P − sQ)₊ and of Σ(Q − sP)₊, each at its factor s ≥ 1, at the worst number of others.

        The weights say how the two will be used: what is small against the other need not be sharp.
        """


@dataclass(frozen=True)
class CrowdTerm:
    """A mechanism that hides people in crowds of k up to a factor `blend`; suppression where that is 1."""

    k: int
    blend: Number

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """Two corners of a linear program from the factor `blend` on; below it the chord to the other direction."""
        if calc.surely(self.blend == 1):
            return one_more(calc, self.k, rate, factors[0]), one_fewer(calc, self.k, rate, factors[1])
        return self._bound(calc, rate, one_more, one_fewer, factors[0]), self._bound(
            calc, rate, one_fewer, one_more, factors[1]
        )

    def _bound(self, calc: Arithmetic, rate: Number, gap: Gap, back: Gap, factor: Number) -> Number:
        if calc.surely(factor >= self.blend):
            return self._corners(calc, rate, gap, factor / self.blend)
        ends = (self._corners(calc, rate, each, calc.number(1)) for each in (gap, back))
        return chord(factor, self.blend, *ends)

    def _corners(self, calc: Arithmetic, rate: Number, gap: Gap, near: Number) -> Number:
        far = near * self.blend * self.blend
        return (self.blend * gap(calc, self.k, rate, near) + gap(calc, self.k, rate, far)) / (self.blend + 1)


@dataclass(frozen=True)
class NoiseTerm:
    """Counts that are exact from k on and carry discrete Laplace noise with this ratio below."""

    k: int
    ratio: Number
    flagged: bool

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, weights: Pair) -> Pair:
        """The outputs of one count with the person and without, at the worst number of others."""
        return spliced_gaps(calc, self.k, rate, self.ratio, factors, weights, flagged=self.flagged)


@dataclass(frozen=True)
class PointTerm:
    """Points of blocks of at least k, moved by noise that tells two of a block apart by a factor of at most `blend`."""

    k: int
    blend: Number

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """The gaps of suppression, averaged over the likelihood ratio of a swap (numerics/points_in_crowds.py)."""
        ratios = gathered_ratios(calc, self.k, self.blend)
        up = [(mass * ratio, factors[0] / ratio) for ratio, mass in ratios]
        down = [(mass, factors[1] * ratio) for ratio, mass in ratios]
        return mean_gap(calc, one_more, self.k, rate, up), mean_gap(calc, one_fewer, self.k, rate, down)


@dataclass(frozen=True)
class OwnTerm:
    """A mechanism that is private by itself, on every table: both divergences at their factors."""

    divergences: Callable[[Number, Number], Pair]

    def gaps(self, _calc: Arithmetic, _rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """Return the part's own divergences."""
        return self.divergences(*factors)


Parts = Sequence[tuple[Number, Term]]
"""For every part its share of the sample and its mechanism; shares add up to at most 1."""


def chord(factor: Number, blend: Number, here: Number, back: Number) -> Number:
    """Return a bound of Σ(P − sQ)₊ at 1/b ≤ s ≤ b, from bounds of it and of Σ(Q − sP)₊ at s = b: it is convex in s.

    At 1/b it is 1 − 1/b + Σ(Q − bP)₊/b.
    """
    low = 1 - (1 - back) / blend
    return ((blend - factor) * low + (factor - 1 / blend) * here) / (blend - 1 / blend)


def programme_divergence(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Number:
    """Return a bound on the divergence at e^ε = growth, in both directions."""
    return calc.maximum(*programme_divergences(calc, parts, rate, growth))


def programme_divergences(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Pair:
    """Return the bounds with the person against without, and without against with."""
    total = sum(share for share, _ in parts)
    up = down = calc.number(0)
    for share, term in parts:
        more, fewer = part_divergences(calc, term, share, total, rate, growth)
        up, down = up + share / total * more, down + share / total * fewer
    return up, down


def part_divergences(calc: Arithmetic, term: Term, share: Number, total: Number, rate: Number, growth: Number) -> Pair:
    """Return one part's unweighted addition to the averages, for shares that sum to `total`."""
    taken = rate * total
    own = rate * share
    gain, factors = sampled_factors(calc, taken, growth)
    more, fewer = term.gaps(calc, own / (1 - taken + own), factors, (taken, gain))
    return taken * calc.minimum(calc.number(1), more), gain * calc.minimum(calc.number(1), fewer)

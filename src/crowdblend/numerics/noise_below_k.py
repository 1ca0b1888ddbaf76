"""Counts that are exact from k on and noisy below, after sampling: the divergence of one more member.

X ~ Bin(n, p) counts the sampled people among n others. A count is published as it is from k on and with Y added below,
Y discrete Laplace with ratio a, so P[Y = y] = (1−a)/(1+a)·a^|y|. Compared are the outputs of X + 1, P, and of X, Q,
both ways, each at a factor of its own. With the flag published, exact and noisy values are told apart; without it they
mix.

Both outputs are post-processing of X + 1 and X, so their divergence is at most the one of X + 1 against X themselves,
and that one cannot grow with n (adding an independent coin to both is post-processing). The scan over n stops there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from crowdblend.errors import NotProved
from crowdblend.numerics.arithmetic import Arithmetic, Number, sampled_factors

# Scanning n costs n steps each; beyond this the sum takes minutes rather than a second.
LARGEST_CLASS = 600
# A δ this small is not worth scanning for.
NEGLIGIBLE = 1e-30
# The scan asks every this many class sizes whether it may stop.
STRIDE = 4


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

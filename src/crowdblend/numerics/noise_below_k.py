"""Counts that are exact from k on and noisy below, after sampling: the divergence of one more member.

X_n ~ Bin(n, p) is published as it is when X_n ≥ k and as X_n + Y otherwise, Y discrete Laplace with ratio a, so
P[Y = y] = (1−a)/(1+a)·a^|y|. Compared are n and n−1 members, both ways, at factor growth = e^ε. With the flag
published, exact and noisy values are told apart; without it they mix.

The output is post-processing of X_n, so its divergence is at most the one of X_n against X_{n−1} themselves, and
that one cannot grow with n (adding an independent coin is post-processing). The scan over n stops there.
"""

from __future__ import annotations

from collections.abc import Iterator

from crowdblend.errors import NotProved
from crowdblend.numerics.arithmetic import Arithmetic, Number

# Scanning n costs n steps each; beyond this the sum takes minutes rather than a second.
LARGEST_CLASS = 600
# A δ this small is not worth scanning for.
NEGLIGIBLE = 1e-30


def spliced_divergence(calc: Arithmetic, k: int, p: Number, ratio: Number, growth: Number, *, flagged: bool) -> Number:
    """sup over n ≥ 1 of the larger hockey-stick divergence between n and n−1 members."""
    if k >= LARGEST_CLASS:
        raise too_large()
    best = calc.number(0)
    fewer = Output(calc, k, p, ratio, 0)
    for n in range(1, LARGEST_CLASS):
        more = Output(calc, k, p, ratio, n)
        best = calc.maximum(best, more.exceeds(fewer, growth, flagged), fewer.exceeds(more, growth, flagged))
        if n >= k:
            rest = _unthresholded(calc, n, p, growth)
            if calc.surely(rest <= best):
                return best
            if calc.surely(rest < NEGLIGIBLE) and not calc.surely(best > 0):
                return calc.maximum(best, rest)
        fewer = more
    raise too_large()


def too_large() -> NotProved:
    """The refusal of classes beyond the scan."""
    return NotProved(
        f"noise below k is certified for classes of up to {LARGEST_CLASS} people at the worst, "
        "and these parameters go beyond; raise epsilon, lower k, or suppress below k instead."
    )


def _unthresholded(calc: Arithmetic, n: int, p: Number, growth: Number) -> Number:
    """The divergence of Bin(n, p) and Bin(n−1, p), both ways."""
    counts = [calc.pmf(n - 1, j, p) for j in range(n)]
    more = [p * (counts[j - 1] if j else 0) + (1 - p) * (counts[j] if j < n else 0) for j in range(n + 1)]
    up = sum(
        (calc.nonnegative(more[j] - growth * (counts[j] if j < n else 0)) for j in range(n + 1)),
        calc.number(0),
    )
    down = sum((calc.nonnegative(counts[j] - growth * more[j]) for j in range(n)), calc.number(0))
    return calc.maximum(up, down)


class Output:
    """The distribution of what is published about a class of n people."""

    def __init__(self, calc: Arithmetic, k: int, p: Number, ratio: Number, n: int, most: int | None = None) -> None:
        """Counts above `most`, which is at least k, are not listed: `beyond` is all that is missing to 1."""
        self.calc, self.k, self.n, self.ratio = calc, k, n if most is None else min(n, most), ratio
        counts = [calc.pmf(n, j, p) for j in range(self.n + 1)]
        self.beyond = calc.number(0) if self.n == n else calc.nonnegative(1 - sum(counts, calc.number(0)))
        self.exact = [calc.number(0)] * k + counts[k:]
        self.noisy = self._blur(counts[:k])

    def _blur(self, small: list[Number]) -> list[Number]:
        """The noisy part at 0, 1, …, k−1; outside that range it falls by the factor `ratio` per step."""
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

    def noisy_at(self, y: int) -> Number:
        """The noisy part at any y ≥ 0."""
        return self.noisy[y] if y < self.k else self.noisy[-1] * self.ratio ** (y - self.k + 1)

    def exact_at(self, y: int) -> Number:
        """The exact part at any y ≥ 0."""
        return self.exact[y] if y < len(self.exact) else self.calc.number(0)

    def exceeds(self, other: Output, growth: Number, flagged: bool) -> Number:
        """Σ over outputs of (this − growth·other) where positive."""
        return sum(
            (self.calc.nonnegative(mine - growth * theirs) for mine, theirs in self.pairs(other, flagged)),
            self.calc.number(0),
        )

    def pairs(self, other: Output, flagged: bool) -> Iterator[tuple[Number, Number]]:
        """Every outcome with its probability here and there."""
        top = max(self.n, other.n, self.k - 1)
        tail = self.ratio / (1 - self.ratio)
        # Beyond both ends the two sides fall at the same pace, so each end is one outcome with the summed mass.
        yield self.noisy[0] * tail, other.noisy[0] * tail
        yield self.noisy_at(top) * tail, other.noisy_at(top) * tail
        for y in range(top + 1):
            if flagged:
                yield self.noisy_at(y), other.noisy_at(y)
                yield self.exact_at(y), other.exact_at(y)
            else:
                yield self.noisy_at(y) + self.exact_at(y), other.noisy_at(y) + other.exact_at(y)

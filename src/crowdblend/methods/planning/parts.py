"""Several publications from disjoint parts of one sample: the thresholds that one guarantee for all of them needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from flint import arb

from crowdblend.errors import Infeasible, NotProved
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.loss_curves import part_delta, unequal_part_delta
from crowdblend.trusted.calculus.rules import programme
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfSample, UnequalProgrammeCurve
from crowdblend.trusted.numerics.balls import round_up
from crowdblend.trusted.numerics.search import first_true

LARGEST_K = 10**7


def equal_shares(tables: int) -> tuple[float, ...]:
    """Return equal parts of one sample; a single table is of the whole sample and needs none."""
    return (1 / tables,) * tables if tables > 1 else ()


def derive_parts(claims: Iterable[Derivation], shares: Sequence[float], rate: float, epsilon: float) -> Derivation:
    """Derive the joint guarantee of mechanisms with these claims, each on its part."""
    placed = (programme.crowds_in_a_part(claim, share=share) for claim, share in zip(claims, shares, strict=True))
    return programme.programme_of_parts(*placed, rate=rate, epsilon=epsilon)


def smallest_k(
    part: Callable[[int], PartOfSample],
    shares: Sequence[float],
    *,
    rate: float,
    epsilon: float,
    delta: float,
) -> int:
    """Return the smallest k at which the own divergence of a part is at most delta.

    `part` makes the part of a k, and `shares` are those of all parts. Where every part keeps to delta, so does their
    average, which is what counts.

    >>> from crowdblend.trusted.guarantees.programme import PartWithNoise
    >>> smallest_k(lambda k: PartWithNoise(0.5, k, 1.0, False), (0.5, 0.5), rate=0.5, epsilon=1.0, delta=1e-6)
    12
    """

    return first_k(lambda k: part_delta(part(k), shares, rate, epsilon), delta)


def first_k(divergence: Callable[[int], float], delta: float) -> int:
    """Return the smallest k at which a divergence is at most delta."""

    def keeps(k: int) -> bool:
        with suppress(NotProved):
            return divergence(k) <= delta
        return False

    try:
        return first_true(keeps, 1, 10, LARGEST_K)
    except LookupError:
        message = f"No k up to {LARGEST_K:,} reaches `delta = {delta:g}`."
        remedy = "Raise epsilon or delta, lower the rate, or where there is noise lower its loss."
        raise Infeasible(message, remedy=remedy, where="k", code="plan.no-k") from None


def smallest_thresholds(shares: Sequence[float], rate: float, epsilon: float, delta: float) -> tuple[int, ...]:
    """Return the smallest k of every suppressing part whose own divergence is at most delta.

    >>> smallest_thresholds((0.5, 0.5), 0.5, 1.0, 1e-6), smallest_thresholds((0.9, 0.1), 0.5, 1.0, 1e-6)
    ((25, 25), (33, 16))
    """
    found = {
        share: smallest_k(suppressed_part(share), shares, rate=rate, epsilon=epsilon, delta=delta)
        for share in set(shares)
    }
    return tuple(found[share] for share in shares)


def suppressed_part(share: float) -> Callable[[int], PartOfSample]:
    """Return the part of a table or of microdata that drops classes below k."""
    return lambda k: PartInCrowds(share, k, 0.0)


def largest_noise(shares: Sequence[float], rate: float, epsilon: float) -> float:
    """The largest loss ε₀ of noise in a part that costs no δ at ε: ln(1 + (e^ε − 1)/b), b the rate of all parts."""
    taken = arb(rate) * sum(map(arb, shares), arb(0)).min(arb(1))
    return -round_up(-((arb(epsilon).exp() - 1) / taken + 1).log())


@dataclass(frozen=True)
class PartBudget:
    """The share of a part, those of all parts, the rate of the sample, and what the part loses at most.

    `drawn` is the share that its publication has of the sample: larger than that of the part where others of its people
    choose the recoding.

    `ends` bound people's rates where these differ; `rate` is then the largest of anyone protected.

    `noise_loss` is the part of epsilon that noise may spend in one release: all of it where there is one, and less in a
    series, in which crowds hardly lose more, and noise loses every time.
    """

    share: float
    shares: tuple[float, ...]
    rate: float
    epsilon: float
    delta: float
    noise_loss: float
    drawn: float
    ends: Mapping[str, Any] | None = None

    @property
    def own_rate(self) -> float:
        """The rate at which people come into this part."""
        return self.rate * self.share

    @property
    def noise(self) -> float:
        """The largest loss of noise that costs no delta at epsilon."""
        return largest_noise(self.shares, self.rate, self.noise_loss)

    @property
    def own_delta(self) -> float:
        """The delta that a mechanism may have by itself, before sampling."""
        return min(1.0, self.delta / (self.rate * min(1.0, sum(self.shares))))

    def smallest_k(self, part: Callable[[int, float], PartOfSample], loss: float) -> int:
        """Return the smallest k with which the part, with noise of this loss, keeps to epsilon and delta."""
        if self.ends is None:
            kept = {"rate": self.rate, "epsilon": self.epsilon, "delta": self.delta}
            return smallest_k(lambda k: part(k, loss), self.shares, **kept)
        ends, least = self.ends, int(self.ends["exceptions"]) + 2

        def divergence(k: int) -> float:
            # Of points under biased sampling counts that they blend.
            own = part(max(k, least), loss)
            blended = PartInCrowds(own.share, max(k, least), getattr(own, "noise_epsilon", 0.0))
            others = (replace(blended, share=share) for share in self.shares)
            return unequal_part_delta(UnequalProgrammeCurve(**ends, publications=(*others,)), blended, self.epsilon)

        return max(first_k(divergence, self.delta), least)

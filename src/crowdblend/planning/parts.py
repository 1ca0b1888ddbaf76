"""Several tables from disjoint parts of one sample: the thresholds that one guarantee for all of them needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flint import arb

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import parts
from crowdblend.errors import Infeasible
from crowdblend.numerics import balls
from crowdblend.numerics.arithmetic import Number
from crowdblend.numerics.balls import upper_bound
from crowdblend.numerics.parts_of_sample import part_divergence
from crowdblend.numerics.search import first_true

LARGEST_K = 10**7


def equal_shares(tables: int) -> tuple[float, ...]:
    """As many parts of one size; a single table is of the whole sample and needs none."""
    return (1 / tables,) * tables if tables > 1 else ()


def derive_parts(claims: Iterable[Derivation], shares: Sequence[float], rate: float, epsilon: float) -> Derivation:
    """What mechanisms with these claims, each on its part of the sample, guarantee together."""
    placed = (parts.blending_in_a_part(claim, share=share) for claim, share in zip(claims, shares, strict=True))
    return parts.disjoint_parts(*placed, rate=rate, epsilon=epsilon)


def smallest_thresholds(shares: Sequence[float], rate: float, epsilon: float, delta: float) -> tuple[int, ...]:
    """For every part the smallest k at which its own divergence is at most delta; so is their average, which counts.

    >>> smallest_thresholds((0.5, 0.5), 0.5, 1.0, 1e-6), smallest_thresholds((0.9, 0.1), 0.5, 1.0, 1e-6)
    ((25, 25), (33, 16))
    """
    found = {share: _smallest(share, shares, rate, epsilon, delta) for share in set(shares)}
    return tuple(found[share] for share in shares)


def _smallest(share: float, shares: Sequence[float], rate: float, epsilon: float, delta: float) -> int:
    try:
        return first_true(lambda k: _delta(k, share, shares, rate, epsilon) <= delta, 1, 10, LARGEST_K)
    except LookupError:
        raise Infeasible(
            f"No k up to {LARGEST_K:,} reaches delta = {delta:g}.",
            remedy="Raise epsilon or delta, or lower the rate.",
            where="k",
            code="plan.no-k",
        ) from None


def _delta(k: int, share: float, shares: Sequence[float], rate: float, epsilon: float) -> float:
    def delta() -> Number:
        total = sum((arb(each) for each in shares), arb(0))
        whole = total.max(arb(1))
        return part_divergence(balls, k, arb(share) / whole, total / whole, arb(rate), arb(epsilon).exp())

    return upper_bound(delta)

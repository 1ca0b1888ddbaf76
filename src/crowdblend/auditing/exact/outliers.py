"""Outlier privacy by its definition (after Lui and Pass, Outlier Privacy, TCC 2015): the fewer people share a bin, the
less one of them may matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction

from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.differential import differential, require_compared
from crowdblend.auditing.exact.worlds import Mechanism, Value, World, remembered
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, OutlierPrivate, Relation


def outlier_private(
    mechanism: Mechanism, guarantee: OutlierPrivate, world: World, bin_of: Callable[[Value], Hashable] = lambda v: v
) -> Counterexample | None:
    """The worst person for the size of that person's bin, the person included; None if there is nobody."""
    cached = remembered(mechanism)
    worst: Counterexample | None = None
    compared = False
    for table, place in world.people():
        others = world.without(table, place)
        try:
            cached(table), cached(others)
        except InvalidInput:
            # A table that is refused publishes nothing, and no guarantee was made about it.
            continue
        compared = True
        size = sum(bin_of(other) == bin_of(table[place]) for other in table)
        owed = Differential(allowed_loss(guarantee, size), guarantee.delta, Relation.ADD_REMOVE)
        example = differential(cached, owed, pairs=[(table, others)])
        if example is not None and (worst is None or example.excess > worst.excess):
            worst = example
    require_compared(compared)
    return worst


def allowed_loss(guarantee: OutlierPrivate, size: int) -> float:
    """factor·ε(size), rounded up: whoever exceeds it exceeds the guarantee."""
    owed = Fraction(guarantee.factor) * Fraction(guarantee.epsilon)
    if size < guarantee.limit - guarantee.transition:
        owed = owed * guarantee.transition / (guarantee.limit - size)
    nearest = float(owed)
    return nearest if nearest >= owed else math.nextafter(nearest, math.inf)

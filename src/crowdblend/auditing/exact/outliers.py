"""Outlier privacy by NOTES Definition 7: the fewer people share a bin, the less one of them may matter."""

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
    mechanism: Mechanism, promise: OutlierPrivate, world: World, bin_of: Callable[[Value], Hashable] = lambda v: v
) -> Counterexample | None:
    """The worst person for the size of that person's bin, the person included; None if there is nobody."""
    asked = remembered(mechanism)
    worst: Counterexample | None = None
    compared = False
    for table, place in world.people():
        others = world.without(table, place)
        try:
            asked(table), asked(others)
        except InvalidInput:
            # A table that is refused publishes nothing, and no promise was made about it.
            continue
        compared = True
        size = sum(bin_of(other) == bin_of(table[place]) for other in table)
        owed = Differential(allowed_loss(promise, size), promise.delta, Relation.ADD_REMOVE)
        found = differential(asked, owed, pairs=[(table, others)])
        if found is not None and (worst is None or found.excess > worst.excess):
            worst = found
    require_compared(compared)
    return worst


def allowed_loss(promise: OutlierPrivate, size: int) -> float:
    """factor·ε(size), rounded up: whoever exceeds it exceeds the promise."""
    owed = Fraction(promise.factor) * Fraction(promise.epsilon)
    if size < promise.limit - promise.transition:
        owed = owed * promise.transition / (promise.limit - size)
    nearest = float(owed)
    return nearest if nearest >= owed else math.nextafter(nearest, math.inf)

"""A table is a set of people: what is published must not depend on the order in which they come."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.distributions import hockey_stick
from crowdblend.auditing.exact.worlds import Mechanism, World


def order_free(mechanism: Mechanism, world: World) -> Counterexample | None:
    """Two orders of the same people that the output tells apart most, or None."""
    worst: Counterexample | None = None
    for table in world.databases():
        for other in set(permutations(table)):
            gap = hockey_stick(mechanism(table), mechanism(other), Fraction(1))
            if gap.delta > 0 and (worst is None or gap.delta > worst.excess):
                worst = Counterexample(
                    guarantee="the same people in another order are the same table",
                    people=table,
                    person=None,
                    compared=f"the order {' '.join(map(str, other))}",
                    event=gap.event,
                    likely=gap.left,
                    unlikely=gap.right,
                    allowed=gap.right,
                )
    return worst

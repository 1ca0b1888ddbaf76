"""Crowd-blending privacy by CBP Definitions 3 and 4."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.distributions import Distribution, Gap, growth_above, hockey_stick
from crowdblend.auditing.exact.worlds import Mechanism, Value, World, remembered
from crowdblend.guarantees import CrowdBlending


def crowd_blending(mechanism: Mechanism, guarantee: CrowdBlending, world: World) -> Counterexample | None:
    """The worst person who neither blends with k people nor could be removed; None if there is nobody.

    People blend when no table of the world tells them apart. A larger world can only tell more people apart, so what
    is found here is a proof, and what is not found holds for tables of this size.
    """
    cached, growth = remembered(mechanism), growth_above(guarantee.epsilon)
    blends = blending_pairs(cached, world, growth)
    worst: Counterexample | None = None
    for table, place in world.people():
        person = table[place]
        crowd = sum((person, other) in blends for other in table)
        if crowd >= guarantee.k:
            continue
        with_, without = cached(table), cached(world.without(table, place))
        gap = _wider(with_, without, growth)
        if gap.delta > 0 and (worst is None or gap.delta > worst.excess):
            worst = Counterexample(
                guarantee=guarantee.words(),
                people=table,
                person=person,
                compared="the same people without that person, or the other way round",
                event=gap.event,
                likely=gap.left,
                unlikely=gap.right,
                allowed=growth * gap.right,
                why=f"the person blends with {crowd} of them, counting the person, and {guarantee.k} are guaranteed",
            )
    return worst


def blending_pairs(mechanism: Mechanism, world: World, growth: Fraction) -> set[tuple[Value, Value]]:
    """The pairs of values that no table of the world tells apart by more than the factor growth."""
    pairs = {(value, value) for value in world.values}
    rests = list(world.databases(world.most - 1))
    for one, other in combinations(world.values, 2):
        if all(
            _wider(mechanism(world.joined(rest, one)), mechanism(world.joined(rest, other)), growth).delta <= 0
            for rest in rests
        ):
            pairs |= {(one, other), (other, one)}
    return pairs


def _wider(one: Distribution, other: Distribution, growth: Fraction) -> Gap:
    return max(hockey_stick(one, other, growth), hockey_stick(other, one, growth), key=lambda gap: gap.delta)

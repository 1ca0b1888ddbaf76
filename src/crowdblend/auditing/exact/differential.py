"""Differential privacy, and the same under sampling, by the hockey-stick divergence between all neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, permutations

from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.distributions import Gap, growth_above, hockey_stick
from crowdblend.auditing.exact.worlds import CONCEALED, Database, Mechanism, Value, World, remembered, sampled
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Differential, DifferentialUnderSampling, Relation

Pair = tuple[Database, Database]
_COMPARED = {
    Relation.ADD_REMOVE: "one of them is missing",
    Relation.REPLACE: "one of them has other data",
    Relation.CONCEAL: "the data of one of them are concealed",
}


def differential(
    mechanism: Mechanism, guarantee: Differential, world: World | None = None, pairs: Iterable[Pair] = ()
) -> Counterexample | None:
    """The worst counterexample among all neighbours of a world, or of some pairs of tables, or None."""
    cached = remembered(mechanism)
    worst: Counterexample | None = None
    compared = False
    for one, other in pairs if world is None else neighbours(world, guarantee.relation, guarantee.people):
        try:
            published = cached(one), cached(other)
        except InvalidInput:
            # A table that is refused publishes nothing, and no guarantee was made about it.
            continue
        compared = True
        for (here, left), (there, right) in permutations(zip((one, other), published, strict=True)):
            example = _compared(guarantee, here, there, hockey_stick(left, right, growth_above(guarantee.epsilon)))
            if example is not None and (worst is None or example.excess > worst.excess):
                worst = example
    require_compared(compared)
    return worst


def require_compared(anything: bool) -> None:
    """Refuse an audit that compared nothing."""
    if not anything:
        raise InvalidInput(
            "The mechanism refuses every table of this world, so nothing was compared. Audit a world that it accepts."
        )


def under_sampling(mechanism: Mechanism, guarantee: DifferentialUnderSampling, world: World) -> Counterexample | None:
    """LQS Definition 3: differential privacy of the mechanism behind Poisson sampling."""
    whole = Differential(guarantee.epsilon, guarantee.delta, guarantee.relation)
    return differential(sampled(mechanism, Fraction(guarantee.rate)), whole, world)


def neighbours(world: World, relation: Relation, people: int = 1) -> Iterator[Pair]:
    """Every table of a world next to every table that differs from it in up to `people` people."""
    for table in world.databases():
        for size in range(1, people + 1):
            for places in combinations(range(len(table)), size):
                yield from ((table, other) for other in _changed(world, table, places, relation))


def _changed(world: World, table: Database, places: tuple[int, ...], relation: Relation) -> Iterator[Database]:
    rest = tuple(value for place, value in enumerate(table) if place not in places)
    if relation is Relation.ADD_REMOVE:
        yield rest
    elif relation is Relation.CONCEAL:
        yield (*rest, *(CONCEALED for _ in places))
    else:
        yield from (_filled(world, rest, given) for given in _listed(world.values, len(places)))


def _listed(values: tuple[Value, ...], size: int) -> Iterator[tuple[Value, ...]]:
    if not size:
        yield ()
        return
    for first in values:
        for rest in _listed(values, size - 1):
            yield (first, *rest)


def _filled(world: World, table: Database, values: tuple[Value, ...]) -> Database:
    for value in values:
        table = world.joined(table, value)
    return table


def _compared(guarantee: Differential, here: Database, there: Database, gap: Gap) -> Counterexample | None:
    delta = Fraction(guarantee.delta)
    if gap.delta <= delta:
        return None
    return Counterexample(
        guarantee=guarantee.words(),
        people=here,
        person=_person(here, there),
        compared=f"the people {' '.join(map(str, there)) or 'nobody'}: {_COMPARED[guarantee.relation]}",
        event=gap.event,
        likely=gap.left,
        unlikely=gap.right,
        allowed=gap.left - gap.delta + delta,
    )


def _person(here: Database, there: Database) -> Value | None:
    """Who is in the first table and not in the second, or the other way round."""
    for more, fewer in ((here, there), (there, here)):
        left = list(fewer)
        for value in more:
            if value not in left:
                return value
            left.remove(value)
    return None

"""Guarantees by their definitions: the worst counterexample among the tables of a tiny world, or None.

Crowd-blending privacy is CBP Definitions 3 and 4, zero-knowledge privacy CBP Definition 2 and ZKP Definition 1,
differential privacy under sampling LQS Definition 3, outlier privacy after Lui and Pass, Outlier Privacy, TCC 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, permutations, product
from math import comb
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.exact.distributions import (
    CONCEALED,
    Database,
    Distribution,
    Mechanism,
    Value,
    World,
    beside,
    growth_above,
    hockey_stick,
    mix,
    poisson_sampled,
    samples,
    surely,
)
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Guarantee,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)

_MOST_OUTCOMES = 6


@dataclass(frozen=True)
class Counterexample:
    """Two situations that the guarantee calls hard to tell apart, and an event that tells them apart.

    `excess` is the probability beyond what was guaranteed; the event has it whichever way it is counted, since all
    numbers are exact.
    """

    guarantee: str
    people: Database
    person: Hashable | None
    compared: str
    event: frozenset[Hashable]
    likely: Fraction
    unlikely: Fraction
    allowed: Fraction
    why: str = ""

    @property
    def excess(self) -> Fraction:
        """The amount by which the event is more likely than the guarantee allows."""
        return self.likely - self.allowed

    def describe(self) -> str:
        """Return the counterexample for people to read."""
        outcomes = sorted(map(text_of, self.event))
        more = f" and {len(outcomes) - _MOST_OUTCOMES} more" if len(outcomes) > _MOST_OUTCOMES else ""
        lines = [
            f"guarantee    {self.guarantee}",
            f"people       {' '.join(map(text_of, self.people)) or 'nobody'}",
            *([f"person       {text_of(self.person)}"] if self.person is not None else []),
            f"compared     {self.compared}",
            f"event        the output is {' or '.join(outcomes[:_MOST_OUTCOMES])}{more}",
            f"probability  {number(self.likely)} against {number(self.unlikely)}",
            f"allowed      {number(self.allowed)}, so {number(self.excess)} too much",
        ]
        return "\n".join(lines + ([f"why          {self.why}"] if self.why else []))

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "guarantee": self.guarantee,
            "people": [text_of(value) for value in self.people],
            "person": None if self.person is None else text_of(self.person),
            "compared": self.compared,
            "event": sorted(map(text_of, self.event)),
            "likely": float(self.likely),
            "unlikely": float(self.unlikely),
            "allowed": float(self.allowed),
        }


def text_of(value: Hashable) -> str:
    """Return a value or an outcome, short and the same on every run."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(text_of, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text_of, value)) + ")"
    return str(value)


def number(value: Fraction) -> str:
    """Return a fraction as it is when that is short, and in digits.

    >>> number(Fraction(1, 3)), number(Fraction(0)), number(Fraction(1, 7**20))
    ('1/3 = 0.333333', '0', '1.25325e-17')
    """
    if value.denominator == 1:
        return str(value)
    digits = f"{float(value):.6g}"
    return f"{value} = {digits}" if value.denominator < 10_000 else digits


Pair = tuple[Database, Database]
Aggregate = Callable[[Database], Distribution]
# From what was seen of the aggregate and how many people there are to what would be published.
Simulator = Callable[[Hashable, int], Distribution]
_COMPARED = {
    Relation.ADD_REMOVE: "one of them is missing",
    Relation.REPLACE: "one of them has other data",
    Relation.CONCEAL: "the data of one of them are concealed",
}


def _compare(
    guarantee: CrowdBlending | Differential | ZeroKnowledge,
    people: Database,
    person: Hashable | None,
    situation: str,
    sides: tuple[Distribution, Distribution],
    delta: Fraction = Fraction(0),
    why: str = "",
) -> Counterexample:
    """Return the event that is likelier on the left by most than e^ε times its right probability, plus delta."""
    growth = growth_above(guarantee.epsilon)
    gap = hockey_stick(*sides, growth)
    allowed = growth * gap.right + delta
    return Counterexample(guarantee.words(), people, person, situation, gap.event, gap.left, gap.right, allowed, why)


def _worst(candidates: Iterable[Counterexample], *, some: bool = True) -> Counterexample | None:
    """Return the largest excess, if any is above 0; an audit that compared nothing is refused if `some` is set."""
    worst = max(candidates, key=lambda one: one.excess, default=None)
    if worst is None and some:
        raise InvalidInput(
            "The mechanism refuses every table of this world, so nothing was compared. Audit a world that it accepts."
        )
    return worst if worst is not None and worst.excess > 0 else None


def crowd_blending(mechanism: Mechanism, guarantee: CrowdBlending, world: World) -> Counterexample | None:
    """Return the worst person who neither blends with k people nor could be removed.

    People blend when no table of the world tells them apart. A larger world can only tell more people apart, so what
    is found here is a proof, and what is not found holds for tables of this size.
    """
    cached = cache(mechanism)
    blends = _blending_pairs(cached, world, growth_above(guarantee.epsilon))

    def outside_crowds() -> Iterator[Counterexample]:
        for table, place in world.people():
            crowd = sum((table[place], other) in blends for other in table)
            if crowd >= guarantee.k:
                continue
            why = f"the person blends with {crowd} of them, counting the person, and {guarantee.k} are guaranteed"
            compared = "the same people without that person, or the other way round"
            for left, right in permutations((cached(table), cached(world.without(table, place)))):
                yield _compare(guarantee, table, table[place], compared, (left, right), why=why)

    return _worst(outside_crowds(), some=False)


def _blending_pairs(mechanism: Mechanism, world: World, growth: Fraction) -> set[tuple[Value, Value]]:
    """Return the pairs of values that no table of the world tells apart by more than the factor growth."""
    pairs = {(value, value) for value in world.values}
    rests = list(world.databases(world.most - 1))
    for both in combinations(world.values, 2):
        if all(
            hockey_stick(mechanism(world.join(rest, one)), mechanism(world.join(rest, other)), growth).delta <= 0
            for rest in rests
            for one, other in permutations(both)
        ):
            pairs |= {*permutations(both)}
    return pairs


def differential(
    mechanism: Mechanism, guarantee: Differential, world: World | None = None, pairs: Iterable[Pair] = ()
) -> Counterexample | None:
    """Return the worst counterexample among all neighbours of a world, or among some pairs of tables."""
    cached = cache(mechanism)
    tables = pairs if world is None else neighbours(world, guarantee.relation, guarantee.people)
    return _worst(one for pair in tables for one in _both_ways(cached, guarantee, pair))


def _both_ways(mechanism: Mechanism, guarantee: Differential, pair: Pair) -> Iterator[Counterexample]:
    try:
        published = [(table, mechanism(table)) for table in pair]
    except InvalidInput:
        # A table that is refused publishes nothing, and no guarantee was made about it.
        return
    for (here, left), (there, right) in permutations(published):
        compared = f"the people {' '.join(map(str, there)) or 'nobody'}: {_COMPARED[guarantee.relation]}"
        yield _compare(guarantee, here, _person(here, there), compared, (left, right), Fraction(guarantee.delta))


def _person(here: Database, there: Database) -> Value | None:
    """Return who is in the first table and not in the second, or the other way round."""
    for more, fewer in ((here, there), (there, here)):
        left = list(fewer)
        for value in more:
            if value not in left:
                return value
            left.remove(value)
    return None


def under_sampling(mechanism: Mechanism, guarantee: DifferentialUnderSampling, world: World) -> Counterexample | None:
    """Return the worst counterexample to differential privacy of the mechanism behind Poisson sampling."""
    whole = Differential(guarantee.epsilon, guarantee.delta, guarantee.relation)
    return differential(poisson_sampled(mechanism, Fraction(guarantee.rate)), whole, world)


def neighbours(world: World, relation: Relation, people: int = 1) -> Iterator[Pair]:
    """Yield every table of a world next to every table that differs from it in up to `people` people."""
    for table in world.databases():
        for size in range(1, people + 1):
            for places in combinations(range(len(table)), size):
                rest = tuple(value for place, value in enumerate(table) if place not in places)
                if relation is Relation.REPLACE:
                    yield from ((table, reduce(world.join, new, rest)) for new in product(world.values, repeat=size))
                else:
                    yield table, rest if relation is Relation.ADD_REMOVE else (*rest, *[CONCEALED] * size)


def outlier_private(
    mechanism: Mechanism, guarantee: OutlierPrivate, world: World, bin_of: Callable[[Value], Hashable] = lambda v: v
) -> Counterexample | None:
    """Return the worst person for the size of that person's bin: the fewer share it, the less one may matter."""
    cached = cache(mechanism)

    def one_missing() -> Iterator[Counterexample]:
        for table, place in world.people():
            size = sum(bin_of(other) == bin_of(table[place]) for other in table)
            owed = Differential(_allowed_loss(guarantee, size), guarantee.delta, Relation.ADD_REMOVE)
            yield from _both_ways(cached, owed, (table, world.without(table, place)))

    return _worst(one_missing())


def _allowed_loss(guarantee: OutlierPrivate, size: int) -> float:
    """Return factor·ε(size), rounded up: what exceeds it exceeds the guarantee."""
    owed = Fraction(guarantee.factor) * Fraction(guarantee.epsilon)
    if size < guarantee.limit - guarantee.transition:
        owed = owed * guarantee.transition / (guarantee.limit - size)
    nearest = float(owed)
    return nearest if nearest >= owed else math.nextafter(nearest, math.inf)


def zero_knowledge(
    mechanism: Mechanism, guarantee: ZeroKnowledge, world: World, aggregate: Aggregate, simulator: Simulator
) -> Counterexample | None:
    """Return the worst person whom this simulator, seeing only the aggregate of the others, fails to cover.

    The definition asks for some simulator. A counterexample shows that this one is not it.
    """
    if guarantee.people != 1:
        raise InvalidInput(
            f"A zero-knowledge guarantee is audited for one person, got one for {guarantee.people} people together. "
            "Audit the guarantee that it was derived from."
        )
    cached = cache(mechanism)

    @cache
    def simulate(others: Database) -> Distribution:
        seen = aggregate((*others, CONCEALED) if guarantee.relation is Relation.CONCEAL else others)
        return mix((chance, simulator(view, len(others) + 1)) for view, chance in seen.items())

    def people() -> Iterator[Counterexample]:
        compared = "the simulator, who sees the aggregate of the others, or the other way round"
        for table, place in world.people():
            try:
                both = cached(table), simulate(world.without(table, place))
            except InvalidInput:
                continue
            for left, right in permutations(both):
                yield _compare(guarantee, table, table[place], compared, (left, right), Fraction(guarantee.delta))

    return _worst(people())


def random_samples(size: int) -> Aggregate:
    """Return the aggregate of `size` different people, each set equally likely; of fewer people everybody."""

    def view_of(table: Database) -> Distribution:
        people = min(size, len(table))
        share = Fraction(1, comb(len(table), people))
        return mix((share, surely(some)) for some in combinations(table, people))

    return view_of


def iid_samples(rate: Fraction, rounds: int = 1) -> Aggregate:
    """Return the aggregate of `rounds` samples, each of which keeps everybody with probability `rate`."""

    def view_of(table: Database) -> Distribution:
        one = mix((chance, surely(some)) for chance, some in samples(table, rate))
        return one if rounds == 1 else beside([one] * rounds)

    return view_of


@dataclass(frozen=True)
class ExactClaim:
    """A mechanism with finite output distributions, audited on every table of a tiny world, or on some pairs."""

    guarantee: Guarantee
    mechanism: Mechanism
    world: World
    pairs: Iterable[Pair] = ()
    aggregate: Aggregate | None = None
    simulator: Simulator | None = None
    bin_of: Callable[[Hashable], Hashable] = lambda value: value

    def finding(self) -> Counterexample | None:
        """Return the worst counterexample to the guarantee, by its definition."""
        mechanism, world = self.mechanism, self.world
        match self.guarantee:
            case CrowdBlending() as guarantee:
                return crowd_blending(mechanism, guarantee, world)
            case Differential() as guarantee:
                return differential(mechanism, guarantee, None if self.pairs else world, self.pairs)
            case DifferentialUnderSampling() as guarantee:
                return under_sampling(mechanism, guarantee, world)
            case OutlierPrivate() as guarantee:
                return outlier_private(mechanism, guarantee, world, self.bin_of)
            case ZeroKnowledge() as guarantee:
                if self.aggregate is None or self.simulator is None:
                    raise InvalidInput(
                        "A zero-knowledge guarantee needs an aggregate and a simulator that sees it. Pass both."
                    )
                return zero_knowledge(mechanism, guarantee, world, self.aggregate, self.simulator)
        raise InvalidInput(
            f"{type(self.guarantee).__name__} is not audited by its definition. Use one of CrowdBlending, "
            "Differential, DifferentialUnderSampling, OutlierPrivate and ZeroKnowledge."
        )

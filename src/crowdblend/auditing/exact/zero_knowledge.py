"""Zero-knowledge privacy by CBP Definition 2 and ZKP Definition 1, against a simulator that is given."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import combinations
from math import comb

from crowdblend.auditing.exact.counterexample import Counterexample
from crowdblend.auditing.exact.differential import require_compared
from crowdblend.auditing.exact.distributions import Distribution, beside, growth_above, hockey_stick, mix, surely
from crowdblend.auditing.exact.worlds import CONCEALED, Database, Mechanism, World, remembered, samples
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Relation, ZeroKnowledge

Aggregate = Callable[[Database], Distribution]


def random_samples(size: int) -> Aggregate:
    """The data of `size` different people, each set equally likely; of fewer people everybody."""

    def seen(table: Database) -> Distribution:
        drawn_here = min(size, len(table))
        share = Fraction(1, comb(len(table), drawn_here))
        return mix((share, surely(some)) for some in combinations(table, drawn_here))

    return seen


def iid_samples(rate: Fraction, rounds: int = 1) -> Aggregate:
    """`rounds` samples, each of which keeps everybody with probability `rate`."""

    def seen(table: Database) -> Distribution:
        one = mix((chance, surely(some)) for chance, some in samples(table, rate))
        return one if rounds == 1 else beside([one] * rounds)

    return seen


def drawn(table: Database, size: int) -> Distribution:
    """A draw of exactly `size` people without replacement."""
    return random_samples(size)(table)


# What it saw and how many people there are, to what it would publish.
Simulator = Callable[[Hashable, int], Distribution]


def zero_knowledge(
    mechanism: Mechanism, guarantee: ZeroKnowledge, world: World, aggregate: Aggregate, simulator: Simulator
) -> Counterexample | None:
    """The worst person whom this simulator, seeing only the aggregate of the others, fails to cover.

    The definition asks for some simulator. A counterexample shows that this one is not it.
    """
    if guarantee.people != 1:
        raise InvalidInput(
            f"a zero-knowledge guarantee is audited for one person, got one for {guarantee.people} people together. "
            "Audit the guarantee that it was derived from."
        )
    cached = remembered(mechanism)
    growth, delta = growth_above(guarantee.epsilon), Fraction(guarantee.delta)
    simulated = remembered(lambda table: _simulated(table, aggregate, simulator, guarantee.relation))
    worst: Counterexample | None = None
    compared = False
    for table, place in world.people():
        try:
            real, simulation = cached(table), simulated(world.without(table, place))
        except InvalidInput:
            # A table that is refused publishes nothing, and no guarantee was made about it.
            continue
        compared = True
        for left, right in ((real, simulation), (simulation, real)):
            gap = hockey_stick(left, right, growth)
            if gap.delta > delta and (worst is None or gap.delta - delta > worst.excess):
                worst = Counterexample(
                    guarantee=guarantee.words(),
                    people=table,
                    person=table[place],
                    compared="the simulator, who sees the aggregate of the others, or the other way round",
                    event=gap.event,
                    likely=gap.left,
                    unlikely=gap.right,
                    allowed=growth * gap.right + delta,
                )
    require_compared(compared)
    return worst


def _simulated(others: Database, aggregate: Aggregate, simulator: Simulator, relation: Relation) -> Distribution:
    """What the simulator publishes when the person is removed from the table, or concealed in it."""
    seen = aggregate((*others, CONCEALED) if relation is Relation.CONCEAL else others)
    return mix((chance, simulator(view, len(others) + 1)) for view, chance in seen.items())

"""What honest mechanisms and broken ones are made of, as exact distributions on tiny worlds."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from flint import arb

from crowdblend.lab.auditing.exact.definitions import Counterexample, ExactClaim, differential
from crowdblend.lab.auditing.exact.distributions import (
    Database,
    Distribution,
    Mechanism,
    Value,
    World,
    beside,
    growth_above,
    mix,
    surely,
)
from crowdblend.lab.auditing.statistical.run import Verdict, audit
from crowdblend.lab.auditing.statistical.subject import Subject
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence

HALF = Fraction(1, 2)
Classes = Callable[[Value], Hashable]


@dataclass(frozen=True)
class OrderClaim:
    """A mechanism that claims that the order of people does not matter."""

    mechanism: Mechanism
    world: World

    def finding(self) -> Counterexample | None:
        orders = [(table, other) for table in self.world.databases() for other in set(permutations(table))]
        return differential(self.mechanism, close(0.0, relation=Relation.REPLACE), pairs=orders)


@dataclass(frozen=True)
class SampledClaim:
    """A black box that can only be run, audited by running it."""

    subject: Subject

    def finding(self) -> Verdict | None:
        verdict = audit(self.subject, runs=8_000, error=1e-6)
        return verdict if verdict.finding else None


def push_forward(distribution: Distribution, function: Callable[..., Hashable]) -> Distribution:
    """Return the distribution of a function of the outcome."""
    return mix((mass, surely(function(outcome))) for outcome, mass in distribution.items())


Claim = ExactClaim | OrderClaim | SampledClaim


@dataclass(frozen=True)
class BrokenMechanism:
    """Two claims that differ in one mistake. The audit must refute the broken one and not the honest one."""

    name: str
    mistake: str
    broken: Claim
    honest: Claim


BROKEN_MECHANISMS: dict[str, BrokenMechanism] = {}


def add(name: str, mistake: str, broken: Claim, honest: Claim) -> None:
    """Add a broken claim beside an honest one."""
    BROKEN_MECHANISMS[name] = BrokenMechanism(name, mistake, broken, honest)


def mistaken(
    name: str, mistake: str, guarantee: Guarantee, world: World, honest: Mechanism
) -> Callable[[Mechanism], Mechanism]:
    """Decorate a mechanism with the mistake in it, beside an honest one that claims the same of the same tables."""

    def register(broken: Mechanism) -> Mechanism:
        add(name, mistake, *(ExactClaim(guarantee, one, world) for one in (broken, honest)))
        return broken

    return register


def itself(value: Value) -> Hashable:
    """Return the class of a value when everybody with other data is another class."""
    key: Hashable = value
    return key


def shown(table: Database, k: int, classes: Classes = itself) -> frozenset[tuple[Hashable, int]]:
    """Return the classes of at least k people, with their counts."""
    return frozenset((c, n) for c, n in Counter(map(classes, table)).items() if n >= k)


def suppressed(k: int, classes: Classes = itself) -> Mechanism:
    """Return the mechanism that shows the counts of at least k, and nothing of the others."""
    return lambda table: surely(shown(table, k, classes))


def blurred(count: int, ratio: Fraction, top: int) -> Distribution:
    """Return the count plus discrete Laplace noise with this ratio, with everything outside 0 … top at its ends."""
    scale = (1 - ratio) / (1 + ratio)
    ends = {0: scale * ratio**count / (1 - ratio), top: scale * ratio ** (top - count) / (1 - ratio)}
    return {value: scale * ratio ** abs(value - count) for value in range(1, top)} | ends


def noisy(cells: Sequence[Hashable], ratio: Fraction, top: int) -> Mechanism:
    """Return the mechanism that puts noise on every declared cell, the empty ones too."""
    return lambda table: beside(blurred(table.count(cell), ratio, top) for cell in cells)


def close(epsilon: float, delta: float = 0.0, relation: Relation = Relation.ADD_REMOVE) -> Differential:
    """Return differential privacy, with one person more or less unless said otherwise."""
    return Differential(epsilon, delta, relation)


def sampled_delta(k: int, rate: Fraction, epsilon: float) -> float:
    """Return the δ of sampling and suppression, exactly and rounded up."""
    growth = growth_above(epsilon)

    def compute() -> arb:
        exact = arb(growth.numerator) / growth.denominator
        divergence: arb = crowd_divergence(balls, k, balls.number(float(rate)), balls.number(1), exact)
        return divergence

    return balls.upper_bound(compute)

"""Tables from disjoint parts of one sample: the bound holds in random small worlds, by exact enumeration."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import lcm, prod

from crowdblend.calculus import RULES
from crowdblend.calculus.loss_curves import delta_of, grid_of, together
from crowdblend.calculus.profiles import profile_of
from crowdblend.guarantees.profiles import Profile, Uses
from crowdblend.guarantees.programme import PartInCrowds, ProgrammeCurve
from crowdblend.numerics.balls import round_up
from crowdblend.numerics.crowd_divergence import crowd_divergence
from crowdblend.numerics.programme import CrowdTerm, Term, programme_divergence, programme_divergences
from tests.cases import for_each

from . import fractions_arithmetic as exact
from .distributions import Distribution, both, divergence, epsilon_above, growth_below, hockey_stick

ONE = Fraction(1)
GROWTHS = (ONE, Fraction(21, 20), Fraction(3, 2), Fraction(3))
WORLDS, AT_ONCE = 400, 50


def suppressed(*parts: tuple[Fraction, int]) -> list[tuple[Fraction, Term]]:
    return [(share, CrowdTerm(k, ONE)) for share, k in parts]


@dataclass(frozen=True)
class World:
    """A person and some others, each with a value; table i shows classes[i][value] from ks[i] on."""

    person: int
    others: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]
    ks: tuple[int, ...]
    rate: Fraction
    shares: tuple[Fraction, ...]

    @property
    def parts(self) -> list[tuple[Fraction, Term]]:
        return suppressed(*zip(self.shares, self.ks, strict=True))

    def laws(self, *, together: bool = False) -> tuple[Distribution, Distribution]:
        """What is published with the person and without; `together`: every table is of the whole sample."""
        return self._law((*self.others, self.person), together), self._law(self.others, together)

    def _law(self, people: tuple[int, ...], together: bool) -> Distribution:
        rates = [self.rate * share for share in self.shares]
        chances = [self.rate] if together else rates
        chances = [1 - sum(chances), *chances]
        scale = lcm(*(chance.denominator for chance in chances))
        weights = [int(chance * scale) for chance in chances]
        law: Counter = Counter()
        for places in product(range(len(weights)), repeat=len(people)):
            weight = prod(weights[place] for place in places)
            shown = tuple(
                self._shown(table, people, places, {1} if together else {table + 1}) for table in range(len(self.ks))
            )
            law[shown] += weight
        whole = scale ** len(people)
        return {shown: Fraction(weight, whole) for shown, weight in law.items()}

    def _shown(self, table: int, people: tuple[int, ...], places: tuple[int, ...], inside: set[int]) -> tuple:
        counts = Counter(
            self.classes[table][value] for value, place in zip(people, places, strict=True) if place in inside
        )
        return tuple(sorted((label, count) for label, count in counts.items() if count >= self.ks[table]))


def random_world(seed: int) -> World:
    chance = random.Random(seed)
    tables, values = chance.choice([2, 2, 3]), chance.choice([1, 2, 3])
    weights = [chance.randint(1, 5) for _ in range(tables)]
    unused = chance.choice([0, 0, chance.randint(1, 4)])
    return World(
        person=0,
        others=tuple(chance.randrange(values) for _ in range(chance.randint(1, 5 if tables == 2 else 3))),
        classes=tuple(tuple(chance.randrange(2) for _ in range(values)) for _ in range(tables)),
        ks=tuple(chance.randint(1, 3) for _ in range(tables)),
        rate=Fraction(chance.randint(1, 9), 10),
        shares=tuple(Fraction(weight, sum(weights) + unused) for weight in weights),
    )


@for_each("first", range(0, WORLDS, AT_ONCE), daily=2)
def test_the_bound_holds_in_random_worlds_in_both_directions(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        world = random_world(seed)
        with_person, without = world.laws()
        for growth in GROWTHS:
            more, fewer = programme_divergences(exact, world.parts, world.rate, growth)
            assert hockey_stick(with_person, without, growth) <= more, world
            assert hockey_stick(without, with_person, growth) <= fewer, world


def test_a_smaller_number_would_be_caught() -> None:
    """Thresholds one higher, or the rates at which people are in a part in place of b and q, claim too little."""

    worlds = [(world, world.laws()) for world in map(random_world, range(120))]

    def caught(claimed: Callable[[World, Fraction], Fraction]) -> bool:
        return any(divergence(*laws, growth) > claimed(world, growth) for world, laws in worlds for growth in GROWTHS)

    def higher(world: World, growth: Fraction) -> Fraction:
        raised = zip(world.shares, (k + 1 for k in world.ks), strict=True)
        return programme_divergence(exact, suppressed(*raised), world.rate, growth)

    def one_part_alone(world: World, growth: Fraction) -> Fraction:
        alone = (
            crowd_divergence(exact, k, world.rate * share, ONE, growth)
            for share, k in zip(world.shares, world.ks, strict=True)
        )
        return max(alone)

    assert not caught(lambda world, growth: programme_divergence(exact, world.parts, world.rate, growth))
    assert caught(higher)
    assert caught(one_part_alone)


def test_the_same_tables_of_the_whole_sample_are_not_covered() -> None:
    """CBP Proposition 7: without parts a person can be alone where two crowds overlap."""
    world = World(0, (1, 2), ((0, 0, 1), (0, 1, 0)), (2, 2), Fraction(1, 2), (Fraction(1, 2),) * 2)
    bound = programme_divergence(exact, world.parts, world.rate, Fraction(3))
    assert divergence(*world.laws(), Fraction(3)) <= bound < divergence(*world.laws(together=True), Fraction(3))


@for_each("k", [1, 2, 4])
@for_each("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_one_part_is_the_exact_delta(k: int, rate: Fraction) -> None:
    for growth in GROWTHS:
        whole = programme_divergence(exact, suppressed((ONE, k)), rate, growth)
        assert whole == crowd_divergence(exact, k, rate, ONE, growth)
        # A share that nobody looks at only lowers the rate.
        some = programme_divergence(exact, suppressed((Fraction(1, 3), k)), rate, growth)
        assert some == crowd_divergence(exact, k, rate / 3, ONE, growth)


def test_the_bound_is_within_a_factor_of_two_of_a_person_with_one_companion() -> None:
    """Of two parts one shows a class from 2 on and the other nobody: half of the weighted average is attained."""
    world = World(0, (0,), ((0,), (0,)), (2, 9), Fraction(1, 2), (Fraction(1, 2),) * 2)
    true = hockey_stick(*world.laws(), Fraction(3))
    bound, _ = programme_divergences(exact, world.parts, world.rate, Fraction(3))
    assert 0 < true <= bound <= 2 * true


@for_each("rate", [0.5, 0.25])
@for_each("parts", [((0.5, 2), (0.25, 3)), ((0.25, 2),) * 4])
def test_the_rule_rounds_the_bound_upwards_and_hardly(rate: float, parts: tuple[tuple[float, int], ...]) -> None:
    for growth in (Fraction(1), Fraction(6, 5), Fraction(4)):
        epsilon = epsilon_above(growth)
        premises = [PartInCrowds(share, k, 0.0) for share, k in parts]
        claimed = RULES["programme.parts"].conclude(*premises, rate=rate, epsilon=epsilon).delta
        given = suppressed(*((Fraction(share), k) for share, k in parts))
        true = programme_divergence(exact, given, Fraction(rate), growth_below(epsilon))
        assert true <= Fraction(claimed) <= true * (1 + Fraction(1, 10**9))


def dyadic_world(seed: int) -> World:
    """A random world whose rate and shares are doubles."""
    world, chance = random_world(seed), random.Random(seed)
    eighths = [Fraction(chance.randint(1, 8 // len(world.ks)), 8) for _ in world.ks]
    return replace(world, others=world.others[:3], rate=Fraction(chance.choice([2, 4, 6]), 8), shares=tuple(eighths))


def curve(world: World) -> ProgrammeCurve:
    parts = (PartInCrowds(float(share), k, 0.0) for share, k in zip(world.shares, world.ks, strict=True))
    return ProgrammeCurve(float(world.rate), tuple(parts))


@for_each("seed", range(12))
def test_releases_of_parts_compose_by_their_profiles(seed: int) -> None:
    """Two releases, each from a sample of its own: the exact product of both worlds, both ways."""
    worlds = dyadic_world(seed), dyadic_world(seed + 100)
    uses = Profile(tuple(Uses(curve(world), 1) for world in worlds)).uses
    pair = together(uses, grid_of(uses), 1e-16)
    (more, fewer), (other_more, other_fewer) = (world.laws() for world in worlds)
    with_person, without = both(more, other_more), both(fewer, other_fewer)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        # A little above e^ε the divergence is a little smaller; a bound below it would be false.
        growth = growth_below(epsilon) * (1 + Fraction(1, 10**30))
        for law, true in (
            (pair.up, hockey_stick(with_person, without, growth)),
            (pair.down, hockey_stick(without, with_person, growth)),
        ):
            assert true <= Fraction(round_up(law.delta(epsilon)))


def test_the_profile_of_parts_is_the_rule_at_every_epsilon() -> None:
    parts = [
        RULES["programme.part"](RULES["histogram.suppressed"](k=k), share=share) for share, k in ((0.7, 9), (0.2, 5))
    ]
    for epsilon in (0.2, 1.0):
        made = RULES["dps.differential"](RULES["programme.parts"](*parts, rate=0.5, epsilon=epsilon))
        profile = profile_of(made).conclusion
        assert profile.uses[0].curve == ProgrammeCurve(0.5, (PartInCrowds(0.7, 9, 0.0), PartInCrowds(0.2, 5, 0.0)))
        assert made.conclusion.delta <= delta_of(profile, epsilon) <= 1.05 * made.conclusion.delta

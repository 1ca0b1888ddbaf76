"""Stratified samples: in small worlds of three strata nothing exceeds the worst stratum, by exact enumeration."""

import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs import Stratum
from crowdblend.methods.planning.strata import plan_strata
from crowdblend.trusted.calculus import RULES, Derivation
from crowdblend.trusted.calculus.loss_curves import delta_of, grid_of, together
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.guarantees.profiles import CrowdCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import StrataCurve, StratumOfSample
from crowdblend.trusted.numerics.balls import round_up
from tests.cases import for_each

from .class_of_people import worst_class
from .distributions import Distribution, both, divergence, epsilon_above, growth_below, hockey_stick

GROWTHS = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(3))
EIGHTHS = [Fraction(number, 8) for number in range(1, 8)]
WORLDS, AT_ONCE = 60, 30


@dataclass(frozen=True)
class World:
    """People with a stratum, a class of it and a rate; classes of a stratum are shown from its k on."""

    people: tuple[tuple[int, int, Fraction], ...]
    ks: tuple[int, ...]

    def law(self, person: tuple[int, int, Fraction] | None = None) -> Distribution:
        """What is published about these people, and one person more."""
        people = (*self.people, *([] if person is None else [person]))
        law: Counter = Counter()
        for sampled in product((False, True), repeat=len(people)):
            chance = prod(rate if kept else 1 - rate for (*_, rate), kept in zip(people, sampled, strict=True))
            counts = Counter(place[:2] for place, kept in zip(people, sampled, strict=True) if kept)
            law[tuple(sorted((place, n) for place, n in counts.items() if n >= self.ks[place[0]]))] += chance
        return dict(law)


@dataclass(frozen=True)
class Case:
    """A world of three strata, the rates of each, and somebody who may be in any of them."""

    world: World
    rates: tuple[tuple[Fraction, Fraction], ...]

    def persons(self) -> list[tuple[int, int, Fraction]]:
        return [(stratum, 0, rate) for stratum, ends in enumerate(self.rates) for rate in ends]


def random_case(seed: int, *, biased: bool) -> Case:
    chance = random.Random(seed)
    ends = []
    for _ in range(3):
        low = chance.choice(EIGHTHS)
        ends.append((low, min(low + Fraction(chance.randint(0, 2), 8), Fraction(7, 8)) if biased else low))
    people = []
    for _ in range(chance.randint(1, 6)):
        stratum = chance.randrange(3)
        people.append((stratum, chance.randrange(2), chance.choice(ends[stratum])))
    ks = tuple(chance.randint(2 if biased else 1, 3) for _ in range(3))
    return Case(World(tuple(people), ks), tuple(ends))


def claim(case: Case, epsilon: float) -> Derivation:
    """What the rules say of this design, by the derivation that a release has."""
    strata = []
    for k, (low, high) in zip(case.world.ks, case.rates, strict=True):
        crowds = RULES["histogram.suppressed"](k=k)
        if low == high:
            sampled = RULES["suppression.exact"](crowds, rate=float(low), epsilon=epsilon)
            strata.append(RULES["strata.at-one-rate"](sampled))
        else:
            ends = {"low": float(low), "high": float(high)}
            strata.append(RULES["strata.between-rates"](crowds, **ends, epsilon=epsilon))
    return RULES["strata.worst"](*strata)


@for_each("biased", [False, True])
@for_each("first", range(0, WORLDS, AT_ONCE), daily=1)
def test_nothing_in_small_worlds_exceeds_the_certificate(first: int, biased: bool) -> None:
    """One person more or less in any stratum, at any rate that the stratum may have, both ways."""
    for seed in range(first, first + AT_ONCE):
        case = random_case(seed, biased=biased)
        without = case.world.law()
        persons = [case.world.law(person) for person in case.persons()]
        for growth in GROWTHS:
            claimed = Fraction(claim(case, epsilon_above(growth)).conclusion.delta)
            for with_person in persons:
                assert divergence(with_person, without, growth) <= claimed, (case, growth)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_a_person_who_changes_stratum_is_covered_by_the_replace_form(first: int) -> None:
    for seed in range(first, first + 20):
        case = random_case(seed, biased=False)
        laws = [case.world.law(person) for person in case.persons()[::2]]
        for growth in GROWTHS:
            made = RULES["differential.replace"](claim(case, epsilon_above(growth)))
            claimed = Fraction(made.conclusion.delta)
            for one in laws:
                for other in laws:
                    assert hockey_stick(one, other, growth * growth) <= claimed, case


def test_the_worst_stratum_alone_is_attained_and_less_is_caught() -> None:
    """The largest δ of the strata is true of its own stratum; the δ of any other stratum would not be."""
    rates, ks = (Fraction(1, 8), Fraction(1, 4), Fraction(3, 4)), (2, 2, 2)
    world = World(((2, 0, rates[2]), (0, 0, rates[0])), ks)
    growth = Fraction(3)
    true = divergence(world.law((2, 0, rates[2])), world.law(), growth)
    each = [worst_class(k, rate, growth) for k, rate in zip(ks, rates, strict=True)]
    assert true == max(each)
    assert max(each[:2]) < true


def test_a_class_that_spans_strata_is_not_covered_by_their_rates() -> None:
    """Two people of one class, sampled at 1/8 and 7/8: more than either rate's δ; biased sampling covers it."""
    low, high, growth = Fraction(1, 8), Fraction(7, 8), Fraction(6, 5)
    world = World(((0, 0, low),) * 4, (3,))
    true = divergence(world.law((0, 0, high)), world.law(), growth)
    epsilon = epsilon_above(growth)
    at_one_rate = max(worst_class(3, rate, growth) for rate in (low,))
    assert true > at_one_rate
    crowds = RULES["histogram.suppressed"](k=3)
    covered = RULES["strata.between-rates"](crowds, low=float(low), high=float(high), epsilon=epsilon)
    assert true <= Fraction(covered.conclusion.delta)


@for_each("seed", range(6))
def test_releases_of_strata_compose_by_their_profiles(seed: int) -> None:
    """Two releases; the person may be in another stratum in the second one. The exact product, both ways."""
    cases = random_case(seed, biased=False), random_case(seed + 100, biased=False)
    curves = [
        StrataCurve(tuple(CrowdCurve(k, 0.0, float(low)) for k, (low, _) in zip(ks, rates, strict=True)))
        for ks, rates in ((case.world.ks, case.rates) for case in cases)
    ]
    uses = Profile(tuple(Uses(curve, 1) for curve in curves)).uses
    pair = together(uses, grid_of(uses), 1e-16)
    fewer = both(*(case.world.law() for case in cases))
    for at in (0, 2, 4):
        more = both(cases[0].world.law(cases[0].persons()[at]), cases[1].world.law(cases[1].persons()[(at + 2) % 6]))
        for epsilon in (0.0, 0.5, 1.0):
            growth = growth_below(epsilon) * (1 + Fraction(1, 10**30))
            assert hockey_stick(more, fewer, growth) <= Fraction(round_up(pair.up.delta(epsilon)))
            assert hockey_stick(fewer, more, growth) <= Fraction(round_up(pair.down.delta(epsilon)))


def test_the_profile_of_strata_is_the_rule_at_every_epsilon() -> None:
    rates = tuple((rate, rate) for rate in (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2)))
    for epsilon in (0.3, 1.0):
        made = claim(Case(World((), (8, 12, 35)), rates), epsilon)
        profile = profile_of(made).conclusion
        assert made.conclusion.delta <= delta_of(profile, epsilon) <= 1.05 * made.conclusion.delta


@pytest.mark.parametrize(("delta", "rates"), [(1e-3, (0.125, 0.25, 0.5)), (1e-6, (0.0625, 0.125, 0.25))])
def test_the_k_of_every_stratum_is_the_smallest_by_an_exact_scan(delta: float, rates: tuple[float, ...]) -> None:
    """k keeps δ, and k − 1 does not, by enumeration in whole numbers of the class sizes."""
    epsilon = epsilon_above(Fraction(27, 10))
    growth = growth_below(epsilon)
    strata = {str(rate): Stratum(rate, rate, rate) for rate in rates}
    planned = plan_strata(strata, {"k": None, "epsilon": epsilon, "delta": delta})
    for stratum in planned.strata.values():
        assert worst_class(stratum.k, Fraction(stratum.rate), growth) <= Fraction(delta)
        assert worst_class(stratum.k - 1, Fraction(stratum.rate), growth * (1 + Fraction(1, 10**12))) > Fraction(delta)
    # The certificate of the plan is about people of all strata, not only those of the one with the largest k.
    worst = max(worst_class(one.k, Fraction(one.rate), growth) for one in planned.strata.values())
    assert worst <= Fraction(planned.certificate().guarantees[1].delta) <= Fraction(delta)


def test_the_largest_of_epsilon_and_delta_is_taken_apart() -> None:
    strata = StratumOfSample(0.1, 0.1, 1.0, 1e-9), StratumOfSample(0.2, 0.3, 0.5, 1e-6)
    made = RULES["strata.worst"].conclude(*strata)
    assert (made.epsilon, made.delta, made.samplings) == (1.0, 1e-6, 1)


def test_a_curve_of_no_strata_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one or more"):
        StrataCurve(())

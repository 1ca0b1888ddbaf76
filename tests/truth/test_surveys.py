"""Surveys of a fixed number of people, enumerated: every survey, everybody kept or not, every outcome.

No world exceeds what the rules state; with less than they ask for, some world does.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod

import pytest
from flint import arb

from crowdblend.trusted.calculus import RULES, Certificate, verify
from crowdblend.trusted.calculus.loss_curves import curve_of, delta_of
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    ClosenessCurve,
    CrowdCurve,
    GroupSurveyCurve,
    LossCurve,
    NoisyCountCurve,
    PointCurve,
    Profile,
    ReplacedCurve,
    SurveyCurve,
    Uses,
)
from crowdblend.trusted.numerics.balls import precision, round_up
from tests.cases import for_each, seeds

from .distributions import Distribution, epsilon_above, growth_below, hockey_stick, mix
from .programmes import Laplace, Mechanism, Moved, NoiseBelow, Response, Suppressed

ONE = Fraction(1)
EPSILONS = (0.0, 0.2, 0.7, 1.5)
WORLDS, MANY = 20, 2_560
# Rates and losses of the rules are doubles, which stand for fractions up to this.
HAIR = Fraction(1, 10**12)
Surveys = list[tuple[int, ...]]
# Nothing is known of a concealed person, who may be asked all the same.
CONCEALED = None


@dataclass(frozen=True)
class World:
    """Values of people, of whom the last one's is replaced by others; who is asked; and who of these is kept."""

    values: tuple[int, ...]
    instead: int | None
    surveys: tuple[tuple[int, ...], ...]
    mechanisms: tuple[Mechanism, ...]
    rate: Fraction

    def laws(self) -> tuple[Distribution, Distribution]:
        return self._law(self.values), self._law((*self.values[:-1], self.instead))

    def _law(self, values: tuple[int | None, ...]) -> Distribution:
        """All surveys are equally likely; every mechanism keeps people of the survey by coins of its own."""
        asked = Counter(tuple(sorted(v for v in map(values.__getitem__, one) if v is not None)) for one in self.surveys)
        return mix((Fraction(count, len(self.surveys)), self._of(table)) for table, count in asked.items())

    def _of(self, table: tuple[int, ...]) -> Distribution:
        made: dict[tuple, Fraction] = {(): ONE}
        for mechanism in self.mechanisms:
            law = thinned(mechanism, table, self.rate)
            made = {(*before, after): p * q for before, p in made.items() for after, q in law.items()}
        return made  # type: ignore[return-value]


def thinned(mechanism: Mechanism, table: tuple[int, ...], rate: Fraction) -> Distribution:
    tables: Counter = Counter()
    for kept in product((False, True), repeat=len(table)):
        chance = prod((rate if keep else 1 - rate for keep in kept), start=ONE)
        tables[tuple(value for value, keep in zip(table, kept, strict=True) if keep)] += chance
    return mix((chance, mechanism.law(some)) for some, chance in tables.items() if chance)


def curve(mechanism: Mechanism, rate: Fraction) -> LossCurve:
    """The curve of a mechanism on a survey that is thinned, with one person of the survey more or less."""
    beta = float(rate)
    if isinstance(mechanism, Suppressed):
        return CrowdCurve(mechanism.k, 0.0, beta)
    if isinstance(mechanism, Moved):
        return PointCurve(mechanism.k, epsilon_above(mechanism.blend), beta)
    assert isinstance(mechanism, NoiseBelow | Laplace | Response)
    loss = epsilon_above(1 / mechanism.ratio)
    if isinstance(mechanism, NoiseBelow):
        return NoisyCountCurve(mechanism.k, loss, beta, mechanism.flag)
    return ClosenessCurve(loss, 0.0) if rate == 1 else AmplifiedCurve(loss, 0.0, beta)


def uses(world: World, relation: Callable[[LossCurve], LossCurve] = ReplacedCurve) -> tuple[Uses, ...]:
    return tuple(Uses(relation(curve(made, world.rate)), 1) for made in world.mechanisms)


def mechanism(dice: random.Random, values: int, rate: Fraction) -> Mechanism:
    classes = tuple(dice.choice([0, 1]) for _ in range(values))
    ratio = Fraction(1, dice.choice([2, 3, 5]))
    if rate == 1:
        return dice.choice([Laplace, Response])(classes, ratio)
    made = dice.choice(["crowds", "crowds", "noise", "points", "response", "laplace"])
    if made == "crowds":
        return Suppressed(tuple(range(values)) if dice.random() < 0.7 else classes, dice.randint(1, 3))
    if made == "noise":
        return NoiseBelow((0,) * values, dice.randint(1, 3), ratio, dice.random() < 0.5)
    if made == "points":
        return Moved((0,) * values, dice.randint(1, 3), 1 / ratio)
    return (Response if made == "response" else Laplace)(classes, ratio)


def world(dice: random.Random, people: int, surveys: Surveys) -> World:
    """Mechanisms of a survey, one or two of them, each with coins of its own; noise may do without coins."""
    values = dice.choice([2, 2, 3])
    rate = dice.choice([ONE, *(Fraction(tenths, 10) for tenths in (2, 5, 8, 9))])
    most = [made := mechanism(dice, values, rate)]
    if dice.random() < 0.25 and isinstance(made, Suppressed | Response):
        most.append(Response((0,) * values, Fraction(1, 2)))
    instead = dice.choice([*range(values), CONCEALED])
    others = dice.choice([[0], range(values)])
    whole = (*(dice.choice(others) for _ in range(people - 1)), dice.randrange(values))
    return World(whole, instead, tuple(surveys), tuple(most), rate)


def of_people(seed: int) -> tuple[World, LossCurve]:
    dice = random.Random(f"people {seed}")
    people = dice.randint(2, 6)
    asked = dice.randint(1, min(people - 1, 4))
    made = world(dice, people, [*combinations(range(people), asked)])
    return made, SurveyCurve(asked, people, False, uses(made))


def of_strata(seed: int) -> tuple[World, LossCurve]:
    """Two strata, the person in the second; the larger share counts. Nobody changes the stratum."""
    dice = random.Random(f"strata {seed}")
    sizes = dice.randint(1, 3), dice.randint(2, 4)
    asked = [dice.randint(1, min(size, 2)) for size in sizes]
    first, second = range(sizes[0]), range(sizes[0], sum(sizes))
    surveys = [(*a, *b) for a in combinations(first, asked[0]) for b in combinations(second, asked[1])]
    made = world(dice, sum(sizes), surveys)
    worst = max(zip(asked, sizes, strict=True), key=lambda pair: Fraction(*pair))
    return made, SurveyCurve(*worst, True, uses(made))


def of_groups(seed: int) -> tuple[World, LossCurve]:
    """Groups of one to three people, asked together; the person is in the last one and stays there."""
    dice = random.Random(f"groups {seed}")
    sizes = [dice.randint(1, 3) for _ in range(dice.randint(2, 3))]
    ends = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    groups = [range(start, stop) for start, stop in pairwise(ends)]
    asked = dice.randint(1, len(groups) - 1)
    surveys = [tuple(one for group in some for one in group) for some in combinations(groups, asked)]
    made = world(dice, sum(sizes), surveys)
    return made, GroupSurveyCurve(asked, len(groups), uses(made))


def of_anybody(seed: int) -> tuple[World, LossCurve]:
    """Any surveys of any sizes, however chosen, as long as the replaced data do not decide: thinning alone."""
    dice = random.Random(f"anybody {seed}")
    people = dice.randint(1, 5)
    surveys = [tuple(one for one in range(people) if dice.random() < 0.7) for _ in range(dice.randint(1, 4))]
    made = replace(world(dice, people, surveys), rate=dice.choice([Fraction(1, 2), Fraction(4, 5)]))
    made = replace(made, mechanisms=made.mechanisms[:1])
    return made, uses(made)[0].curve


DESIGNS = {"people": of_people, "strata": of_strata, "groups": of_groups, "anybody": of_anybody}


def exceeding(design: str, seeds: range, *, changed: Callable[[World, LossCurve], LossCurve] | None = None) -> Iterator:
    """Worlds in which the truth is above what is stated, in either direction."""
    for seed in seeds:
        made, stated = DESIGNS[design](seed)
        laws = made.laws()
        known = curve_of(stated if changed is None else changed(made, stated))
        with precision(128):
            # A factor of 1 first: a curve of replaced data divides a factor among the points that are asked for.
            growths = [arb(epsilon).exp() for epsilon in EPSILONS]
            ways = known.bounds(growths)
        for pair, bounds in zip((laws, laws[::-1]), ways, strict=True):
            for epsilon, bound in zip(EPSILONS, bounds, strict=True):
                true = hockey_stick(*pair, growth_below(epsilon))
                if bound is not None and true > Fraction(round_up(bound)) * (1 + HAIR) + HAIR:
                    yield made, epsilon, float(true), float(bound)


@for_each("design", DESIGNS, daily=2)
@seeds(WORLDS, MANY, 500)
def test_no_world_exceeds_what_is_stated(design: str, seeds: range) -> None:
    assert next(exceeding(design, seeds), None) is None


def without_doubling(made: World, stated: LossCurve) -> LossCurve:
    """Somebody else who is asked instead is taken for nobody: the curve of one person more or less."""
    return replace(stated, uses=uses(made, lambda one: one))  # type: ignore[type-var, call-arg]


def by_people(made: World, stated: LossCurve) -> LossCurve:
    """People who are asked together are taken for people who are asked each by themselves."""
    assert isinstance(stated, GroupSurveyCurve)
    return SurveyCurve(stated.samples, stated.population, False, stated.uses)


def other_stratum(made: World, stated: LossCurve) -> LossCurve:
    """The stratum of which the smallest share is asked is taken for the worst one."""
    assert isinstance(stated, SurveyCurve)
    people = len(made.values)
    return replace(stated, samples=1, population=max(people, 2 * stated.population))


def smaller_survey(made: World, stated: LossCurve) -> LossCurve:
    assert isinstance(stated, SurveyCurve)
    return replace(stated, population=stated.population + 1)


@for_each(
    ("design", "changed"),
    [("people", without_doubling), ("people", smaller_survey), ("strata", other_stratum), ("groups", by_people)],
    daily=2,
)
def test_with_less_than_the_rule_asks_for_a_world_exceeds_it(
    design: str, changed: Callable[[World, LossCurve], LossCurve]
) -> None:
    assert next(exceeding(design, range(400), changed=changed), None) is not None


def alone(asked: int, people: int, k: int, rate: Fraction) -> World:
    """One person in a class of their own, or like everybody else."""
    surveys = tuple(combinations(range(people), asked))
    return World((0,) * (people - 1) + (1,), 0, surveys, (Suppressed((0, 1), k),), rate)


def test_a_fixed_size_breaks_what_coins_guarantee() -> None:
    """4 of 20 people, k = 3: δ = n/N = 0.2 at every ε, where coins at that rate state a tenth of it."""
    laws = alone(4, 20, 3, ONE).laws()
    assert hockey_stick(*laws, Fraction(10**9)) == Fraction(1, 5)
    coins = RULES["profile.crowds"](RULES["histogram.suppressed"](k=3), rate=0.2)
    assert RULES["profile.replace"](coins, epsilon=2.0).conclusion.delta < 0.03
    # The same survey thinned at a half is what is stated of it.
    half = alone(4, 20, 3, Fraction(1, 2))
    stated = RULES["survey.profile"](
        RULES["profile.replaced"](RULES["profile.crowds"](RULES["histogram.suppressed"](k=3), rate=0.5)),
        samples=4,
        population=20,
    )
    for epsilon in (0.2, 0.5, 1.0):
        true = max(hockey_stick(*pair, growth_below(epsilon)) for pair in (half.laws(), half.laws()[::-1]))
        delta = RULES["profile.delta"](stated, epsilon=epsilon).conclusion.delta
        assert true <= Fraction(delta) < Fraction(1, 20)


def test_amplification_is_attained() -> None:
    """A response with ratio r about one person's class, alone among others: b(r − 1)/(r + 1) at ε = 0, exactly."""
    surveys = tuple(combinations(range(5), 2))
    made = World((0,) * 4 + (1,), 0, surveys, (Response((1, 0), Fraction(1, 3)),), ONE)
    stated = SurveyCurve(2, 5, False, (Uses(ClosenessCurve(epsilon_above(Fraction(3)), 0.0), 1),))
    true = hockey_stick(*made.laws(), ONE)
    assert true == Fraction(2, 5) / 2
    assert float(true) == pytest.approx(delta_of(Profile((Uses(stated, 1),), Relation.REPLACE), 0.0), rel=1e-6)


def test_a_survey_thinned_twice_is_composed_first_and_amplified_once() -> None:
    """Two releases of one survey; as two surveys they would be stated to lose less than they do."""
    response = Response((1, 0), Fraction(1, 3))
    made = replace(alone(2, 5, 1, ONE), mechanisms=(response, response))
    one = Uses(ClosenessCurve(epsilon_above(Fraction(3)), 0.0), 2)
    epsilon = 0.8
    true = Fraction(hockey_stick(*made.laws(), growth_below(epsilon)))
    together = Profile((Uses(SurveyCurve(2, 5, False, (one,)), 1),), Relation.REPLACE)
    apart = Profile((Uses(SurveyCurve(2, 5, False, (replace(one, releases=1),)), 2),), Relation.REPLACE)
    assert delta_of(apart, epsilon) < true <= Fraction(delta_of(together, epsilon)) * (1 + HAIR)


def test_surveys_are_certified_like_any_release() -> None:
    """Certificates are made again from their leaves, and surveys of several years compose."""
    crowds = RULES["profile.crowds"](RULES["histogram.suppressed"](k=20), rate=0.5)
    survey = RULES["survey.profile"](RULES["profile.replaced"](crowds), samples=1_000, population=10_000)
    series = RULES["composition.repeated"](survey, releases=5)
    stated = RULES["profile.delta"](series, epsilon=1.0)
    known = RULES["survey.zero-knowledge"](survey, epsilon=1.0)
    assert known.conclusion.aggregate == RandomSamples(1_000, 10_000)
    assert known.conclusion.delta < stated.conclusion.delta < 5 * known.conclusion.delta * 1_000
    for made in (stated, known):
        assert verify(Certificate((made,)).to_json()).derivations[0].conclusion == made.conclusion
    assumed = {one.assumption.name for one in stated.assumptions()}
    assert {"FIXED_SIZE_SAMPLING", "INDEPENDENT_SAMPLING", "ONE_SURVEY"} <= assumed

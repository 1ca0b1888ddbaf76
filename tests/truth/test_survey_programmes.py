"""Programmes of a survey of a fixed size: parts of the people who are kept, or noise on all of them, enumerated."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from flint import arb

from crowdblend.trusted.calculus.loss_curves import curve_of
from crowdblend.trusted.guarantees.profiles import LossCurve, ReplacedCurve, SurveyCurve, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve, ProgrammeCurve
from crowdblend.trusted.numerics.balls import precision, round_up
from tests.cases import seeds

from .distributions import Distribution, growth_below, hockey_stick, mix
from .programmes import PRIVATE, Fading, Laplace, Response, World, random_world
from .test_programme import HAIR, parts_of

EPSILONS = (0.1, 0.4, 1.0, 2.0)


def asked(world: World, values: tuple[int, ...], number: int, *, parts: bool) -> Distribution:
    """Every set of so many people is equally likely to be asked, and the programme is run on those."""
    surveys = Counter(tuple(sorted(one)) for one in combinations(values, number))
    law, rates = world._law if parts else world._law_of_one_sample, (world.rate,) * number
    return mix((Fraction(count, comb(len(values), number)), law(table, rates)) for table, count in surveys.items())


def check(seed: int) -> None:
    dice, parts = random.Random(seed), seed % 2 == 0
    world = random_world(seed) if parts else random_world(seed, PRIVATE)
    if any(isinstance(made, Fading) for made in world.mechanisms):
        world = replace(world, mechanisms=tuple(Response((0, 0), Fraction(1, 2)) for _ in world.mechanisms))
    people = (*world.others, world.person)[-4:]
    number = dice.randint(1, len(people))
    instead = (*people[:-1], dice.randrange(2) if len(world.mechanisms[0].classes) > 1 else 0)
    inside: LossCurve
    if parts:
        inside = ProgrammeCurve(float(world.rate), tuple(parts_of(world)))
    else:
        noisy = [made for made in world.mechanisms if isinstance(made, Laplace | Response)]
        inside = OneSampleCurve(float(world.rate), tuple(made.use() for made in noisy))
    claimed = SurveyCurve(number, len(people), False, (Uses(ReplacedCurve(inside), 1),))
    one, other = (asked(world, values, number, parts=parts) for values in (people, instead))
    with precision(128):
        for epsilon in EPSILONS:
            bounds = curve_of(claimed).bounds([arb(epsilon).exp()])
            for (found,), laws in zip(bounds, ((one, other), (other, one)), strict=True):
                true = hockey_stick(*laws, growth_below(epsilon))
                assert found is None or true <= Fraction(round_up(found)) * (1 + HAIR) + HAIR, world


@seeds(5, 1_000, 122)
def test_no_survey_exceeds_what_its_programme_states(seeds: range) -> None:
    for seed in seeds:
        check(seed)


def test_amplified_as_if_one_person_were_missing_a_survey_exceeds_it() -> None:
    """Whoever is asked instead counts too: without replacing inside, some world loses more than is stated."""
    for seed in range(1, 400, 2):
        world = random_world(seed, PRIVATE)
        people, number = (*world.others, world.person), 1
        if len(people) < 2 or len(world.mechanisms[0].classes) < 2:
            continue
        noisy = [made for made in world.mechanisms if isinstance(made, Laplace | Response)]
        inside = OneSampleCurve(float(world.rate), tuple(made.use() for made in noisy))
        instead = (*people[:-1], 1 - people[-1])
        laws = [asked(world, values, number, parts=False) for values in (people, instead)]
        with precision(128):
            for epsilon in EPSILONS[:2]:
                share = Fraction(number, len(people))
                factor = 1 + (arb(epsilon).exp() - 1) * len(people) / number
                (up,), (down,) = curve_of(inside).bounds([factor])
                claimed = max(Fraction(round_up(found)) for found in (up, down) if found is not None) * share
                if hockey_stick(*laws, growth_below(epsilon)) > claimed * (1 + HAIR) + HAIR:
                    return
    pytest.fail("no world exceeds it")

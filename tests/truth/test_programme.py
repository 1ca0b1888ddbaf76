"""Mechanisms of any kinds on parts of one sample, and all on one sample: no small world exceeds what is claimed."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from crowdblend.errors import InvalidInput, NotApplicable
from crowdblend.trusted.calculus import RULES, Certificate, Derivation, verify
from crowdblend.trusted.calculus.loss_curves import curve_of, delta_of
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.guarantees.aggregates import IidSampling, RobustSampling
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.profiles import (
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    OutlierCurve,
    Profile,
    ReplacedCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import (
    OneSampleCurve,
    PartInCrowds,
    PartOfSample,
    PartWithNoise,
    PrivatePart,
    ProgrammeCurve,
    UnequalSampleCurve,
)
from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number
from crowdblend.trusted.numerics.balls import precision, round_up
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from crowdblend.trusted.numerics.noise_below_k import spliced_divergence
from crowdblend.trusted.numerics.points_in_crowds import shuffled_divergence
from crowdblend.trusted.numerics.programme import (
    CrowdTerm,
    NoiseTerm,
    Pair,
    PointTerm,
    chord,
    part_divergences,
    programme_divergence,
    programme_divergences,
)
from tests.cases import for_each, seeds

from . import fractions_arithmetic as exact
from .distributions import Distribution, growth_below, hockey_stick
from .programmes import ONE, PRIVATE, Fading, Laplace, Lists, NoiseBelow, Response, Suppressed, World, random_world

GROWTHS = (ONE, Fraction(21, 20), Fraction(3, 2), Fraction(3))
WORLDS, ON_ONE_SAMPLE, MANY = 40, 6, 1000
# Rates and losses of the rules are doubles, which stand for fractions up to this.
HAIR = Fraction(1, 10**12)


def truths(laws: tuple[Distribution, Distribution], growth: Fraction) -> tuple[Fraction, Fraction]:
    with_person, without = laws
    return hockey_stick(with_person, without, growth), hockey_stick(without, with_person, growth)


def worlds(first: int, last: int) -> Iterator[tuple[World, tuple[Distribution, Distribution]]]:
    for seed in range(first, last):
        world = random_world(seed)
        yield world, world.laws()


@seeds(WORLDS, MANY, 80)
def test_no_world_of_mixed_kinds_exceeds_the_bound(seeds: range) -> None:
    """In fractions, both directions by themselves; and what the rule states, which is the larger."""
    for world, laws in worlds(seeds.start, seeds.stop):
        for growth in GROWTHS:
            claimed = programme_divergences(exact, world.parts, world.rate, growth)
            for true, bound in zip(truths(laws, growth), claimed, strict=True):
                assert true <= bound, world


def parts_of(world: World) -> list[PartOfSample]:
    return [made.part(float(share)) for share, made in zip(world.shares, world.mechanisms, strict=True)]


@for_each("seed", range(24), daily=8)
def test_what_the_rules_state_is_true_and_hardly_more(seed: int) -> None:
    """The rule at one ε, and the profile at every ε, against the enumeration and against the bound in fractions."""
    world = random_world(seed)
    if any(isinstance(made, Fading) for made in world.mechanisms):
        return
    laws, parts = world.laws(), parts_of(world)
    # Wherever an enumerated share is not a double, the two are a hair apart.
    for epsilon in (0.1, 0.5, 1.5):
        growth = growth_below(epsilon)
        bound = programme_divergence(exact, world.parts, world.rate, growth)
        stated = RULES["programme.parts"].conclude(*parts, rate=float(world.rate), epsilon=epsilon).delta
        assert max(truths(laws, growth)) <= Fraction(stated) * (1 + HAIR) + HAIR
        assert abs(Fraction(stated) - min(bound, world.rate)) <= bound / 10**8 + HAIR
        with precision(128):
            ways = curve_of(ProgrammeCurve(float(world.rate), tuple(parts))).bounds([arb(epsilon).exp()])
            for true, (found,) in zip(truths(laws, growth), ways, strict=True):
                assert found is None or true <= Fraction(round_up(found)) * (1 + HAIR) + HAIR


def outlier_world(ratios: tuple[Fraction, ...]) -> World:
    noisy = Fading((0,), ratios)
    return World(0, (0, 0), (noisy, Suppressed((0,), 2)), Fraction(1, 2), (Fraction(1, 2), Fraction(1, 4)))


# ε(j) = tε/(K − j) with ε = 1.5, t = 1, K = 3: rational ratios next to e^−ε(j).
OUTLIER_RATIOS = tuple(Fraction(int(10**18 / growth_below(loss)) + 1, 10**18) for loss in (0.5, 0.75, 1.5))


def test_an_outlier_table_is_one_of_the_parts() -> None:
    """The curve of the real noise covers the enumeration."""
    world = outlier_world(OUTLIER_RATIOS)
    curve = ProgrammeCurve(0.5, (PrivatePart(0.5, (Uses(OutlierCurve(1.5, 1, 3), 1),)), PartInCrowds(0.25, 2, 0.0)))
    for epsilon in (0.1, 0.3, 0.6):
        stated = RULES["programme.parts"].conclude(*curve.publications, rate=0.5, epsilon=epsilon).delta
        true = max(truths(world.laws(), growth_below(epsilon)))
        assert true <= Fraction(stated) * (1 + HAIR)
        assert stated <= delta_of(Profile((Uses(curve, 1),)), epsilon) <= 1.05 * stated


Others = Callable[[Fraction, Fraction], Fraction]


def averaged(
    world: World,
    growth: Fraction,
    *,
    others: Others = lambda taken, own: own / (1 - taken + own),
    person: Others = lambda taken, _own: taken,
    stretched: Fraction = ONE,
) -> Pair:
    """The theorem, written again so that every piece of it can be changed."""
    taken, up, down = world.rate * sum(world.shares), Fraction(0), Fraction(0)
    for share, term in world.parts:
        own = world.rate * share
        b = person(taken, own)
        gain = max(1 - growth * (1 - b), Fraction(0))
        factors = 1 + (growth - 1) / b, growth * b / gain * stretched if gain else ONE
        more, fewer = term.gaps(exact, others(taken, own), factors, (b, gain))
        up, down = up + own / taken * b * min(more, ONE), down + own / taken * gain * min(fewer, ONE)
    return up, down


def only_the_first_part(world: World, growth: Fraction) -> Pair:
    (share, term), total = world.parts[0], sum(world.shares)
    more, fewer = part_divergences(exact, term, share, total, world.rate, growth)
    return share / total * more, share / total * fewer


def swapped(world: World, growth: Fraction) -> Pair:
    up, down = averaged(world, growth)
    return down, up


def sampled_twice(world: World, growth: Fraction) -> Pair:
    up, down = averaged(world, growth)
    return up * world.rate, down


MISTAKES: dict[str, Callable[[World, Fraction], Pair]] = {
    "one part counts": only_the_first_part,
    "r_i in the place of b": lambda world, growth: averaged(
        world, growth, person=lambda taken, own: own / (1 - taken + own)
    ),
    "βs_i in the place of b": lambda world, growth: averaged(world, growth, person=lambda _taken, own: own),
    "directions swapped": swapped,
    "one factor too many": sampled_twice,
    "another factor downwards": lambda world, growth: averaged(world, growth, stretched=Fraction(3, 2)),
}


def test_every_mistake_would_be_caught() -> None:
    listed = list(worlds(0, 60))
    for world, _ in listed[:20]:
        assert averaged(world, GROWTHS[1]) == programme_divergences(exact, world.parts, world.rate, GROWTHS[1])
    for name, mistake in MISTAKES.items():
        assert any(
            true > bound
            for world, laws in listed
            for growth in GROWTHS
            for true, bound in zip(truths(laws, growth), mistake(world, growth), strict=True)
        ), name


def test_what_other_parts_say_about_the_others_counts() -> None:
    """The second part lists the others and never the person: who is left is in the first with r_i, not with βs_i."""
    world = World(0, (1, 1), (Suppressed((0, 0), 2), Lists((0, 1))), Fraction(9, 10), (Fraction(1, 3), Fraction(2, 3)))
    truth, growth = hockey_stick(*world.laws(), Fraction(3)), Fraction(3)
    assert truth <= averaged(world, growth)[0] == programme_divergences(exact, world.parts, world.rate, growth)[0]
    assert truth > averaged(world, growth, others=lambda _taken, own: own)[0]


@for_each("k", [1, 2])
def test_the_bound_is_attained(k: int) -> None:
    """Parts that show a person who is alone; and one part of the whole sample, with the worst number of others."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    alone = World(0, (), (Suppressed((0,), 1), NoiseBelow((0,), 1, third, True)), Fraction(2, 5), (half, half))
    noise = World(0, (), (Response((0,), third),), third, (ONE,))
    for growth in GROWTHS:
        for world in (alone, noise):
            bounds = programme_divergences(exact, world.parts, world.rate, growth)
            assert truths(world.laws(), growth)[0] == bounds[0]
    for mechanism in (Suppressed((0,), k + 1), NoiseBelow((0,), k, Fraction(1, 10), False)):
        whole = [World(0, (0,) * n, (mechanism,), half, (ONE,)) for n in range(6)]
        bound = programme_divergence(exact, whole[0].parts, half, Fraction(3, 2))
        assert max(max(truths(world.laws(), Fraction(3, 2))) for world in whole) == bound


def test_the_same_tables_of_the_whole_sample_are_not_covered() -> None:
    """CBP Proposition 7: without parts a person can be alone where two crowds overlap."""
    half, growth = Fraction(1, 2), Fraction(3)
    world = World(0, (1, 2), (Suppressed((0, 0, 1), 2), Suppressed((0, 1, 0), 2)), half, (half, half))
    bound = programme_divergence(exact, world.parts, world.rate, growth)
    assert max(truths(world.laws(), growth)) <= bound < max(truths(world.laws_of_one_sample(), growth))


@for_each("rate", [Fraction(1, 5), Fraction(1, 2), Fraction(5, 6)])
def test_one_part_of_the_whole_sample_is_the_mechanism_by_itself(rate: Fraction) -> None:
    """With one rate for everybody the terms are those of the rules for one publication, to the last digit."""
    for growth, k, share in product(GROWTHS, (1, 2, 4), (ONE, Fraction(1, 3))):
        # A share that nobody looks at only lowers the rate.
        part = programme_divergence(exact, [(share, CrowdTerm(k, ONE))], rate, growth)
        assert part == crowd_divergence(exact, k, rate * share, ONE, growth)
    for growth in GROWTHS[2:]:
        for flag in (False, True):
            whole = [(ONE, NoiseTerm(2, Fraction(1, 10), flag))]
            single = spliced_divergence(exact, 2, rate, Fraction(1, 10), growth, flagged=flag)
            assert programme_divergence(exact, whole, rate, growth) == single
        points = programme_divergence(exact, [(ONE, PointTerm(3, Fraction(2)))], rate, growth)
        assert points == min(shuffled_divergence(exact, 3, rate, Fraction(2), growth), rate)


def test_a_term_below_the_factor_of_its_crowd_is_a_chord_and_true() -> None:
    """Noise below k, of which only is known that it blends: at small factors too."""
    sharp, blends = NoiseTerm(2, Fraction(1, 4), False), CrowdTerm(2, Fraction(4))
    for factor in (Fraction(1), Fraction(3, 2), Fraction(3), Fraction(4), Fraction(6)):
        for rate in (Fraction(1, 10), Fraction(1, 2)):
            how: tuple[Arithmetic, Number, Pair, Pair] = (exact, rate, (factor, factor), (ONE, ONE))
            assert all(x <= y for x, y in zip(sharp.gaps(*how), blends.gaps(*how), strict=True))
    here, back = Fraction(1, 7), Fraction(1, 5)
    assert chord(Fraction(4), Fraction(4), here, back) == here
    assert chord(Fraction(1, 4), Fraction(4), here, back) == 1 - Fraction(1, 4) + back / 4


# All mechanisms on one sample.


@seeds(ON_ONE_SAMPLE, MANY, 240)
def test_no_world_of_one_sample_exceeds_the_composition_amplified_once(seeds: range) -> None:
    for seed in seeds:
        world = random_world(seed, PRIVATE)
        made = [mechanism for mechanism in world.mechanisms if isinstance(mechanism, Laplace | Response)]
        curve = OneSampleCurve(float(world.rate), tuple(mechanism.use() for mechanism in made))
        hold_below(curve, world.laws_of_one_sample())
        # Everybody has a rate of their own, an exception any, and who is protected at most the largest.
        dice = random.Random(seed)
        rates = [Fraction(dice.randint(1, 9), 20) for _ in (*world.others, world.person)]
        low, high = float(min(rates)), float(max(rates))
        unequal = UnequalSampleCurve(low, high, 1, high, curve.uses)
        if world.others:
            rates[0] = Fraction(dice.choice([0, 19, 20]), 20)
        hold_below(unequal, world.laws_of_one_sample(tuple(rates)))
        # Who may have any rate is in the sample for certain.
        certain = UnequalSampleCurve(low, high, 1, 1.0, curve.uses)
        hold_below(certain, world.laws_of_one_sample((*rates[:-1], ONE)))


def hold_below(curve: LossCurve, laws: tuple[Distribution, Distribution]) -> None:
    with precision(128):
        for epsilon in (0.05, 0.2, 0.5, 1.0):
            ways = curve_of(curve).bounds([arb(epsilon).exp()])
            for true, (found,) in zip(truths(laws, growth_below(epsilon)), ways, strict=True):
                assert found is not None
                assert true <= Fraction(round_up(found)) * (1 + HAIR) + HAIR, (curve, laws)


def test_amplified_once_is_attained_and_amplifying_each_would_not_be_true() -> None:
    """Five responses about one person: the divergence itself; each amplified by itself claims far too little."""
    five = World(0, (), (Response((0,), Fraction(1, 2)),) * 5, Fraction(1, 10), (Fraction(1, 5),) * 5)
    uses = (Uses(ClosenessCurve(five.mechanisms[0].use().curve.epsilon, 0.0), 5),)  # type: ignore[attr-defined]
    once, each = Profile((Uses(OneSampleCurve(0.1, uses), 1),)), Profile((Uses(OneSampleCurve(0.1, uses[:1]), 1),))
    for epsilon in (0.1, 0.5, 0.9):
        true = max(truths(five.laws_of_one_sample(), growth_below(epsilon)))
        assert true * (1 - HAIR) <= Fraction(delta_of(once, epsilon)) <= true * (1 + Fraction(1, 10**6))
    single = Profile((Uses(OneSampleCurve(0.1, (Uses(uses[0].curve, 1),)), 5),))
    assert delta_of(single, 0.5) < delta_of(once, 0.5) / 10
    assert each == once


def test_each_direction_of_one_sample_has_its_own_law() -> None:
    """An outlier table beside a response: with the person and without differ, and neither may stand for the other."""
    world = outlier_world(OUTLIER_RATIOS)
    uses = (Uses(OutlierCurve(1.5, 1, 3), 1), Response((0,), Fraction(1, 2)).use())
    exceeded = [0, 0]
    with precision(128):
        for others in ((), (0,), (0, 0)):
            both = replace(world, others=others, mechanisms=(world.mechanisms[0], Response((0,), Fraction(1, 2))))
            laws = both.laws_of_one_sample()
            for epsilon in (0.02, 0.1, 0.3, 0.5, 0.6):
                (up,), (down,) = curve_of(OneSampleCurve(0.5, uses)).bounds([arb(epsilon).exp()])
                assert up is not None
                assert down is not None
                bounds = [Fraction(round_up(bound)) * (1 + HAIR) for bound in (up, down)]
                for way, true in enumerate(truths(laws, growth_below(epsilon))):
                    assert true <= bounds[way]
                    exceeded[way] += true > bounds[1 - way]
    assert max(exceeded) > 0


def test_the_numbers_of_the_page_of_proofs() -> None:
    once = RULES["sampling.amplification"].conclude(Differential(0.5, 0.0, Relation.ADD_REMOVE), rate=0.1)
    assert 0.31427 < 5 * once.epsilon < 0.3143
    five = Profile((Uses(OneSampleCurve(0.1, (Uses(ClosenessCurve(0.5, 0.0), 5),)), 1),))
    assert 0.0057 < delta_of(five, 5 * once.epsilon) < 0.0058


# Derivations.

CROWDS = RULES["histogram.suppressed"](k=9)
LAPLACE = RULES["histogram.laplace"](noise_epsilon=1.2)
OWN = RULES["profile.differential"](LAPLACE)
OUTLIERS = RULES["profile.outliers"](epsilon=1.0, transition=5, limit=15)


def programme(epsilon: float = 1.0, rate: float = 0.3, k: int = 9) -> Derivation:
    return RULES["programme.parts"](*publications(k), rate=rate, epsilon=epsilon)


def publications(k: int = 9) -> tuple[Derivation, ...]:
    return (
        RULES["programme.part"](RULES["histogram.suppressed"](k=k), share=0.4),
        RULES["programme.part-noise-below-k"](k=8, noise_epsilon=1.5, flag=False, share=0.2),
        RULES["programme.part-points"](k=20, noise_epsilon=0.5, share=0.1),
        RULES["programme.part-private"](OWN, share=0.1),
        RULES["programme.part-private"](RULES["profile.steps"](OUTLIERS, OWN), share=0.1),
    )


def test_a_programme_is_certified_like_any_release() -> None:
    sampled = programme()
    differential = RULES["dps.differential"](sampled)
    relative = RULES["dps.zero-knowledge"](sampled)
    replaced = RULES["differential.replace"](differential)
    text = Certificate((relative, differential, replaced)).to_json()
    assert verify(text).to_json() == text
    assert relative.conclusion.aggregate == IidSampling(0.3)
    said = {made.assumption.name for made in differential.assumptions()}
    assert {"OWN_RANDOMNESS", "RANDOM_PART", "DISCRETE_LAPLACE_BELOW_K", "SHUFFLED_POINTS", "NOISE_BY_SIZE"} <= said
    assert RULES["differential.group"](differential, people=3).conclusion.people == 3


def test_the_profile_of_a_programme_is_the_rule_at_every_epsilon_and_composes() -> None:
    for epsilon in (0.3, 1.0):
        made = RULES["dps.differential"](programme(epsilon))
        profile = profile_of(made)
        assert profile.description == made.description
        assert made.conclusion.delta <= delta_of(profile.conclusion, epsilon) <= 1.05 * made.conclusion.delta
    years = RULES["composition.repeated"](profile, releases=3)
    shown = RULES["profile.epsilon"](years, delta=1e-2)
    rules = ("profile.zero-knowledge", "profile.replace")
    others = [RULES[rule](years, epsilon=2 * shown.conclusion.epsilon) for rule in rules]
    assert verify(Certificate((others[0], shown, others[1])).to_json())
    assert others[0].conclusion.aggregate == IidSampling(0.3, 3)
    assert RULES["profile.group"](years, epsilon=4.0, people=2).conclusion.people == 2


def test_strata_have_the_programme_of_the_worst() -> None:
    each = [RULES["strata.at-one-rate"](programme(rate=rate, k=k)) for rate, k in ((0.1, 9), (0.3, 12))]
    worst = RULES["strata.worst"](*each)
    assert worst.conclusion.delta == max(made.conclusion.delta for made in each)
    assert RULES["strata.zero-knowledge"](*each).conclusion.aggregate.high == 0.3
    known = profile_of(worst)
    assert (
        known.conclusion.uses[0].curve
        == RULES["profile.strata"](
            *(RULES["profile.programme"](*publications(k), rate=rate) for rate, k in ((0.1, 9), (0.3, 12)))
        )
        .conclusion.uses[0]
        .curve
    )
    assert delta_of(known.conclusion, 1.0) <= 1.05 * worst.conclusion.delta


def test_one_sample_is_certified_like_any_release() -> None:
    many = RULES["profile.one-sample"](RULES["profile.steps"](*[OWN] * 4, OUTLIERS), rate=0.1)
    shown = RULES["profile.delta"](many, epsilon=1.0)
    relative = RULES["profile.zero-knowledge"](many, epsilon=1.0)
    text = Certificate((relative, shown)).to_json()
    assert verify(text).to_json() == text
    assert relative.conclusion.aggregate == IidSampling(0.1)
    assert "FRESH_SAMPLES" not in {made.assumption.name for made in shown.assumptions()}
    rates = {"low": 0.05, "high": 0.08, "exceptions": 2, "max_rate": 0.1}
    unequal = RULES["profile.one-unequal-sample"](RULES["profile.steps"](*[OWN] * 4, OUTLIERS), **rates)
    assert RULES["profile.delta"](unequal, epsilon=1.0).conclusion.delta == shown.conclusion.delta
    assert RULES["profile.zero-knowledge"](unequal, epsilon=1.0).conclusion.aggregate == RobustSampling(0.05, 0.08, 2)


SAMPLED = RULES["profile.crowds"](CROWDS, rate=0.1)


@for_each("rule_id", ["profile.one-sample", "profile.steps", "programme.part-private"])
def test_no_profile_that_contains_a_sample_runs_on_a_sample(rule_id: str) -> None:
    parameters = {"profile.one-sample": {"rate": 0.1}, "programme.part-private": {"share": 0.5}}.get(rule_id, {})
    for profile in (
        SAMPLED,
        RULES["profile.amplified"](LAPLACE, rate=0.1),
        RULES["composition.profiles"](OWN, SAMPLED),
    ):
        with pytest.raises(NotApplicable, match="has not sampled yet"):
            RULES[rule_id](profile, **parameters)
    with pytest.raises(InvalidInput, match=f"{rule_id} applies to Profile"):
        RULES[rule_id](CROWDS, **parameters)
    # Not even as a value that says of itself that nothing was sampled.
    for curve in (CrowdCurve(9, 0.0, 0.1), ReplacedCurve(CrowdCurve(9, 0.0, 0.1))):
        if rule_id != "profile.steps":
            with pytest.raises(InvalidInput, match="without one"):
                RULES[rule_id].conclude(Profile((Uses(curve, 1),)), **parameters)


def test_what_is_no_programme_is_refused() -> None:
    part = PartInCrowds(0.6, 9, 0.0)
    for rule_id, parameters in (("programme.parts", {"epsilon": 1.0}), ("profile.programme", {})):
        for other in (PartWithNoise(0.5, 9, 1.0, False), PrivatePart(0.5, OWN.conclusion.uses)):
            with pytest.raises(NotApplicable, match="at most 1"):
                RULES[rule_id].conclude(part, other, rate=0.1, **parameters)
        with pytest.raises(InvalidInput, match="applies to PartOfSample"):
            RULES[rule_id].conclude(part, CROWDS.conclusion, rate=0.1, **parameters)
    with pytest.raises(InvalidInput, match="add up to at most 1"):
        ProgrammeCurve(0.1, (part, part))
    with pytest.raises(InvalidInput, match="one or more"):
        ProgrammeCurve(0.1, ())
    with pytest.raises(InvalidInput, match="has a mechanism"):
        PartOfSample(0.5)

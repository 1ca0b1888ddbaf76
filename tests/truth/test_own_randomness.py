"""Two mechanisms that share one random bit: each keeps its guarantee, and what is published together does not.

The first mechanism publishes a fair bit, the second the same bit, turned over if anybody is in its table. Each by
itself publishes a fair bit whatever the data.
"""

from collections.abc import Callable
from fractions import Fraction

from crowdblend.calculus import RULES, Assumption, Derivation
from tests.cases import for_each

from .definitions import add_remove_delta, crowd_blending
from .distributions import Distribution, both, divergence, growth_below, mix, surely
from .worlds import Table, samples

HALF = Fraction(1, 2)
FAIR: Distribution = {0: HALF, 1: HALF}
NOBODY: Table = ()
SOMEBODY: Table = (0,)


def padded(table: Table, pad: int) -> int:
    return pad ^ bool(table)


def alone(table: Table) -> Distribution:
    """The second mechanism by itself."""
    return mix((chance, surely(padded(table, pad))) for pad, chance in FAIR.items())  # type: ignore[arg-type]


def with_one_bit(table: Table) -> Distribution:
    """Both mechanisms, the second on this table, with one bit for both."""
    return mix((chance, surely((pad, padded(table, pad)))) for pad, chance in FAIR.items())  # type: ignore[arg-type]


def with_two_bits(table: Table) -> Distribution:
    return both(FAIR, alone(table))


def kept(run: Callable[[Table], Distribution], rate: Fraction) -> tuple[Distribution, Distribution]:
    """What is published with one person, who is in the second table with this probability, and with nobody."""
    return mix((chance, run(table)) for chance, table in samples(SOMEBODY, [rate])), run(NOBODY)


def test_each_mechanism_keeps_its_guarantee() -> None:
    for k in (1, 2, 3):
        assert crowd_blending(alone, (0, 1), 3, k, Fraction(1))
    assert add_remove_delta(alone, (0, 1), 3, Fraction(1)) == 0


CROWDS = RULES["blending.stated"](k=10, blend_epsilon=0.0)
PART = RULES["programme.part"](CROWDS, share=0.5)
STRATUM = RULES["strata.at-one-rate"](RULES["suppression.exact"](CROWDS, rate=0.5, epsilon=1.0))
PROFILE = RULES["profile.crowds"](CROWDS, rate=0.5)
CHOICE = RULES["selection.exponential"](RULES["score.stated"](sensitivity=1.0, monotone=True), epsilon=0.0)
PARTS = RULES["dps.differential"](RULES["programme.parts"](PART, PART, rate=0.5, epsilon=1.0))
OWN = RULES["profile.differential"](CHOICE)
QUARTER = Fraction(1, 4)


def at_one(profile: Derivation) -> Derivation:
    return RULES["profile.delta"](profile, epsilon=1.0)


# Derivations that do not hold of the two, and with which probability the person is in the second table.
SHARED = {
    "parts": (PARTS, QUARTER),
    "parts by profile": (at_one(RULES["profile.programme"](PART, PART, rate=0.5)), QUARTER),
    "a part with noise": (
        at_one(RULES["profile.programme"](PART, RULES["programme.part-private"](OWN, share=0.5), rate=0.5)),
        QUARTER,
    ),
    "steps by profile": (at_one(RULES["profile.steps"](OWN, OWN)), Fraction(1)),
    "one sample": (at_one(RULES["profile.one-sample"](RULES["profile.steps"](OWN, OWN), rate=0.5)), HALF),
    "strata": (RULES["strata.worst"](STRATUM, STRATUM), HALF),
    "strata, relative": (RULES["strata.zero-knowledge"](STRATUM, STRATUM), HALF),
    "strata by profile": (at_one(RULES["profile.strata"](PROFILE, PROFILE)), HALF),
    "choice": (RULES["recoding.split"](CHOICE, CROWDS, rate=0.5, share=0.5, epsilon=1.0), QUARTER),
    "choice by profile": (at_one(RULES["profile.recoding-split"](CHOICE, CROWDS, rate=0.5, share=0.5)), QUARTER),
    "steps": (RULES["composition.adaptive"](CHOICE, CHOICE), Fraction(1)),
    "releases": (RULES["composition.differential"](CHOICE, CHOICE), Fraction(1)),
    "releases by profile": (
        at_one(RULES["composition.profiles"](*[RULES["profile.differential"](CHOICE)] * 2)),
        Fraction(1),
    ),
}


@for_each("name", SHARED)
def test_a_shared_bit_breaks_the_guarantee_and_the_assumption_says_so(name: str) -> None:
    derivation, rate = SHARED[name]
    stated = derivation.conclusion
    growth = growth_below(stated.epsilon)
    assert divergence(*kept(with_one_bit, rate), growth) == rate > 10 * Fraction(stated.delta)
    assert divergence(*kept(with_two_bits, rate), growth) == 0
    said = {made.assumption for made in derivation.assumptions()}
    assert said & {Assumption.OWN_RANDOMNESS, Assumption.FRESH_SAMPLES}


def test_the_numbers_of_the_page() -> None:
    assert 0.00075 < PARTS.conclusion.delta < 0.00076


def test_a_draw_that_the_mechanism_shares_breaks_the_guarantee() -> None:
    """One of two rows is drawn, and the bit that turns its value over says which: 0-private alone, and δ = 1/2."""

    def with_one_bit(table: Table) -> Distribution:
        return mix((HALF, surely(place ^ table[place])) for place in (0, 1))

    def with_two_bits(table: Table) -> Distribution:
        return mix((HALF * HALF, surely(pad ^ table[place])) for place in (0, 1) for pad in (0, 1))

    claimed = RULES["sample-and-sanitize.differential"](
        RULES["opendp.measurement"](epsilon=0.0, delta=0.0), samples=1, population=2
    )
    assert claimed.conclusion.epsilon == claimed.conclusion.delta == 0
    assert divergence(with_one_bit((0, 0)), with_one_bit((1, 0)), Fraction(100)) == HALF
    assert divergence(with_two_bits((0, 0)), with_two_bits((1, 0)), Fraction(1)) == 0
    assert any("independently of all other randomness" in made.sentence() for made in claimed.assumptions())


def test_a_coin_that_one_of_two_mechanisms_shares_breaks_the_guarantee() -> None:
    """Heads: the bit is published; tails: the bit, turned over if anybody is there. Heads are where the bit is 0."""

    def with_one_bit(table: Table) -> Distribution:
        return mix([(HALF, surely(0)), (HALF, surely(padded(table, 1)))])

    crowds = RULES["blending.stated"](k=400, blend_epsilon=0.0)
    sampled = RULES["suppression.exact"](crowds, rate=0.5, epsilon=0.2)
    claimed = RULES["dps.random-choice"](sampled, sampled, weight=0.5)
    assert divergence(*kept(with_one_bit, HALF), growth_below(0.2)) > 10 * Fraction(claimed.conclusion.delta)
    assert any("nor on other randomness" in made.sentence() for made in claimed.assumptions())

"""Two mechanisms that share one random bit: each keeps its guarantee, and what is published together does not.

The first mechanism publishes a fair bit, the second the same bit, turned over if anybody is in its table. Each by
itself publishes a fair bit whatever the data.
"""

from collections.abc import Callable
from fractions import Fraction
from math import comb

from crowdblend.trusted.calculus import RULES, Assumption, Derivation
from tests.cases import for_each
from tests.laws.test_own_randomness import OF_MECHANISMS

from .definitions import add_remove_delta, crowd_blending
from .distributions import Distribution, both, divergence, growth_below, hockey_stick, mix, surely
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
BIASED = RULES["programme.part"](RULES["blending.stated"](k=200, blend_epsilon=0.0), share=0.5)
BIAS = {"low": 0.4, "high": 0.5, "exceptions": 0, "max_rate": 0.5}
PROFILE = RULES["profile.crowds"](CROWDS, rate=0.5)
CHOICE = RULES["selection.exponential"](RULES["score.stated"](sensitivity=1.0, monotone=True), epsilon=0.0)
PARTS = RULES["dps.differential"](RULES["programme.parts"](PART, PART, rate=0.5, epsilon=1.0))
OWN = RULES["profile.differential"](CHOICE)
QUARTER = Fraction(1, 4)
SAMPLED = RULES["suppression.exact"](CROWDS, rate=0.5, epsilon=1.0)
RELATIVE = RULES["dps.zero-knowledge"](SAMPLED)
DRAWN = RULES["sample-and-sanitize.sharp"](RULES["opendp.measurement"](epsilon=0.0, delta=0.0), samples=1, population=2)


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
    "strata beside noise": (RULES["strata.together"](STRATUM, STRATUM), HALF),
    "strata beside noise, relative": (RULES["strata.together-zero-knowledge"](STRATUM, STRATUM), HALF),
    "parts of a biased sample": (at_one(RULES["profile.unequal-programme"](BIASED, BIASED, **BIAS)), QUARTER),
    "rows": (at_one(RULES["rows.own-coins"](PROFILE, rows_per_person=2)), HALF),
    "choice": (RULES["recoding.split"](CHOICE, CROWDS, rate=0.5, share=0.5, epsilon=1.0), QUARTER),
    "choice by profile": (at_one(RULES["profile.recoding-split"](CHOICE, CROWDS, rate=0.5, share=0.5)), QUARTER),
    "steps": (RULES["composition.adaptive"](CHOICE, CHOICE), Fraction(1)),
    "releases": (RULES["composition.differential"](CHOICE, CHOICE), Fraction(1)),
    "releases by profile": (
        at_one(RULES["composition.profiles"](*[RULES["profile.differential"](CHOICE)] * 2)),
        Fraction(1),
    ),
    "releases of one form": (at_one(RULES["composition.repeated"](OWN, releases=2)), Fraction(1)),
    "relative releases": (RULES["composition.iid-sampling"](RELATIVE, RELATIVE), HALF),
    "releases of random people": (RULES["composition.random-samples"](DRAWN, DRAWN), HALF),
    "choice of everybody": (RULES["recoding.population"](CHOICE, SAMPLED), Fraction(1)),
    "choice of everybody by profile": (at_one(RULES["profile.recoding-population"](CHOICE, PROFILE)), Fraction(1)),
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


def test_a_crowd_next_to_a_private_release_is_none_where_they_share_a_bit() -> None:
    assert crowd_blending(with_two_bits, (0, 1), 2, 10, Fraction(1))
    assert not crowd_blending(with_one_bit, (0, 1), 2, 10, Fraction(1))
    for made in NEXT_TO:
        assert (made.conclusion.k, made.conclusion.epsilon) == (10, 0)
        assert Assumption.OWN_RANDOMNESS in made.rule.theorem.assumes


NEXT_TO = (
    RULES["composition.blending-differential"](CROWDS, CHOICE),
    RULES["composition.blending-differential-both"](CROWDS, CHOICE, RULES["differential.replace"](CHOICE)),
)
NETWORK = {"degree_bound": 3, "population": 10, "scale": 1.0, "resolution": 0.1}
SEVEN = RULES["graph.sharp.degree"](
    RULES["graph.estimator.average-degree"](degree_bound=3, average_bound=3.0, samples=7), **NETWORK
)
SUM = RULES["totals.sum"](grid_steps=1, noise_epsilon=1.0)


@for_each(
    "derivation",
    [RULES["composition.networks"](SEVEN, SEVEN), RULES["totals.differential"](RULES["totals.together"](SUM, SUM))],
)
def test_noise_that_two_numbers_share_with_opposite_signs_hides_nobody(derivation: Derivation) -> None:
    """x + Y and x − Y have one law, by which nobody tells x from x + 1; their sum is 2x."""
    noise = {y: Fraction(1, 2 * 3 ** abs(y)) for y in range(-30, 31)}

    def published(x: int, second: int) -> Distribution:
        """Both numbers; noise beyond 30 adds up to less than 10⁻¹⁴ and tells nothing here."""
        return {(x + y, x + second * y): chance for y, chance in noise.items()}

    growth = growth_below(derivation.conclusion.epsilon)
    assert divergence(published(0, -1), published(1, -1), growth) > Fraction(99, 100)
    assert derivation.conclusion.delta == 0
    assert {Assumption.OWN_RANDOMNESS, Assumption.FRESH_SAMPLES} & {
        made.assumption for made in derivation.assumptions()
    }


@for_each("rule_id", ["quantile.groups", "quantile.add-remove"])
def test_coins_that_the_groups_share_break_their_quantiles(rule_id: str) -> None:
    """Two candidates, one person at the first: heads of the second are as likely as e^(−η), both where nobody is.

    With one coin and one die for both groups, they publish the same where nobody is, and else not always.
    """
    claimed = RULES[rule_id](numerator=1, denominator=2, noise_epsilon=1.0)
    heads = HALF  # more than e^(−1)

    def published(somebody: bool, die: int, coin: bool) -> int:
        return die if coin or not somebody else 0

    def law(somebody: bool, shared: bool) -> Distribution:
        coins = {(die, coin): HALF * (heads if coin else 1 - heads) for die in (0, 1) for coin in (False, True)}
        first = ((chance, one, other) for one, p in coins.items() for other, q in coins.items() for chance in [p * q])
        draws = ((p, one, one) for one, p in coins.items()) if shared else first
        return mix((p, surely((published(somebody, *one), published(False, *other)))) for p, one, other in draws)

    growth = growth_below(claimed.conclusion.epsilon)
    assert divergence(law(True, False), law(False, False), growth) == 0
    assert divergence(law(True, True), law(False, True), Fraction(1000)) == QUARTER
    assert Assumption.OWN_RANDOMNESS in claimed.rule.theorem.assumes


def test_every_rule_that_multiplies_laws_of_mechanisms_is_broken_here() -> None:
    broken = {derivation.rule.id for derivation, _ in SHARED.values()}
    broken |= {premise.rule.id for derivation, _ in SHARED.values() for premise in derivation.premises}
    elsewhere = {made.rule.id for made in NEXT_TO}
    elsewhere |= {"composition.networks", "totals.together", "quantile.groups", "quantile.add-remove"}
    assert {*OF_MECHANISMS.split()} <= broken | elsewhere


def pads(persons_rows: int, growth: Fraction, rate: Fraction) -> tuple[Distribution, Distribution]:
    """Return the laws of all classes together, with somebody who has a row in each of the first ones, and without.

    Class i publishes its number of rows plus R_i, modulo M, where all R_i are uniform and their sum is discrete Laplace
    noise modulo M: what is published of all classes is the sum of all rows, plus that noise, and uniform otherwise.
    """
    modulus, a = 96, 1 / growth
    noise = {y: (a**y + a ** (modulus - y)) * (1 - a) / ((1 + a) * (1 - a**modulus)) for y in range(1, modulus)}
    noise[0] = 1 - sum(noise.values(), start=Fraction(0))
    kept = {j: comb(persons_rows, j) * rate**j * (1 - rate) ** (persons_rows - j) for j in range(persons_rows + 1)}
    moved = mix((chance, {(y + j) % modulus: mass for y, mass in noise.items()}) for j, chance in kept.items())
    return moved, noise


def test_rows_whose_classes_share_pads_are_told_apart() -> None:
    """Any two rows blend, and one row more is hidden up to e^0.3: a δ of 0.0092 is stated where 0.180 is true."""
    growth = growth_below(0.3)
    for one, other in (pads(1, growth, Fraction(1)), pads(1, growth, Fraction(1))[::-1]):
        assert hockey_stick(one, other, growth) == 0
    row = RULES["profile.crowds"](RULES["blending.stated"](k=2000, blend_epsilon=0.3), rate=0.5)
    person = RULES["profile.delta"](RULES["rows.own-coins"](row, rows_per_person=8), epsilon=0.774)
    true = divergence(*pads(8, growth, HALF), growth_below(0.774))
    assert 0.0092 < person.conclusion.delta < 0.0093
    assert 0.1803 < true < 0.1804
    assert Assumption.OWN_RANDOMNESS in {made.assumption for made in person.assumptions()}


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

"""Two mechanisms that share one random bit: each keeps its guarantee, and what is published together does not.

The first mechanism publishes a fair bit, the second the same bit, turned over if anybody is in its table. Each by
itself publishes a fair bit whatever the data.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from crowdblend.calculus import RULES, Assumption, Derivation

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
PART = RULES["sampling.part"](CROWDS, share=0.5)
STRATUM = RULES["strata.at-one-rate"](RULES["suppression.exact"](CROWDS, rate=0.5, epsilon=1.0))
PROFILE = RULES["profile.crowds"](CROWDS, rate=0.5)
CHOICE = RULES["selection.exponential"](RULES["score.stated"](sensitivity=1.0, monotone=True), epsilon=0.0)
PARTS = RULES["dps.differential"](RULES["composition.parts"](PART, PART, rate=0.5, epsilon=1.0))
QUARTER = Fraction(1, 4)


def at_one(profile: Derivation) -> Derivation:
    return RULES["profile.delta"](profile, epsilon=1.0)


# Derivations that do not hold of the two, and with which probability the person is in the second table.
SHARED = {
    "parts": (PARTS, QUARTER),
    "parts by profile": (at_one(RULES["profile.parts"](PART, PART, rate=0.5)), QUARTER),
    "strata": (RULES["strata.worst"](STRATUM, STRATUM), HALF),
    "strata, relative": (RULES["strata.zero-knowledge"](STRATUM, STRATUM), HALF),
    "strata by profile": (at_one(RULES["profile.strata"](PROFILE, PROFILE)), HALF),
    "choice": (RULES["recoding.split"](CHOICE, CROWDS, rate=0.5, share=0.5, epsilon=1.0), QUARTER),
    "choice by profile": (at_one(RULES["profile.recoding-split"](CHOICE, CROWDS, rate=0.5, share=0.5)), QUARTER),
    "steps": (RULES["composition.adaptive"](CHOICE, CHOICE), Fraction(1)),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_bit_breaks_the_guarantee_and_the_assumption_says_so(name: str) -> None:
    derivation, rate = SHARED[name]
    stated = derivation.conclusion
    growth = growth_below(stated.epsilon)
    assert divergence(*kept(with_one_bit, rate), growth) == rate > 10 * Fraction(stated.delta)
    assert divergence(*kept(with_two_bits, rate), growth) == 0
    assert Assumption.OWN_RANDOMNESS in {made.assumption for made in derivation.assumptions()}


def test_the_numbers_of_the_page() -> None:
    assert 0.00075 < PARTS.conclusion.delta < 0.00076

"""Cells that are shown from a threshold on: every small table, enumerated cell by cell in exact fractions.

Shown values beyond every count that a world has fall by the factor a per step in any of its laws, so that all of them
are one outcome; what is below the threshold is one outcome by definition: the cell is not there.
"""

import math
from collections.abc import Hashable
from fractions import Fraction
from itertools import product

from flint import arb, ctx

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.loss_curves import curve_of, together
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, ThresholdCurve, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve
from crowdblend.trusted.numerics.balls import round_up
from crowdblend.trusted.numerics.laplace import threshold_divergences
from tests.cases import for_each

from . import fractions_arithmetic as exact
from .distributions import Distribution, both, divergence, epsilon_above, growth_below, hockey_stick, mix

CELLS, MOST = 2, 5
RATIOS = (Fraction(1, 5), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20))
FIRST_SHOWN = (1, 2, 3, 4, 5, 7, 9)
# Everybody else in the table, by cell; the person is in the first one.
OTHERS = tuple(product(range(MOST + 1), repeat=CELLS))
WORLDS = tuple(product(RATIOS, FIRST_SHOWN, OTHERS))
RATES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
SAMPLED = tuple(product(RATIOS, FIRST_SHOWN, RATES, range(MOST)))
# Two tables of one person, each with a noise and a threshold of its own.
PAIRS = tuple(product(product((Fraction(1, 3), Fraction(2, 3)), (2, 4)), repeat=2))
# A loss is a double above that of its ratio, so that what is claimed is about a little less noise.
ROUNDING = 1 - Fraction(1, 10**12)
SIZES = tuple(product((1, 2, 4, 5), repeat=2))
COMPOSED = tuple(product(PAIRS, SIZES))
FACTORS = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(20))


def cell(count: int, ratio: Fraction, show_from: int, top: int = MOST + 2) -> dict[Hashable, Fraction]:
    """What is published of a cell of so many people: nothing, a value below `top`, or one from there on."""
    if count == 0:
        return {"nothing": Fraction(1)}
    scale, top = (1 - ratio) / (1 + ratio), max(top, show_from)
    found: dict[Hashable, Fraction] = {y: scale * ratio ** abs(y - count) for y in range(show_from, top)}
    found["large"] = ratio ** (top - count) / (1 + ratio)
    found["nothing"] = 1 - sum(found.values())
    return found


def table(counts: tuple[int, ...], ratio: Fraction, show_from: int) -> Distribution:
    law: Distribution = {(): Fraction(1)}
    for count in counts:
        law = both(law, cell(count, ratio, show_from))
    return law


def with_and_without(world: tuple[Fraction, int, tuple[int, ...]]) -> tuple[Distribution, Distribution]:
    ratio, show_from, others = world
    return table((others[0] + 1, *others[1:]), ratio, show_from), table(others, ratio, show_from)


@for_each(("ratio", "show_from", "others"), WORLDS, daily=120)
def test_no_table_leaks_more_and_some_leak_that_much(ratio: Fraction, show_from: int, others: tuple[int, ...]) -> None:
    one, other = with_and_without((ratio, show_from, others))
    claimed = RULES["histogram.threshold"].conclude(noise_epsilon=epsilon_above(1 / ratio), show_from=show_from)
    found = divergence(one, other, growth_below(claimed.epsilon))
    if others[0] == 0:
        assert found * ROUNDING <= Fraction(claimed.delta) <= found * (1 + Fraction(1, 10**9))
    else:
        assert found == 0 < divergence(one, other, Fraction(999, 1000) / ratio)
    for growth in (*FACTORS, 1 / ratio):
        up, down = threshold_divergences(exact, ratio, show_from, growth)
        assert hockey_stick(one, other, growth) <= up
        assert hockey_stick(other, one, growth) <= down


@for_each(("ratio", "show_from"), product(RATIOS, FIRST_SHOWN))
def test_the_curve_is_the_worst_table(ratio: Fraction, show_from: int) -> None:
    largest = max(show_from, 2)
    pairs = [(cell(n, ratio, show_from, largest + 2), cell(n - 1, ratio, show_from, largest + 2)) for n in (1, largest)]
    for growth in (*FACTORS, 1 / ratio):
        up = max(hockey_stick(one, other, growth) for one, other in pairs)
        down = max(hockey_stick(other, one, growth) for one, other in pairs)
        assert (up, down) == threshold_divergences(exact, ratio, show_from, growth)


def claims(curves: list[LossCurve], growth: Fraction) -> tuple[Fraction, ...]:
    """What is claimed at a factor, with the person against without and back."""
    with ctx.workprec(128):
        if len(curves) == 1:
            ways = [way[0] for way in curve_of(curves[0]).bounds([arb(growth.numerator) / growth.denominator])]
        else:
            pair = together(Profile(tuple(Uses(curve, 1) for curve in curves)).uses, 1e-2, 1e-16)
            ways = [law.delta(math.log(growth)) for law in (pair.up, pair.down)]
        return tuple(Fraction(round_up(bound)) for bound in ways if bound is not None)


@for_each(("ratio", "show_from", "rate", "others"), SAMPLED, daily=210)
def test_on_a_sample_no_cell_leaks_more(ratio: Fraction, show_from: int, rate: Fraction, others: int) -> None:
    without = mix((exact.pmf(others, n, rate), cell(n, ratio, show_from)) for n in range(others + 1))
    present = mix((exact.pmf(others, n, rate), cell(n + 1, ratio, show_from)) for n in range(others + 1))
    sampled = mix([(rate, present), (1 - rate, without)])
    curve = OneSampleCurve(float(rate), (Uses(ThresholdCurve(epsilon_above(1 / ratio), show_from), 1),))
    for growth in (Fraction(1), Fraction(11, 10), Fraction(2)):
        up, down = claims([curve], growth)
        assert hockey_stick(sampled, without, growth) * ROUNDING <= up
        assert hockey_stick(without, sampled, growth) * ROUNDING <= down


@for_each(("tables", "sizes"), COMPOSED, daily=128)
def test_two_tables_compose_truly(tables: tuple[tuple[Fraction, int], ...], sizes: tuple[int, ...]) -> None:
    pairs = [(cell(n, ratio, t, 9), cell(n - 1, ratio, t, 9)) for (ratio, t), n in zip(tables, sizes, strict=True)]
    one, other = both(pairs[0][0], pairs[1][0]), both(pairs[0][1], pairs[1][1])
    curves: list[LossCurve] = [ThresholdCurve(epsilon_above(1 / ratio), t) for ratio, t in tables]
    for growth in (Fraction(1), Fraction(2), Fraction(6)):
        up, down = claims(curves, growth)
        assert hockey_stick(one, other, growth) * ROUNDING <= up
        assert hockey_stick(other, one, growth) * ROUNDING <= down


def test_publishing_cells_without_a_threshold_would_be_caught() -> None:
    """Whoever shows the cells that occur, with noise and whatever their value, says who is there: δ = 1."""
    ratio = Fraction(1, 2)
    shown = {y: mass for y, mass in cell(1, ratio, -20).items() if y != "nothing"}
    assert hockey_stick(shown, {"nothing": Fraction(1)}, Fraction(10)) > Fraction(999_999, 10**6)

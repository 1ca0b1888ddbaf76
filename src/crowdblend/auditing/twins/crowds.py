"""Mistakes around the threshold k: who is counted, what is shown of the rest."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from crowdblend.auditing.claim import ExactClaim, OrderClaim
from crowdblend.auditing.exact.distributions import Distribution, beside, mix, surely
from crowdblend.auditing.exact.worlds import Database, Mechanism, World
from crowdblend.auditing.twins.parts import HALF, Classes, blending, counted, suppressed
from crowdblend.auditing.twins.twin import Twin

LETTERS = World(("A", "B"), 4)
# People by two attributes, such as sex and county.
CROSSED = World((("m", "x"), ("m", "y"), ("f", "x"), ("f", "y")), 4)
NUMBERS = World((1, 2, 3, 4), 4)
# What a person contributes: one row, or by mistake two.
ROWS = World((("A",), ("B",), ("A", "A")), 4)


def _published(table: Database, k: int) -> frozenset[tuple[Hashable, int]]:
    return frozenset((c, n) for c, n in counted(table).items() if n >= k)


def off_by_one(table: Database) -> Distribution:
    """Shows classes of two under the name of three."""
    return suppressed(2)(table)


def star_rows(table: Database) -> Distribution:
    """Suppressed people stay in the table as rows of stars."""
    published = _published(table, 2)
    hidden = len(table) - sum(n for _, n in published)
    return surely((published, ("*", hidden)))


def kept_labels(table: Database) -> Distribution:
    """The list of labels that a file carries along names the suppressed classes too."""
    return surely((_published(table, 2), tuple(sorted(set(map(str, table))))))


def noisy_threshold(table: Database) -> Distribution:
    """A coin is added to each count before it is compared with k, and then the exact count is shown."""
    parts: dict[Any, Fraction] = {frozenset(): Fraction(1)}
    for c, n in counted(table).items():
        chance = {True: Fraction(n >= 2), False: Fraction(n >= 3)}
        appears = HALF * chance[True] + HALF * chance[False]
        parts = mix(
            (mass, {published | {(c, n)}: appears, published: 1 - appears}) for published, mass in parts.items()
        )
    return {outcome: mass for outcome, mass in parts.items() if mass}


def two_tables(table: Database) -> Distribution:
    """Two tables by different attributes, each thresholded for itself."""
    return beside(suppressed(2, _attribute(i))(table) for i in (0, 1))


def one_refinement(table: Database) -> Distribution:
    """Both tables added up from one table of both attributes, which is thresholded once."""
    kept = [value for value in table if table.count(value) >= 2]
    return surely(tuple(frozenset(counted(tuple(kept), _attribute(i)).items()) for i in (0, 1)))


def _attribute(place: int) -> Classes:
    return lambda value: value[place]


def rows_counted(table: Database) -> Distribution:
    """Rows are counted, and somebody has two of them."""
    return suppressed(2)(tuple(row for person in table for row in person))


def people_counted(table: Database) -> Distribution:
    """Everybody counts once, with the first of the rows."""
    return suppressed(2)(tuple(person[0] for person in table))


def range_of_the_group(table: Database) -> Distribution:
    """The sorted people in groups of two or more, each shown by its smallest and largest value."""
    if len(table) < 2:
        return surely(())
    cut = len(table) // 2 if len(table) >= 4 else len(table)
    groups = [group for group in (table[:cut], table[cut:]) if group]
    return surely(tuple((min(group), max(group), len(group)) for group in groups))


def fixed_ranges(table: Database) -> Distribution:
    """The ranges 1–2 and 3–4, decided beforehand."""
    return suppressed(2, lambda value: "1–2" if value in (1, 2) else "3–4")(table)


def in_order_of_input(table: Database) -> Distribution:
    """Rows of crowds, in the order in which they came."""
    return surely(tuple(value for value in table if table.count(value) >= 2))


def in_order_of_value(table: Database) -> Distribution:
    """Rows of crowds, sorted."""
    return surely(tuple(sorted(value for value in table if table.count(value) >= 2)))


def _crowds(world: World, k: int, mechanism: Mechanism) -> ExactClaim:
    return ExactClaim(blending(k), mechanism, world)


def _suppressing(name: str, mistake: str, k: int, mechanism: Mechanism) -> Twin:
    """A mechanism that is to suppress small crowds, beside one that does."""
    return Twin(name, mistake, _crowds(LETTERS, k, mechanism), _crowds(LETTERS, k, suppressed(k)))


TWINS = (
    _suppressing("off-by-one", "classes of k − 1 people are shown", 3, off_by_one),
    _suppressing("star-rows", "suppressed rows are exported as rows of *", 2, star_rows),
    _suppressing("suppressed-labels", "a file's dictionary lists the labels of suppressed classes", 2, kept_labels),
    _suppressing(
        "noisy-threshold", "the threshold is compared with noisy counts, and exact ones are shown", 3, noisy_threshold
    ),
    Twin(
        "two-tables",
        "two tables come from one sample, each with its own threshold",
        _crowds(CROSSED, 2, two_tables),
        _crowds(CROSSED, 2, one_refinement),
    ),
    Twin(
        "two-rows",
        "a person with two rows is counted twice",
        _crowds(ROWS, 2, rows_counted),
        _crowds(ROWS, 2, people_counted),
    ),
    Twin(
        "min-max-recoding",
        "groups are shown by the smallest and largest value in them",
        _crowds(NUMBERS, 2, range_of_the_group),
        _crowds(NUMBERS, 2, fixed_ranges),
    ),
    Twin(
        "row-order",
        "rows leave in the order in which they came",
        OrderClaim(in_order_of_input, LETTERS),
        OrderClaim(in_order_of_value, LETTERS),
    ),
)

"""Mistakes around the threshold k: who is counted, what is shown of the rest."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from crowdblend.auditing.broken_mechanisms.parts import HALF, BrokenMechanism, Classes, broken, shown, suppressed
from crowdblend.auditing.claim import OrderClaim
from crowdblend.auditing.exact.distributions import Distribution, beside, mix, surely
from crowdblend.auditing.exact.worlds import Database, Mechanism, World
from crowdblend.guarantees import CrowdBlending

LETTERS = World(("A", "B"), 4)
# People by two attributes, such as sex and county.
CROSSED = World((("m", "x"), ("m", "y"), ("f", "x"), ("f", "y")), 4)
NUMBERS = World((1, 2, 3, 4), 4)
# What a person contributes: one row, or by mistake two.
ROWS = World((("A",), ("B",), ("A", "A")), 4)


def star_rows(table: Database) -> Distribution:
    """Suppressed people stay in the table as rows of stars."""
    published = shown(table, 2)
    return surely((published, ("*", len(table) - sum(n for _, n in published))))


def kept_labels(table: Database) -> Distribution:
    """The list of labels that a file carries along names the suppressed classes too."""
    return surely((shown(table, 2), tuple(sorted(set(map(str, table))))))


def noisy_threshold(table: Database) -> Distribution:
    """A coin is added to each count before it is compared with k, and then the exact count is shown."""
    parts = surely(frozenset())
    for c, n in Counter(table).items():
        appears = HALF * Fraction(n >= 2) + HALF * Fraction(n >= 3)
        parts = mix(
            (mass, {published | {(c, n)}: appears, published: 1 - appears}) for published, mass in parts.items()
        )
    return {outcome: mass for outcome, mass in parts.items() if mass}


def two_tables(table: Database) -> Distribution:
    """Two tables by different attributes, each thresholded for itself."""
    return beside(suppressed(2, _attribute(i))(table) for i in (0, 1))


def one_refinement(table: Database) -> Distribution:
    """Both tables added up from one table of both attributes, which is thresholded once."""
    kept = _in_crowds(table)
    return surely(tuple(shown(kept, 1, _attribute(i)) for i in (0, 1)))


def _attribute(place: int) -> Classes:
    return lambda value: value[place]


def _in_crowds(table: Database) -> Database:
    return tuple(value for value in table if table.count(value) >= 2)


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
    return surely(tuple((min(group), max(group), len(group)) for group in (table[:cut], table[cut:]) if group))


def fixed_ranges(table: Database) -> Distribution:
    """The ranges 1–2 and 3–4, decided beforehand."""
    return suppressed(2, lambda value: "1–2" if value in (1, 2) else "3–4")(table)


def in_order_of_input(table: Database) -> Distribution:
    """Rows of crowds, in the order in which they came."""
    return surely(_in_crowds(table))


def in_order_of_value(table: Database) -> Distribution:
    """Rows of crowds, sorted."""
    return surely(tuple(sorted(_in_crowds(table))))


def _crowds(
    name: str, mistake: str, k: int, wrong: Mechanism, right: Mechanism | None = None, world: World = LETTERS
) -> BrokenMechanism:
    """A mechanism that is to hide small crowds, beside one that does: suppression, unless another is given."""
    return broken(name, mistake, CrowdBlending(k, 0.0), world, wrong, right or suppressed(k))


BROKEN = (
    _crowds("off-by-one", "classes of k − 1 people are shown", 3, suppressed(2)),
    _crowds("star-rows", "suppressed rows are exported as rows of *", 2, star_rows),
    _crowds("suppressed-labels", "a file's dictionary lists the labels of suppressed classes", 2, kept_labels),
    _crowds(
        "noisy-threshold", "the threshold is compared with noisy counts, and exact ones are shown", 3, noisy_threshold
    ),
    _crowds(
        "two-tables",
        "two tables come from one sample, each with its own threshold",
        2,
        two_tables,
        one_refinement,
        CROSSED,
    ),
    _crowds("two-rows", "a person with two rows is counted twice", 2, rows_counted, people_counted, ROWS),
    _crowds(
        "min-max-recoding",
        "groups are shown by the smallest and largest value in them",
        2,
        range_of_the_group,
        fixed_ranges,
        NUMBERS,
    ),
    BrokenMechanism(
        "row-order",
        "rows leave in the order in which they came",
        OrderClaim(in_order_of_input, LETTERS),
        OrderClaim(in_order_of_value, LETTERS),
    ),
)

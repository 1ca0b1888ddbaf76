"""Mistakes around the threshold k: who is counted, what is shown of the rest."""

from collections import Counter
from fractions import Fraction
from functools import partial

from crowdblend.lab.auditing.exact.distributions import Database, Distribution, World, beside, mix, surely
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from tests.lab.auditing.broken_mechanisms.parts import HALF, Classes, OrderClaim, add, mistaken, shown, suppressed

LETTERS = World(("A", "B"), 4)
# People by two attributes, such as sex and county.
CROSSED = World((("m", "x"), ("m", "y"), ("f", "x"), ("f", "y")), 4)
# What a person contributes: one row, or by mistake two.
ROWS = World((("A",), ("B",), ("A", "A")), 4)
PAIRS, THREES = CrowdBlending(2, 0.0), CrowdBlending(3, 0.0)
_suppressing_pairs = partial(mistaken, guarantee=PAIRS, world=LETTERS, honest=suppressed(2))
_suppressing_threes = partial(mistaken, guarantee=THREES, world=LETTERS, honest=suppressed(3))

_suppressing_threes("off-by-one", "classes of k − 1 people are shown")(suppressed(2))


@_suppressing_pairs("star-rows", "suppressed rows are exported as rows of *")
def _star_rows(table: Database) -> Distribution:
    published = shown(table, 2)
    return surely((published, ("*", len(table) - sum(n for _, n in published))))


@_suppressing_pairs("suppressed-labels", "a file's dictionary lists the labels of suppressed classes")
def _kept_labels(table: Database) -> Distribution:
    return surely((shown(table, 2), tuple(sorted(set(map(str, table))))))


@_suppressing_threes("noisy-threshold", "the threshold is compared with noisy counts, and exact ones are shown")
def noisy_threshold(table: Database) -> Distribution:
    """A coin is added to each count before it is compared with k."""
    parts = surely(frozenset())
    for c, n in Counter(table).items():
        appears = HALF * Fraction(n >= 2) + HALF * Fraction(n >= 3)
        parts = mix(
            (mass, {published | {(c, n)}: appears, published: 1 - appears}) for published, mass in parts.items()
        )
    return {outcome: mass for outcome, mass in parts.items() if mass}


def _attribute(place: int) -> Classes:
    return lambda value: value[place]


def _in_crowds(table: Database) -> Database:
    return tuple(value for value in table if table.count(value) >= 2)


def one_refinement(table: Database) -> Distribution:
    """Add both tables up from one table of both attributes, which is thresholded once."""
    kept = _in_crowds(table)
    return surely(tuple(shown(kept, 1, _attribute(i)) for i in (0, 1)))


@mistaken("two-tables", "two tables come from one sample, each with its own threshold", PAIRS, CROSSED, one_refinement)
def _two_tables(table: Database) -> Distribution:
    return beside(suppressed(2, _attribute(i))(table) for i in (0, 1))


def people_counted(table: Database) -> Distribution:
    """Count everybody once, with the first of the rows."""
    return suppressed(2)(tuple(person[0] for person in table))


@mistaken("two-rows", "a person with two rows is counted twice", PAIRS, ROWS, people_counted)
def _rows_counted(table: Database) -> Distribution:
    return suppressed(2)(tuple(row for person in table for row in person))


@mistaken(
    "min-max-recoding",
    "groups are shown by the smallest and largest value in them",
    PAIRS,
    World((1, 2, 3, 4), 4),
    suppressed(2, lambda value: "1–2" if value in (1, 2) else "3–4"),
)
def range_of_the_group(table: Database) -> Distribution:
    """The sorted people are in groups of two or more."""
    if len(table) < 2:
        return surely(())
    cut = len(table) // 2 if len(table) >= 4 else len(table)
    return surely(tuple((min(group), max(group), len(group)) for group in (table[:cut], table[cut:]) if group))


add(
    "row-order",
    "rows leave in the order in which they came",
    OrderClaim(lambda table: surely(_in_crowds(table)), LETTERS),
    OrderClaim(lambda table: surely(tuple(sorted(_in_crowds(table)))), LETTERS),
)

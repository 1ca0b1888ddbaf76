"""Releases whose recoding the data choose: who decides, who is published, and what readers are told of the choice.

    population   everybody decides; then a sample is drawn with a coin that the choice has not seen
    split        a second coin sends each sampled person to the part that decides or to the part that is published

There is no way to hand the published sample to the choice: what decides is read here, on its own, and forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from crowdblend.kinds.shared.class_counts import ChoiceReading
from crowdblend.kinds.shared.crowd_facts import Level, RecodingFacts
from crowdblend.methods.designs.draw import Coin, Everybody, Part
from crowdblend.methods.mechanisms import SampledClasses
from crowdblend.methods.recoding.code_rows import rolled_up
from crowdblend.methods.recoding.dates import DateRange
from crowdblend.methods.recoding.hierarchies import Hierarchies
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.methods.selection.lattice import Ladder, Node
from crowdblend.methods.selection.scores import Score
from crowdblend.methods.selection.search import RecodingChoice
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.columns import Column
from crowdblend.policies.crowd import RecodedPolicy
from crowdblend.policies.recoding_lattice import lattice_of, leaves_of
from crowdblend.sources.engines.engine import ClassCounts, Source
from crowdblend.sources.engines.sampling import thin_classes
from crowdblend.trusted.randomness import ReleaseKey


def read_choice(policy: RecodedPolicy, rate: float | None, source: Source, key: ReleaseKey) -> ChoiceReading:
    """Read who decides and who is published, in two passes over the data; `rate` draws those who are published.

    Where rows have no person to flip a coin for, a split reads them once and divides the counts: in a second pass over
    data that changed meanwhile, the same row could fall into the other part as well.
    """
    assert policy.recoding is not None
    share = policy.recoding.share
    coin, row_key = key.coin(), key.coin(b"rows of a person")

    def everybody(part: Part | None = None) -> ClassCounts:
        return source.class_counts(policy.columns, Everybody(part, row_key))

    def sample(part: Part | None = None) -> ClassCounts:
        return everybody(part) if rate is None else source.class_counts(policy.columns, Coin(coin, rate, part, row_key))

    if share is None:
        deciding, counted = everybody().classes, sample()
        return ChoiceReading(counted, deciding, counted.classes)
    other = key.coin(b"choosing part")
    choosing, rest = Part(other, Fraction(0), Fraction(share)), Part(other, Fraction(share), Fraction(1))
    if policy.data.person is None:
        counted = sample()
        deciding, released = (
            thin_classes(policy.columns, counted.classes, Everybody(part)) for part in (choosing, rest)
        )
        return ChoiceReading(counted, deciding, released)
    deciding, counted = sample(choosing).classes, sample(rest)
    return ChoiceReading(counted, deciding, counted.classes)


def choice_of(policy: RecodedPolicy, score: Score) -> RecodingChoice:
    """Return the choice among the recodings that the policy offers."""
    assert policy.recoding is not None
    return policy.recoding.choice(lattice_of(policy.columns), score)


def choose_recoding(
    choice: RecodingChoice, columns: Sequence[Column], deciding: SampledClasses, key: ReleaseKey
) -> Node:
    """Return the level of every column as those who decide have it."""
    return choice.run(lattice_of(columns, deciding.labels), deciding.codes, deciding.counts, key)


def recode(columns: Sequence[Column], classes: SampledClasses, node: Node) -> SampledClasses:
    """Return the released classes at the chosen levels."""
    lattice = lattice_of(columns, classes.labels)
    sizes = [int(ladder.maps[level].max()) + 1 for ladder, level in zip(lattice.ladders, node, strict=True)]
    codes, counts = rolled_up(lattice.recode(classes.codes, node), classes.counts, sizes)
    labels = [
        column.recodings[level].labels or occurring
        for column, level, occurring in zip(columns, node, classes.labels, strict=True)
    ]
    return SampledClasses(classes.columns, tuple(labels), codes, counts)


def choice_facts(
    choosing: Choosing,
    columns: Sequence[Column],
    choice: RecodingChoice,
    node: Node | None,
    released_epsilon: float,
) -> RecodingFacts:
    """Return how the recoding is chosen, and the chosen one if any: all is output, and paid for."""
    lattice = choice.lattice
    levels: dict[str, Level] = {}
    if node is not None:
        each = zip(columns, lattice.ladders, node, strict=True)
        levels = {column.name: _level(ladder, column, level) for column, ladder, level in each if column.chooses}
    return RecodingFacts(
        choice=choice.certified_choice,
        score=choosing.score,
        recodings=lattice.size,
        released_epsilon=released_epsilon,
        share=choosing.share,
        chosen=levels,
    )


def _level(ladder: Ladder, column: Column, level: int) -> Level:
    """One column's chosen level, and the loss of an average value of its declared domain."""
    leaves = leaves_of(column.recodings[0])
    loss = float((ladder.loss(level)[ladder.maps[level]] * leaves).sum() / leaves.sum())
    recoding = column.recodings[level]
    return Level(
        step=level,
        steps=ladder.levels,
        loss=round(loss, 6),
        classes=recoding.size,
        level=recoding.level if isinstance(recoding, Hierarchies) else None,
        period=recoding.period if isinstance(recoding, DateRange) else None,
        width=float(recoding.width) if isinstance(recoding, Intervals) else None,
    )

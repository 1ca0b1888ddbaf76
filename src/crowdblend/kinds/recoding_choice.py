"""Releases whose recoding the data choose: who decides, and who is published.

    population   everybody decides; then a sample is drawn with a coin that the choice has not seen
    split        a second coin sends each sampled person to the part that decides or to the part that is published

There is no way to hand the published sample to the choice: what decides is read here, on its own, and forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdblend.engines.draw import Coin, Everybody, Part
from crowdblend.engines.engine import ClassCounts, Source
from crowdblend.engines.outside_values import OutsideValues
from crowdblend.engines.sampling import thinned
from crowdblend.kinds.kind import Reading
from crowdblend.mechanisms import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.offered import lattice_of
from crowdblend.policies.recoded import RecodedPolicy
from crowdblend.randomness import ReleaseKey
from crowdblend.selection import ChosenRecoding, Node, RecodingChoice, rolled_up


@dataclass(frozen=True)
class ChoiceReading(Reading):
    """Counts of those who decide, and of those of whom classes are published; `counted` is the pass over the latter."""

    deciding: SampledClasses
    released: SampledClasses
    counted: ClassCounts

    @property
    def internal(self) -> dict[str, int]:
        people = {"people_sampled": self.released.people, "people_deciding": self.deciding.people}
        return {**self.counted.facts, "classes": len(self.released.counts), **people}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """What went to the class `other` of a column."""
        return self.counted.outside


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
        return ChoiceReading(deciding, counted.classes, counted)
    other = key.coin(b"choosing part")
    choosing, rest = Part(other, share, choosing=True), Part(other, share, choosing=False)
    if policy.data.person is None:
        counted = sample()
        deciding, released = (thinned(policy.columns, counted.classes, Everybody(part)) for part in (choosing, rest))
        return ChoiceReading(deciding, released, counted)
    deciding, counted = sample(choosing).classes, sample(rest)
    return ChoiceReading(deciding, counted.classes, counted)


def choose_recoding(
    choice: RecodingChoice, columns: Sequence[Column], deciding: SampledClasses, key: ReleaseKey
) -> ChosenRecoding:
    """The level of every column as those who decide have it, and noisy scores around it if they were paid."""
    return choice.run(lattice_of(columns, deciding.labels), deciding.codes, deciding.counts, key)


def recode(columns: Sequence[Column], released: SampledClasses, node: Node) -> SampledClasses:
    """The released classes at the chosen levels."""
    lattice = lattice_of(columns, released.labels)
    sizes = [int(ladder.maps[level].max()) + 1 for ladder, level in zip(lattice.ladders, node, strict=True)]
    codes, counts = rolled_up(lattice.recoded(released.codes, node), released.counts, sizes)
    labels = [
        column.recodings[level].labels or occurring
        for column, level, occurring in zip(columns, node, released.labels, strict=True)
    ]
    return SampledClasses(released.columns, tuple(labels), codes, counts)

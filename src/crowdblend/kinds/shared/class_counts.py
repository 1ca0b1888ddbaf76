"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.plan import Reading, ReleasePlan, software
from crowdblend.methods.designs import Design
from crowdblend.methods.designs.draw import Draw, Exactly
from crowdblend.methods.designs.draw import Everybody as EverybodyDrawn
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding, Steps
from crowdblend.methods.recoding.classes import MOST_LISTED
from crowdblend.policies.columns import Column
from crowdblend.policies.publication_policy import PeoplePolicy
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.policies.unit import Unit
from crowdblend.sources.engines.engine import ClassCounts, Engine, Progress
from crowdblend.sources.engines.refusals import at_column, larger_survey, outside_weights
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.randomness import DrawKey, ReleaseKey

if TYPE_CHECKING:
    from crowdblend.methods.planning.statistics.strata_totals import Weights
with lazy_imports():
    from crowdblend.methods.mechanisms import SampledClasses
    from crowdblend.sources.engines import packing, sampling
    from crowdblend.sources.engines.outside_values import OutsideValues


@dataclass(frozen=True)
class ClassCountsReading(Reading):
    """The class counts of the sample."""

    counted: ClassCounts

    @property
    def sample(self) -> SampledClasses:
        """The number of sampled people in each class."""
        return self.counted.classes

    @property
    def internal(self) -> dict[str, int]:
        return self.counted.facts

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        return self.counted.outside


@dataclass(frozen=True)
class ChoiceReading(ClassCountsReading):
    """Counts of those who decide, and of those of whom classes are published; `counted` is the pass over the latter."""

    deciding: SampledClasses
    released: SampledClasses

    @property
    def internal(self) -> dict[str, int]:
        people = {"people_sampled": self.released.people, "people_deciding": self.deciding.people}
        return {**self.counted.facts, "classes": len(self.released.counts), **people}


ClassPolicyT = TypeVar("ClassPolicyT", bound=PeoplePolicy)


class ClassCountsPlan(ReleasePlan[ClassPolicyT, ClassCountsReading], Generic[ClassPolicyT]):
    """A plan for a policy whose columns have classes; kinds say how people are sampled."""

    @property
    def sample(self) -> Design:
        """The design of the sample, as it is drawn and as the facts state it."""
        return self.policy.design

    @property
    def names(self) -> list[str]:
        """The columns that are read: those that are published, and strata or weights beside them."""
        return [column.name for column in (*self.policy.columns, *self._unpublished_columns)]

    def common_facts(self, most: int = MOST_LISTED) -> dict[str, Any]:
        """Return the facts that all kinds have who count classes, by field; at most `most` labels are listed."""
        columns = {column.name: column.recoding.domain(most) for column in self.policy.columns}
        data = self.policy.data
        found = {"software": software(), "person": data.person, "design": self.sample, "columns": columns}
        return found | self.policy.unit.stated

    @property
    def published_names(self) -> list[str]:
        """The columns that are published."""
        return [column.name for column in self.policy.columns]

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        return self.reading_of(
            self.count((*self.policy.columns, *self._unpublished_columns), engine, key, progress, draw)
        )

    def count(
        self,
        columns: Sequence[Column],
        engine: Engine,
        key: ReleaseKey,
        progress: Progress | None = None,
        draw: Draw | None = None,
    ) -> ClassCounts:
        """Draw the sample and count it by some columns."""
        policy, names = self.policy, list(dict.fromkeys(column.name for column in columns))
        with engine.open(policy.data, names, policy.resources, progress) as source, refusing_weights(self.strata):
            if draw is not None or not policy.unit.has_row_coins:
                return source.class_counts(columns, draw or self.draw(key.coin()))
            # Independent coins for rows that are counted by class are binomial draws from the classes.
            counts, coins = source.class_counts(columns, EverybodyDrawn(row_key=(coin := key.coin()))), self.draw(coin)
            assert not isinstance(coins, Exactly), "crowds are drawn by coins"
            return replace(counts, classes=sampling.thin_classes(columns, counts.classes, coins))

    def reading_of(self, counts: ClassCounts) -> ClassCountsReading:
        """Return what was counted by the published columns, and maybe others."""
        check_survey(self.sample, counts, self.policy.unit)
        if [*counts.classes.columns] != self.published_names:
            published = counts.classes.narrow(self.published_names)
            opened = [not column.recoding.closed for column in self.policy.columns]
            counts = replace(counts, classes=packing.only_occurring(published, opened))
        return ClassCountsReading(counts)

    def draw(self, coin: DrawKey) -> Draw:
        """Return the draw of the sample; the coin also picks one of several rows of a person."""
        return self.sample.draw(coin)

    @property
    def strata(self) -> DeclaredStrata | None:
        """The strata or weights by which people are sampled; None where there is one rate, or low and high."""
        return self.policy.strata

    @property
    def _unpublished_columns(self) -> tuple[Column, ...]:
        """Strata or weights that are read and checked, and not published."""
        return () if self.strata is None else self.strata.unpublished_columns


@contextmanager
def refusing_weights(design: DeclaredStrata | None) -> Iterator[None]:
    """Weights that no class holds are refused as such: they have no class for others, and need none."""
    try:
        yield
    except InvalidInput as problem:
        if design is None or not design.weighted or problem.code not in ("data.outside-domain", "data.outside-bounds"):
            raise
        if problem.where != at_column(design.column_name):
            raise
        raise outside_weights(design.column_name) from None


def check_survey(sample: Design, counts: ClassCounts, unit: Unit) -> None:
    """Refuse a survey of more people than were drawn: rows where everybody has one, else people.

    Where one coin kept or left all rows of a person, only those who were kept are known.
    """
    most = sample.most_people(kept_only=unit.keeps_some_rows and not unit.has_row_coins)
    if most is not None and (counts.people if unit.keeps_some_rows else counts.rows_read) > most:
        raise larger_survey(sample.people or 0)


def weight_columns(design: DeclaredStrata, weights: Weights) -> list[Column]:
    """Return the column of own weights, in steps of their unit; none where nobody has one."""
    if not design.weighted or design.column is None:
        return []
    unit = Decimal(weights.read_unit.numerator) / weights.read_unit.denominator
    return [Column(design.column.name, (Steps(BoundedRecoding(0, unit * weights.largest, unit)),))]

"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from msgspec.structs import replace as replace_fields

from crowdblend import designs as sampled
from crowdblend.designs import Biased, Coins, Everybody, Poisson, Strata, ThinnedSurvey, Weights
from crowdblend.designs.draw import Draw, Exactly
from crowdblend.designs.draw import Everybody as EverybodyDrawn
from crowdblend.engines.engine import ClassCounts, Engine, Progress
from crowdblend.engines.refusals import at_column, larger_survey, outside_weights
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.lazy import lazy_imports
from crowdblend.policies.columns import Column
from crowdblend.policies.publication_policy import PeoplePolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.sampling import Sampling
from crowdblend.policies.strata import Design
from crowdblend.randomness import DrawKey, ReleaseKey
from crowdblend.releases.plan import Reading, ReleasePlan

with lazy_imports():
    from crowdblend.engines import packing, sampling
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.mechanisms import SampledClasses


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
        """Values that went to the class `other` of a column."""
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
    @abstractmethod
    def sample(self) -> sampled.Design:
        """The design of the sample, as it is drawn and as the facts state it."""

    @property
    def names(self) -> list[str]:
        """The columns that are read: those that are published, and strata or weights beside them."""
        return [column.name for column in (*self.policy.columns, *self._unpublished_columns)]

    @property
    def published_names(self) -> list[str]:
        """The columns that are published."""
        return [column.name for column in self.policy.columns]

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        """Draw the sample and count its classes."""
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
        policy, names = self.policy, [column.name for column in columns]
        with engine.open(policy.data, names, policy.resources, progress) as source, refusing_weights(self.design):
            if draw is not None or not getattr(policy, "rows_have_coins", False):
                return source.class_counts(columns, draw or self.draw(key.coin()))
            # Independent coins for rows that are counted by class are binomial draws from the classes.
            counts, coins = source.class_counts(columns, EverybodyDrawn(row_key=(coin := key.coin()))), self.draw(coin)
            assert not isinstance(coins, Exactly), "crowds are drawn by coins"
            return replace(counts, classes=sampling.thin_classes(columns, counts.classes, coins))

    def reading_of(self, counts: ClassCounts) -> ClassCountsReading:
        """Return what was counted by the published columns, and maybe others."""
        row_coins = getattr(self.policy, "rows_have_coins", False)
        check_survey(self.sample, counts, one_row=not self.policy.data.keeps_some_rows, row_coins=row_coins)
        if [*counts.classes.columns] != self.published_names:
            counts = replace(counts, classes=_narrow(counts.classes, self.policy.columns))
        return ClassCountsReading(counts)

    def draw(self, coin: DrawKey) -> Draw:
        """Return the draw of the sample; the coin also picks one of several rows of a person."""
        return self.sample.draw(coin)

    @property
    def design(self) -> Design | None:
        """The strata or weights by which people are sampled; None where there is one rate, or low and high."""
        return getattr(self.policy, "design", None)

    @property
    def _unpublished_columns(self) -> tuple[Column, ...]:
        """Strata or weights that are read and checked, and not published."""
        return () if self.design is None else self.design.unpublished_columns


@contextmanager
def refusing_weights(design: Design | None) -> Iterator[None]:
    """Weights that no class holds are refused as such: they have no class for others, and need none."""
    try:
        yield
    except InvalidInput as problem:
        if design is None or not design.weighted or problem.code not in ("data.outside-domain", "data.outside-bounds"):
            raise
        if problem.where != at_column(design.column_name):
            raise
        raise outside_weights(design.column_name) from None


def published_strata(design: Design, *, already_drawn: bool, thin: float | None = None) -> Strata:
    """The strata or classes of weights of a sample, whose column is published; of a survey a coin may keep a share."""
    if design.weighted and design.column is not None:
        breaks = tuple(float(end) for end in getattr(design.column.recoding, "breaks", ()))
        return Weights(design.column_name, design.strata, already_drawn=thin is None, thin=thin, breaks=breaks)
    return Strata(design.column_name, design.strata, already_drawn=already_drawn, thin=thin)


def check_survey(sample: sampled.Design, counts: ClassCounts, *, one_row: bool, row_coins: bool = False) -> None:
    """Refuse a survey of more people than were drawn: rows where everybody has one, else people.

    Where one coin kept or left all rows of a person, only those who were kept are known: of as many as were drawn it
    keeps more with a probability below one in a billion (Hoeffding).
    """
    if not isinstance(sample, ThinnedSurvey):
        return
    most = float(sample.people)
    if not (one_row or row_coins):
        most = min(most, most * sample.rate + math.sqrt(most * math.log(1e9) / 2))
    if (counts.rows_read if one_row else counts.people) > most:
        raise larger_survey(sample.people)


def require_parts(sample: sampled.Design) -> None:
    """Refuse a sample whose parts are not certified: weights that differ, or nobody left out."""
    if isinstance(sample, ThinnedSurvey) and not sample.draws_here:
        message = "Parts of a survey are of those of its people whom a coin keeps, and thin = 1 keeps all."
        raise refusal("split", message, "Write thin = 0.8.", "[sampling] thin")
    if isinstance(sample, Biased) and sample.weight is not None:
        message = "Parts of a survey with weights are certified where the weights are published."
        raise refusal("split", message, f"Publish {sample.weight!r}, and add thin = 0.8.", "[sampling] column")
    if isinstance(sample, Strata) and any(one.low < one.high for one in sample.coins):
        message = "Parts of one sample are certified where everybody of a stratum has one rate."
        remedy = 'Add thin = 0.8 to [sampling], which rests on no weight; or write split = "fresh" or "budget".'
        raise refusal("split", message, remedy, "[sampling] design")


def sample_of(sampling: Sampling, design: Design | None = None) -> Poisson | Everybody | Strata | Biased:
    """Return the sample of a policy that leaves nothing of it open; everybody where no rate is stated."""
    drawn = sampling.already_drawn
    design = None if design is None or design.column is None else design
    if design is not None and design.published:
        return published_strata(design, already_drawn=drawn, thin=sampling.thin)
    low, high = (sampling.low, sampling.high) if design is None else (design.low, design.high)
    if low is not None and high is not None:
        # Nothing bounds the rate of exceptions unless the policy does, and noise protects them as well.
        most = max(high, sampling.max_rate or (1.0 if sampling.exceptions else 0.0))
        return one_sample(Biased(low, high, sampling.exceptions, most, sampling.rate), design, already_drawn=drawn)
    if sampling.rate is None:
        return Everybody()
    if sampling.people is not None and sampling.population is not None:
        return ThinnedSurvey(sampling.rate, sampling.people, sampling.population)
    return Coins(sampling.rate) if sampling.already_drawn else Poisson(sampling.rate)


def design_of_exact(design: Design, sampling: Sampling) -> Strata | Poisson | Biased | Everybody:
    """Return the sample of noisy numbers: by strata or weights, published or not, or without them."""
    if design.column is not None:
        return published_strata(design, already_drawn=sampling.already_drawn, thin=sampling.thin)
    return sample_of(sampling)


def one_sample(planned_design: Poisson | Biased, design: Design | None, *, already_drawn: bool) -> Poisson | Biased:
    """Return the planned sample as it is drawn; `design` are strata or weights that are not published."""
    if isinstance(planned_design, Poisson):
        return (
            Coins(planned_design.rate)
            if already_drawn and not isinstance(planned_design, ThinnedSurvey)
            else planned_design
        )
    if design is None:
        return replace_fields(planned_design, already_drawn=already_drawn)
    column = design.column_name
    if design.weighted:
        return replace_fields(planned_design, already_drawn=already_drawn, weight=column)
    rates = {label: stratum.rate for label, stratum in design.strata.items()}
    return replace_fields(planned_design, already_drawn=already_drawn, stratum=column, rates=rates)


def _narrow(classes: SampledClasses, columns: Sequence[Column]) -> SampledClasses:
    """The same people by the published columns alone."""
    published = classes.narrow([column.name for column in columns])
    return packing.only_occurring(published, [not column.recoding.closed for column in columns])

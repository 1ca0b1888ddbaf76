"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdblend.calculus import Assumption
from crowdblend.engines.draw import Coin, Draw, Everybody, StratifiedCoin
from crowdblend.engines.engine import Engine, Progress, check_source
from crowdblend.engines.refusals import at_column, outside_weights
from crowdblend.errors import InvalidInput
from crowdblend.kinds.kind import Reading, ReleasePlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdblend.engines.engine import ClassCounts
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.policies.columns import Column
    from crowdblend.policies.strata import Design
    from crowdblend.randomness import DrawKey, ReleaseKey


@dataclass(frozen=True)
class ClassCountsReading(Reading):
    """The class counts of the sample."""

    counted: ClassCounts

    @property
    def sample(self) -> SampledClasses:
        """How many sampled people are in each class."""
        return self.counted.classes

    @property
    def internal(self) -> dict[str, int]:
        return self.counted.facts

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """What went to the class `other` of a column."""
        return self.counted.outside


ReadingT = TypeVar("ReadingT", bound=Reading)


class ClassCountsPlan(ReleasePlan[Any, ReadingT], Generic[ReadingT]):
    """A plan for a policy whose columns have classes; kinds say at which rate a sample is drawn."""

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        raise NotImplementedError

    @property
    def draws(self) -> bool:
        """Whether a sample is drawn here; a rate is needed then."""
        return not self.policy.sampling.already_drawn

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """That the rate is assumed, and that rows are people."""
        drawn = (Assumption.ASSUMED_RATE,) if self.policy.sampling.already_drawn else ()
        return (*drawn, *super().stated_assumptions)

    def check_source(self, engine: Engine) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        check_source(engine, self.policy.data, self._names, self.policy.resources)

    def count(self, engine: Engine, key: ReleaseKey, progress: Progress | None) -> ClassCountsReading:
        """Draw the sample and count its classes."""
        policy = self.policy
        columns = (*policy.columns, *self._unpublished)
        with engine.open(policy.data, self._names, policy.resources, progress) as source, refusing_weights(self.design):
            counted = source.class_counts(columns, self.draw(key.coin()))
        if self._unpublished:
            counted = replace(counted, classes=_narrowed(counted.classes, policy.columns))
        return ClassCountsReading(counted)

    def draw(self, coin: DrawKey) -> Draw:
        """Who is in the sample; the coin also decides which of several rows of a person counts."""
        if not self.draws:
            return Everybody(row_key=coin)
        if (design := self.design) is not None:
            return StratifiedCoin(coin, design.strata.column, design.strata.rates)
        assert self.draw_rate is not None, "a sample is drawn at a rate"
        return Coin(coin, self.draw_rate)

    @property
    def design(self) -> Design | None:
        """The strata or weights by which people are sampled; None where there is one rate, or low and high."""
        return getattr(self.policy, "design", None)

    @property
    def _unpublished(self) -> tuple[Column, ...]:
        """Strata or weights that are read and checked, and not published."""
        return () if self.design is None else self.design.unpublished

    @property
    def _names(self) -> list[str]:
        return [column.name for column in (*self.policy.columns, *self._unpublished)]


@contextmanager
def refusing_weights(design: Design | None) -> Iterator[None]:
    """Weights that no class holds are refused as such: they have no class for others, and need none."""
    try:
        yield
    except InvalidInput as problem:
        if design is None or not design.weighted or problem.code not in ("data.outside-domain", "data.outside-bounds"):
            raise
        if problem.where != at_column(design.column.name):
            raise
        raise outside_weights(design.column.name) from None


def unpublished_design(design: Design | None) -> dict[str, Any]:
    """What readers are told of strata or weights that are not published; nothing where there are none."""
    if design is None or design.published:
        return {}
    if design.weighted:
        return {"design": {"weight": design.strata.column}}
    rates = {stratum.label: stratum.rate for stratum in design.strata.strata}
    return {"design": {"stratum": design.strata.column, "rates": rates}}


def _narrowed(classes: SampledClasses, columns: Sequence[Column]) -> SampledClasses:
    """The same people by the published columns alone."""
    from crowdblend.engines.packing import only_occurring  # noqa: PLC0415 - loads NumPy

    published = classes.narrowed([column.name for column in columns])
    return only_occurring(published, [not column.recoding.closed for column in columns])

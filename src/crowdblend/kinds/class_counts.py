"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdblend.calculus import Assumption
from crowdblend.engines.draw import Coin, Draw, Everybody
from crowdblend.engines.engine import Engine, Progress, check_source
from crowdblend.kinds.kind import Reading, ReleasePlan

if TYPE_CHECKING:
    from crowdblend.engines.engine import ClassCounts
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.mechanisms import SampledClasses
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
        with engine.open(policy.data, self._names, policy.resources, progress) as source:
            return ClassCountsReading(source.class_counts(policy.columns, self.draw(key.coin())))

    def draw(self, coin: DrawKey) -> Draw:
        """Who is in the sample; the coin also decides which of several rows of a person counts."""
        if not self.draws:
            return Everybody(row_key=coin)
        assert self.draw_rate is not None, "a sample is drawn at a rate"
        return Coin(coin, self.draw_rate)

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.policy.columns]

"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Assumption
from crowdblend.engines.draw import Coin, Draw, Everybody
from crowdblend.engines.engine import Engine, Source, check_source, default_engine
from crowdblend.engines.progress import Progress
from crowdblend.kinds.kind import Publication, Reading

if TYPE_CHECKING:
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.randomness import ReleaseKey


class FromCounts:
    """A promise about a policy whose columns have classes; kinds say at which rate, and what is published."""

    policy: Any

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        raise NotImplementedError

    @property
    def draws(self) -> bool:
        """Whether a sample is drawn here; a rate is needed then."""
        return not self.policy.sampling.already_drawn

    def published(self, sample: SampledClasses, key: ReleaseKey) -> Publication:
        """What is published of a sample."""
        raise NotImplementedError

    @property
    def believed(self) -> tuple[Assumption, ...]:
        """What the steward says and nobody can check."""
        says = {
            Assumption.ASSUMED_RATE: self.policy.sampling.already_drawn,
            Assumption.ROWS_ARE_PEOPLE: self.policy.data.rows_are_people,
        }
        return tuple(assumption for assumption, holds in says.items() if holds)

    def check_source(self) -> None:
        """Refuse a source that is not there or lacks a column, without reading a row."""
        names = [column.name for column in self.policy.columns]
        check_source(default_engine(), self.policy.data, names, self.policy.resources)

    def read(self, key: ReleaseKey, progress: Progress | None = None, engine: Engine | None = None) -> Reading:
        """Count the sample's classes."""
        policy, names = self.policy, [column.name for column in self.policy.columns]
        with (engine or default_engine()).open(policy.data, names, policy.resources, progress) as source:
            return self.read_source(source, key, progress)

    def read_source(self, source: Source, key: ReleaseKey, progress: Progress | None) -> Reading:
        """Count the sample's classes in a source that is open."""
        del progress
        counted = source.class_counts(self.policy.columns, self.draw(key.coin()))
        return Reading(counted.facts, lambda: self.published(counted.classes, key), counted.same_people)

    def draw(self, coin: bytes) -> Draw:
        """Who is in the sample; the coin also decides which of several rows of a person counts."""
        if not self.draws:
            return Everybody(row_key=coin)
        assert self.draw_rate is not None
        return Coin(coin, self.draw_rate)

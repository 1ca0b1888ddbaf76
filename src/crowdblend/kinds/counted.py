"""Releases of class counts: whatever is published of a sample, it is drawn and counted in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Assumption
from crowdblend.engines.progress import Progress
from crowdblend.kinds.kind import Publication, Reading

if TYPE_CHECKING:
    from crowdblend.engines.duckdb.class_counts import Classes
    from crowdblend.mechanisms import SampledClasses


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

    def published(self, sample: SampledClasses, key: bytes) -> Publication:
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
        from crowdblend.engines.duckdb.rows import open_columns  # noqa: PLC0415  the engine is loaded when it runs

        open_columns(self.policy.data, self.policy.resources, [column.name for column in self.policy.columns])

    def read(self, key: bytes, progress: Progress | None) -> Reading:
        """Count the sample's classes."""
        from crowdblend.engines.duckdb.class_counts import sample_classes  # noqa: PLC0415  the engine is loaded when it runs

        return self.read_with(lambda draw: sample_classes(self.policy, draw, progress), key, progress)

    def read_with(self, classes: Classes, key: bytes, progress: Progress | None = None) -> Reading:
        """The same from wherever class counts come: the engine, or a table that is held in memory."""
        from crowdblend.engines.duckdb.rows import Draw  # noqa: PLC0415

        del progress
        sample, facts = classes(Draw(key if self.draws else None, self.draw_rate, secret=key))
        return Reading(facts, lambda: self.published(sample, key), facts.pop("same_people", None))

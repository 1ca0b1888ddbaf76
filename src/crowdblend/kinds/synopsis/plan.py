"""Synopses: synthetic rows that answer a class of queries about exactly k people who are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdblend.kinds.shared.class_counts import ClassCountsReading
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.plan import Lines, Misfit, ReleasePlan, Result, software
from crowdblend.kinds.shared.series import one_of_series, series_of
from crowdblend.kinds.synopsis.coin_samples import (
    CountedSynopsisPlan,
    asked_queries,
    plan_counted,
    plan_rows,
    rows_output,
    universe_order,
    variants,
)
from crowdblend.kinds.synopsis.facts import Exponential, FittedRows, SynopsisFacts
from crowdblend.kinds.synopsis.policy import SynopsisPolicy
from crowdblend.methods.designs import Everybody as Register
from crowdblend.methods.designs import Survey
from crowdblend.methods.designs.draw import Draw, Everybody
from crowdblend.methods.mechanisms import SampledClasses
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, Table
from crowdblend.methods.mechanisms.synopsis.rows import Cells, count_rows, random_rows, shares
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, FittedSynopsis, Synopsis
from crowdblend.methods.mechanisms.synopsis.synopsis_plans import PlannedSynopsis, plan_synopsis
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.recoding.classes import LARGEST_DOMAIN
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True, repr=False)
class SynopsisPlan(ReleasePlan[SynopsisPolicy, ClassCountsReading]):
    """A policy with nothing left open: the mechanism, its guarantee and its error."""

    policy: SynopsisPolicy
    parameters: PlannedSynopsis

    @property
    def mechanisms(self) -> tuple[FittedSynopsis | ExponentialSynopsis]:
        return (self.parameters.mechanism,)

    @cached_property
    def order(self) -> list[int]:
        """The columns by size, the largest first: the order of the universe's axes."""
        return universe_order(self.policy)

    def facts(self, publication: Result | None = None) -> SynopsisFacts:
        policy, plan, misfit = self.policy, self.parameters, None
        (ran,) = self.mechanisms if publication is None else publication.mechanisms
        if publication is not None and isinstance(publication.outcome, Misfit):
            misfit = publication.outcome.value
        made: FittedRows | Exponential
        if isinstance(ran, FittedSynopsis):
            made = FittedRows(noise_epsilon=ran.noise_epsilon, rows=ran.rows)
        else:
            assert isinstance(ran, ExponentialSynopsis)
            made = Exponential(epsilon=ran.epsilon, rows=ran.rows)
        return SynopsisFacts(
            software=software(),
            person=policy.data.person,
            design=Survey(policy.samples, policy.people, policy.sampling.already_drawn),
            mechanism=made,
            queries=asked_queries(policy, ran.queries),
            failure=plan.failure,
            columns={column.name: column.recoding.domain(LARGEST_DOMAIN) for column in policy.columns},
            misfit=misfit,
            series=series_of(policy),
        )

    def describe(self) -> Lines:
        plan, policy, facts = self.parameters, self.policy, self.facts()
        how = "fitted to noisy counts" if plan.name == "fitted" else "chosen by the exponential mechanism"
        return [
            *self.describe_reading(),
            ("would sample", f"exactly {policy.samples} of {policy.people} people"),
            ("would publish", f"{plan.mechanism.rows:,} synthetic rows, {how}"),
            ("would answer", f"{plan.mechanism.queries.size:,} queries: {facts.queries.words(facts.sizes)}"),
            (
                "",
                f"about everybody within {at_most(plan.about_everybody.accuracy)} of the share, about the sample "
                f"within {at_most(plan.about_sample.accuracy)}, except with probability "
                f"{at_most(plan.about_everybody.failure)}",
            ),
        ]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.policy.columns]

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        """Count everybody's classes; people are drawn when the release is published."""
        assert draw is None, "a fixed number of people is drawn here"
        counted = count_classes(self.policy, Everybody(row_key=key.coin()), engine, progress)
        return EverybodyReading(counted)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """Draw the people and publish rows that answer for them; the true errors are for the steward alone."""
        (mechanism,) = self.mechanisms
        everybody = reading.sample
        shape = mechanism.queries.shape
        cells = self.cells_of(everybody)
        people = self.policy.samples
        drawn = random_rows(cells, everybody.counts, people, key.source(b"synopsis: who is drawn"))
        sample = count_rows(drawn, shape)
        rows = mechanism.publish(sample, people, key.source(b"synopsis: noise, choice and rows"))
        of_all = np.zeros(shape)
        of_all.flat[cells] = everybody.counts / everybody.people
        internal = {
            "error_about_sample": _error(mechanism.queries, rows, sample / people),
            "error_about_everybody": _error(mechanism.queries, rows, of_all),
        }
        outcome = None if rows.misfit is None else Misfit(rows.misfit)
        return Result((rows_output(self.policy, shape, rows),), (mechanism,), outcome, internal)

    def cells_of(self, classes: SampledClasses) -> Cells:
        """Return the cell of the universe of every class."""
        shape = self.parameters.mechanism.queries.shape
        return np.ravel_multi_index(tuple(classes.codes[:, place] for place in self.order), shape).astype(np.int64)


@dataclass(frozen=True)
class EverybodyReading(ClassCountsReading):
    """The class counts of everybody, of whom exactly k are drawn when it is published."""

    @property
    def internal(self) -> dict[str, int]:
        return {"rows_read": self.counted.rows_read, **self.counted.cut}


class SynopsisMethod(Method[SynopsisPolicy]):
    """Rows that answer queries about a fixed number of people."""

    def plan(self) -> SynopsisPlan:
        """Plan the mechanism with the smallest proved error, or refuse."""
        policy = self.policy
        planned = plan_synopsis(
            variants(policy),
            samples=policy.samples,
            population=policy.people,
            epsilon=one_of_series(policy).epsilon,
            failure=policy.failure,
            rows=policy.publication.rows,
            mechanism=policy.publication.mechanism,
        )
        return SynopsisPlan(policy, planned)


class CountedSynopsisMethod(Method[SynopsisPolicy]):
    """Rows that answer queries about a sample whose size is measured too."""

    def plan(self) -> CountedSynopsisPlan:
        return plan_counted(self.policy)

    def plan_part(self, budget: PartBudget) -> CountedSynopsisPlan:
        """Plan the synopsis of a part of a sample, whose noise may lose as much as anyone of the sample can lose."""
        own = self.policy.replace(sampling=self.policy.sampling.thin_by(budget.share))
        return plan_rows(own, Register(), budget.noise)

    def plan_noisy(self, epsilon: float, delta: float) -> CountedSynopsisPlan:
        return plan_rows(self.policy, Register(), epsilon)


def method(policy: SynopsisPolicy) -> SynopsisMethod | CountedSynopsisMethod:
    """Return the method of a synopsis: a fixed number of people is public, and any other is measured."""
    return SynopsisMethod(policy) if policy.strata is None else CountedSynopsisMethod(policy)


def _error(queries: QueryClass, rows: Synopsis, truth: Table) -> float:
    return float(abs(queries.ask(shares(rows.cells, queries.shape)) - queries.ask(truth)).max())

"""Synopses: synthetic rows that answer a class of queries about exactly k people who are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.engines.choice import count_classes
from crowdblend.engines.draw import Everybody
from crowdblend.engines.engine import Engine, Progress
from crowdblend.engines.refusals import refusal
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.kind import Facts, Lines, Misfit, Outcome, Publication, ReleasePlan
from crowdblend.kinds.outputs import RowsOutput
from crowdblend.mechanisms import SampledClasses, synopsis
from crowdblend.mechanisms.synopsis import (
    ExponentialSynopsis,
    FittedSynopsis,
    PlannedSynopsis,
    QueryClass,
    Synopsis,
    plan_synopsis,
)
from crowdblend.mechanisms.synopsis.queries import Table
from crowdblend.mechanisms.synopsis.rows import Cells, counted, shares
from crowdblend.mechanisms.synopsis.simulator import random_samples_of_counts, sanitized
from crowdblend.policies.synopsis import Synopsis as SynopsisPolicy
from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class SynopsisPlan(ReleasePlan[SynopsisPolicy, ClassCountsReading]):
    """A policy with nothing left open: the mechanism, its guarantee and its error."""

    policy: SynopsisPolicy
    parameters: PlannedSynopsis

    @property
    def mechanisms(self) -> tuple[FittedSynopsis | ExponentialSynopsis]:
        return (self.parameters.mechanism,)

    def derivations(self, mechanisms: Sequence[FittedSynopsis | ExponentialSynopsis]) -> tuple[Derivation, ...]:
        """Zero-knowledge and differential privacy, and how well the class is answered about everybody."""
        (mechanism,) = mechanisms
        planned = replace(self.parameters, mechanism=mechanism)
        return planned.zero_knowledge, planned.differential, planned.usefulness

    @cached_property
    def order(self) -> list[int]:
        """The columns by size, the largest first: the order of the universe's axes."""
        return universe_order(self.policy)

    def facts(self, outcome: Outcome = None) -> Facts:
        """What a reader needs to know; `outcome` is the misfit of the rows to the noisy answers."""
        plan = self.parameters
        parameters = {
            "sample": self.policy.samples,
            "people": self.policy.people,
            "epsilon": plan.zero_knowledge.conclusion.epsilon,
            "delta": plan.zero_knowledge.conclusion.delta,
            "sanitizer_epsilon": plan.mechanism.claim().conclusion.epsilon,
            "rows": plan.mechanism.rows,
        }
        facts: Facts = {
            **self.common_facts(),
            "mechanism": plan.name,
            "class": plan.mechanism.queries.describe(),
            "queries": plan.mechanism.queries.size,
            "dimension": plan.mechanism.queries.dimension,
            "accuracy": {
                "about_sample": plan.about_sample.accuracy,
                "about_everybody": plan.about_everybody.accuracy,
                "confidence": 1 - plan.about_everybody.failure,
            },
            "parameters": parameters,
            "columns": {column.name: column.recoding.domain() for column in self.policy.columns},
        }
        if isinstance(outcome, Misfit):
            facts["misfit"] = outcome.value
        return facts

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        plan, policy = self.parameters, self.policy
        how = "fitted to noisy counts" if plan.name == "fitted" else "chosen by the exponential mechanism"
        return [
            self.describe_reading(),
            ("would sample", f"exactly {policy.samples} of {policy.people} people"),
            ("would publish", f"{plan.mechanism.rows:,} synthetic rows, {how}"),
            ("would answer", f"{plan.mechanism.queries.size:,} queries: {_queries(self.policy)}"),
            (
                "",
                f"about everybody within {at_most(plan.about_everybody.accuracy)} of the share, about the sample "
                f"within {at_most(plan.about_sample.accuracy)}, except with probability "
                f"{at_most(plan.about_everybody.failure)}",
            ),
        ]

    @property
    def names(self) -> list[str]:
        """The columns of the policy."""
        return [column.name for column in self.policy.columns]

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> ClassCountsReading:
        """Count everybody's classes: whoever is drawn is drawn when it is published."""
        counted = count_classes(self.policy, Everybody(row_key=key.coin()), engine, progress)
        if counted.classes.people != self.policy.people:
            raise refusal(
                "people",
                f"people in [data] is {self.policy.people}; the data hold another number of people.",
                "Count them and correct it.",
                "[data] people",
            )
        return EverybodyReading(counted)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Draw the people and publish rows that answer for them; the true errors are for the steward alone."""
        del progress
        (mechanism,) = self.mechanisms
        everybody = reading.sample
        shape = mechanism.queries.shape
        cells = self.cells_of(everybody)
        drawn = random_samples_of_counts(
            cells, everybody.counts, self.policy.samples, key.source(b"synopsis: who is drawn")
        )
        rows = sanitized(mechanism, drawn, key.source(b"synopsis: noise, choice and rows"))
        of_all = np.zeros(shape)
        of_all.flat[cells] = everybody.counts / everybody.people
        internal = {
            "error_about_sample": _error(mechanism.queries, rows, counted(drawn, shape) / len(drawn)),
            "error_about_everybody": _error(mechanism.queries, rows, of_all),
        }
        outcome = None if rows.misfit is None else Misfit(rows.misfit)
        return Publication((self.output(rows),), (mechanism,), outcome, internal)

    def cells_of(self, classes: SampledClasses) -> Cells:
        """The cell of the universe of every class."""
        shape = self.parameters.mechanism.queries.shape
        return np.ravel_multi_index(tuple(classes.codes[:, place] for place in self.order), shape).astype(np.int64)

    def output(self, rows: Synopsis) -> RowsOutput:
        """The rows with their labels, columns in the order of the policy."""
        places = np.unravel_index(rows.cells, self.parameters.mechanism.queries.shape)
        codes = np.empty((len(rows.cells), len(self.order)), np.int32)
        for axis, place in enumerate(self.order):
            codes[:, place] = places[axis]
        names = tuple(column.name for column in self.policy.columns)
        labels = tuple(self.policy.labels(name) for name in names)
        return RowsOutput(f"data.{self.policy.format}", names, labels, codes)


@dataclass(frozen=True)
class EverybodyReading(ClassCountsReading):
    """The class counts of everybody, of whom exactly k are drawn when it is published."""

    @property
    def internal(self) -> dict[str, int]:
        return {"rows_read": self.counted.rows_read}


def plan(policy: SynopsisPolicy) -> SynopsisPlan:
    """Plan the mechanism with the smallest proved error, or refuse."""
    planned = plan_synopsis(
        _variants(policy),
        samples=policy.samples,
        population=policy.people,
        epsilon=policy.epsilon,
        failure=policy.failure,
        rows=policy.rows,
        mechanism=policy.mechanism,
    )
    return SynopsisPlan(policy, planned)


def universe_order(policy: SynopsisPolicy) -> list[int]:
    """The columns by size, the largest first, so that sums over the universe run through memory in order."""
    sizes = [len(policy.labels(column.name)) for column in policy.columns]
    return sorted(range(len(sizes)), key=lambda place: -sizes[place])


def _variants(policy: SynopsisPolicy) -> list[QueryClass]:
    """The class of queries over the universe, in every way to measure it."""
    order = universe_order(policy)
    names = [policy.columns[place].name for place in order]
    shape = tuple(len(policy.labels(name)) for name in names)
    if policy.conjunctions is not None:
        return list(synopsis.conjunctions(shape, policy.conjunctions))
    if policy.ranges is not None:
        return [synopsis.ranges(shape[0])]
    if policy.half_planes is not None:
        return [synopsis.half_planes(*shape)]
    conditions = [
        {names.index(name): policy.labels(name).index(label) for name, label in condition.items()}
        for condition in policy.queries or ()
    ]
    return [synopsis.listed(shape, conditions)]


def _error(queries: QueryClass, rows: Synopsis, truth: Table) -> float:
    return float(abs(queries.ask(shares(rows.cells, queries.shape)) - queries.ask(truth)).max())


def _queries(policy: SynopsisPolicy) -> str:
    """The class of queries, for the dry run."""
    if policy.conjunctions is not None:
        return f"all conjunctions of up to {policy.conjunctions} columns"
    if policy.ranges is not None:
        return f"all ranges of {policy.ranges}"
    return "all half-planes" if policy.half_planes is not None else "the listed conjunctions"

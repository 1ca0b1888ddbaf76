"""A synopsis from policy to rows: plan, draw exactly k people, sanitize, write."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Assumption, Certificate
from crowdblend.engines.draw import Everybody
from crowdblend.engines.engine import Engine, check_source, count_classes, default_engine
from crowdblend.engines.progress import Progress
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.kind import Publication, Reading, software
from crowdblend.kinds.labels import listed_labels
from crowdblend.policies.synopsis import Synopsis as SynopsisPolicy

if TYPE_CHECKING:
    from crowdblend.mechanisms.classes import SampledClasses
    from crowdblend.mechanisms.synopsis import PlannedSynopsis, QueryClass, Synopsis
    from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class SynopsisPromise:
    """A policy with nothing left open: the mechanism, its promise and its error."""

    policy: SynopsisPolicy
    plan: PlannedSynopsis

    @cached_property
    def order(self) -> list[int]:
        """The columns by size, the largest first: the order of the universe's axes."""
        return universe_order(self.policy)

    def certificate(self, files: dict[str, str] | None = None, outcome: Any = None) -> Certificate:
        """Zero-knowledge and differential privacy, and how well the class is answered about everybody."""
        stated = (Assumption.ROWS_ARE_PEOPLE,) if self.policy.data.rows_are_people else ()
        return Certificate(
            (self.plan.zero_knowledge, self.plan.differential, self.plan.usefulness),
            stated,
            {**self.facts(outcome), "files": files or {}},
        )

    def facts(self, outcome: Any = None) -> dict[str, Any]:
        """What a reader needs to know; `outcome` is the misfit of the rows to the noisy answers."""
        plan = self.plan
        parameters: dict[str, Any] = {
            "sample": self.policy.samples,
            "people": self.policy.people,
            "epsilon": plan.zero_knowledge.conclusion.epsilon,
            "delta": plan.zero_knowledge.conclusion.delta,
            "sanitizer_epsilon": plan.mechanism.claim().conclusion.epsilon,
            "rows": plan.mechanism.rows,
        }
        facts: dict[str, Any] = {
            "kind": "synopsis",
            "person": self.policy.data.person,
            "mechanism": plan.name,
            "class": plan.mechanism.queries.words(),
            "queries": plan.mechanism.queries.size,
            "dimension": plan.mechanism.queries.dimension,
            "accuracy": {
                "about_sample": plan.about_sample.accuracy,
                "about_everybody": plan.about_everybody.accuracy,
                "confidence": 1 - plan.about_everybody.failure,
            },
            "parameters": parameters,
            "columns": {column.name: column.recoding.describe() for column in self.policy.columns},
            "labels": listed_labels((column.name, column.recoding) for column in self.policy.columns),
            "software": software(),
        }
        if outcome is not None:
            facts["misfit"] = outcome
        return facts

    def told(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        plan, policy = self.plan, self.policy
        names = ", ".join(column.name for column in policy.columns)
        how = "fitted to noisy counts" if plan.name == "fitted" else "chosen by the exponential mechanism"
        return [
            ("would read", f"{names} from {Path(policy.data.source).name}"),
            ("would sample", f"exactly {policy.samples} of {policy.people} people"),
            ("would publish", f"{plan.mechanism.rows:,} synthetic rows, {how}"),
            ("would answer", f"{plan.mechanism.queries.size:,} queries: {plan.mechanism.queries.words()}"),
            (
                "",
                f"about everybody within {at_most(plan.about_everybody.accuracy)} of the share, about the sample "
                f"within {at_most(plan.about_sample.accuracy)}, except with probability "
                f"{at_most(plan.about_everybody.failure)}",
            ),
        ]

    def check_source(self) -> None:
        """Refuse a source that is not there or lacks a column, without reading a row."""
        names = [column.name for column in self.policy.columns]
        check_source(default_engine(), self.policy.data, names, self.policy.resources)

    def read(self, key: ReleaseKey, progress: Progress | None = None, engine: Engine | None = None) -> Reading:
        """Count everybody's classes: whoever is drawn is drawn when it is published."""
        counted = count_classes(self.policy, Everybody(row_key=key.coin()), engine, progress)
        everybody = counted.classes
        if everybody.people != self.policy.people:
            raise InvalidInput(
                f"people in [data] must be how many people the data hold, got {self.policy.people}, and they hold "
                "another number. Count them again."
            )
        return Reading({"rows_read": counted.rows_read}, lambda: self._published(everybody, key))

    def _published(self, everybody: SampledClasses, key: ReleaseKey) -> Publication:
        """Draw, sanitize and say how to write it; what it missed by is for the steward alone."""
        import numpy as np  # noqa: PLC0415

        from crowdblend.mechanisms.synopsis.rows import counted  # noqa: PLC0415
        from crowdblend.mechanisms.synopsis.simulator import random_samples, sanitized  # noqa: PLC0415

        mechanism = self.plan.mechanism
        shape = mechanism.queries.shape
        cells = np.ravel_multi_index(tuple(everybody.codes[:, place] for place in self.order), shape)
        table = np.repeat(cells.astype(np.int64), everybody.counts)
        drawn = random_samples(table, self.policy.samples, key.source(b"synopsis: who is drawn"))
        made = sanitized(mechanism, drawn, key.source(b"synopsis: noise, choice and rows"))
        internal = {
            "error_about_sample": _error(mechanism.queries, made, counted(drawn, shape) / len(drawn)),
            "error_about_everybody": _error(mechanism.queries, made, counted(table, shape) / len(table)),
        }
        return Publication(lambda folder: self._write(made, folder), made.misfit, internal)

    def _write(self, made: Synopsis, folder: Path) -> None:
        import numpy as np  # noqa: PLC0415

        from crowdblend.kinds.outputs import write_rows  # noqa: PLC0415

        found = np.unravel_index(made.cells, self.plan.mechanism.queries.shape)
        codes = np.empty((len(made.cells), len(self.order)), np.int32)
        for axis, place in enumerate(self.order):
            codes[:, place] = found[axis]
        names = [column.name for column in self.policy.columns]
        labels = [self.policy.labels(name) for name in names]
        write_rows(names, labels, codes, folder / f"data.{self.policy.format}")


def promise(policy: SynopsisPolicy) -> SynopsisPromise:
    """Plan the mechanism with the smallest proved error, or refuse."""
    from crowdblend.mechanisms.synopsis import plan_synopsis  # noqa: PLC0415  loads NumPy

    planned = plan_synopsis(
        _variants(policy),
        samples=policy.samples,
        population=policy.people,
        epsilon=policy.epsilon,
        failure=policy.failure,
        rows=policy.rows,
        mechanism=policy.mechanism,
    )
    return SynopsisPromise(policy, planned)


def universe_order(policy: SynopsisPolicy) -> list[int]:
    """The columns by size, the largest first, so that sums over the universe run through memory in order."""
    sizes = [len(policy.labels(column.name)) for column in policy.columns]
    return sorted(range(len(sizes)), key=lambda place: -sizes[place])


def _variants(policy: SynopsisPolicy) -> list[QueryClass]:
    """The class of queries over the universe, in every way to measure it."""
    from crowdblend.mechanisms import synopsis  # noqa: PLC0415

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


def _error(queries: QueryClass, made: Synopsis, truth: Any) -> float:
    from crowdblend.mechanisms.synopsis.rows import shares  # noqa: PLC0415

    return float(abs(queries.ask(shares(made.cells, queries.shape)) - queries.ask(truth)).max())

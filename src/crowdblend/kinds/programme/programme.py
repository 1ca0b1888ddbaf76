"""The plan of a programme: a plan for every publication, under one budget, and how they share it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace as replace_fields

from crowdblend.kinds.programme.expected_errors import ExpectedErrors, expected_of
from crowdblend.kinds.programme.facts import ProgrammeFacts, PublicationFacts
from crowdblend.kinds.shared.class_counts import ClassCountsPlan
from crowdblend.kinds.shared.facts import ReleaseFacts, derive, to_json
from crowdblend.kinds.shared.plan import AnyPlan, Lines, Reading, ReleasePlan, Result, software
from crowdblend.methods.designs import Claims, Design
from crowdblend.methods.designs.draw import Draw, parts_of, shares_within
from crowdblend.policies.columns import Column
from crowdblend.policies.policy import Policy, Split
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.registry import kind_of
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.randomness import ReleaseKey

if TYPE_CHECKING:
    from crowdblend.kinds.shared.outputs import Output
    from crowdblend.sources.engines.outside_values import OutsideValues

_SAID: dict[Split, str] = {
    "people": "each from a part of the sample of its own, so that nobody is in two",
    "fresh": "each from a fresh sample of its own",
    "budget": "all of them noisy, each with a part of epsilon",
}


# Counting by more classes than this takes longer than reading the people once more.
MOST_CLASSES = 1 << 20


@dataclass(frozen=True)
class ProgrammeReading(Reading):
    """The readings of every publication, by its name."""

    readings: Mapping[str, Reading]

    @property
    def internal(self) -> dict[str, int]:
        return {f"{name}: {what}": value for name, one in self.readings.items() for what, value in one.internal.items()}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        return {name: found for one in self.readings.values() for name, found in one.outside.items()}


@dataclass(frozen=True)
class PlannedPublication:
    """A publication with nothing left open; `share` is its part of the sample, where it has one."""

    name: str
    plan: AnyPlan
    share: float | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of its parts of the sample: of those who choose its recoding, where some do, and of the others."""
        choosing = self.plan.policy.recoding
        return shares_within(self.share or 0.0, None if choosing is None else choosing.share)

    def alone(self) -> PublicationPolicy:
        """Return the publication as a policy of its own, with the parameters that were planned for it."""
        found: PublicationPolicy = self.plan.alone()
        return found.replace(with_others=False)

    def facts(self, budget: tuple[float, float], result: Result | None = None) -> ReleaseFacts:
        """Return the facts, with the budget of the programme instead of its own."""
        return replace_fields(self.plan.facts(result).among_others(*budget), software={})


@dataclass(frozen=True, repr=False)
class ProgrammePlan(ReleasePlan[Policy, ProgrammeReading]):
    """Every publication as it is planned; epsilon and delta are for all of them together."""

    policy: Policy
    split: Split
    sample: Design
    epsilon: float
    delta: float
    planned: tuple[PlannedPublication, ...]
    # What the other ways to share the budget would give, and why this one is taken.
    others: Mapping[Split, str]
    # What Gaussian noise gains over Laplace noise, or the other way round, where both were planned.
    gain: tuple[str, str] | None = None

    @property
    def mechanisms(self) -> tuple[Claims, ...]:
        return tuple(mechanism for one in self.planned for mechanism in one.plan.mechanisms)

    def facts(self, publication: Result | None = None) -> ProgrammeFacts:
        parts = {} if publication is None else publication.parts
        published = {
            one.name: PublicationFacts(
                share=one.share, facts=to_json(one.facts((self.epsilon, self.delta), parts.get(one.name)))
            )
            for one in self.planned
        }
        return ProgrammeFacts(
            software=software(),
            person=self.policy.data.person,
            epsilon=self.epsilon,
            delta=self.delta,
            releases=self.policy.releases,
            split=self.split,
            design=self.sample,
            published=published,
        )

    @cached_property
    def derived_guarantees(self) -> tuple[Derivation, ...]:
        """The guarantees, from the planned facts."""
        return derive(self.facts())

    @cached_property
    def expected_errors(self) -> Mapping[str, ExpectedErrors]:
        """The expected error of every publication, and the cells it shows."""
        return {one.name: expected_of(one.facts((self.epsilon, self.delta))) for one in self.planned}

    def summary(self) -> dict[str, Any]:
        each = {
            one.name: {
                **({} if one.share is None else {"share": one.share}),
                **one.facts((self.epsilon, self.delta)).own_parameters,
                **self.expected_errors[one.name].to_dict(),
            }
            for one in self.planned
        }
        return {**self.facts().parameters, "publications": each, "other_splits": dict(self.others)}

    def describe(self) -> Lines:
        lines: Lines = [
            ("would publish", f"{len(self.planned)} publications, {_SAID[self.split]}"),
            *([self.gain] if self.gain else []),
            *((f"split = {other}", what) for other, what in self.others.items()),
        ]
        for one in self.planned:
            share = "" if one.share is None else f", from a share of {one.share:g} of the sample"
            lines.append((one.name, f"{kind_of(one.plan.policy.kind).name}{share}"))
            lines += [("", said) for _, said in one.plan.describe_publication()]
            lines += [("", sentence) for sentence in self.expected_errors[one.name].sentences(one.plan.counted)]
        return [*self.describe_reading(), *lines]

    @property
    def divides_people(self) -> bool:
        return self.split != "fresh" and not self.sample.everybody

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.planned for name in one.plan.names))

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ProgrammeReading:
        """Read the data for every publication; parts of one sample are drawn by one coin.

        Publications that share the budget are about the same people, and those that can be are counted at once.
        """
        assert draw is None, "a programme is not a part of another"
        plans = {one.name: one.plan for one in self.planned}
        keys = {name: key.part(b"people of " + name.encode()) for name in plans}
        draws = dict(zip(plans, self.draws(key), strict=True))
        found: dict[str, Reading] = {}
        for names in groups(plans) if self.split == "budget" else [[name] for name in plans]:
            first, together = names[0], [plans[name] for name in names]
            if len(names) == 1:
                found[first] = together[0].read_parts(engine, keys[first], progress, draws[first])
                continue
            only = next(iter(draws[first]), None)
            counting = [plan for plan in together if isinstance(plan, ClassCountsPlan)]
            counted = counting[0].count([*_columns(together).values()], engine, keys[first], progress, only)
            found |= zip(names, (plan.reading_of(counted) for plan in counting), strict=True)
        return ProgrammeReading({name: found[name] for name in plans})

    def draws(self, key: ReleaseKey) -> list[tuple[Draw, ...]]:
        """Return the draws of the parts that each publication has: those who choose its recoding come first.

        None where every publication draws or counts by itself.
        """
        if self.split == "fresh" or self.sample.everybody:
            return [()] * len(self.planned)
        if self.split == "budget":
            return [(self.sample.draw(key.coin()),)] * len(self.planned)
        coin, shares = key.coin(), [one.shares for one in self.planned]
        parts = iter(parts_of(key.coin(b"parts of the sample"), [share for each in shares for share in each]))
        return [tuple(self.sample.draw(coin, next(parts)) for _ in each) for each in shares]

    def publish(self, reading: ProgrammeReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        parts: dict[str, Result] = {}
        outputs: list[Output] = []
        internal: dict[str, Any] = {}
        for one in self.planned:
            result = one.plan.publish(reading.readings[one.name], key.part(b"noise of " + one.name.encode()), progress)
            parts[one.name] = result
            outputs += result.outputs
            internal |= {f"{one.name}: {what}": value for what, value in result.internal.items()}
        mechanisms = tuple(mechanism for result in parts.values() for mechanism in result.mechanisms)
        return Result(tuple(outputs), mechanisms, internal=internal, parts=parts)


def groups(plans: Mapping[str, AnyPlan]) -> list[list[str]]:
    """Put the names of plans that can be counted together into one group, every other name into one of its own.

    They are counted in one reading by all their columns, and then added up for each. That gives what readings of their
    own would give where everybody has one row and every column lists its classes: a count by fewer columns is a sum of
    counts by more.
    """
    found: list[list[str]] = []
    for name, plan in plans.items():
        for group in found:
            if _can_count_together([*(plans[one] for one in group), plan]):
                group.append(name)
                break
        else:
            found.append([name])
    return found


def _can_count_together(plans: Sequence[AnyPlan]) -> bool:
    if not all(map(_adds_up, plans)):
        return False
    columns, first = _columns(plans), plans[0].policy
    return (
        all(columns[column.name] == column for plan in plans for column in plan.policy.columns)
        and all((one.policy.data, one.policy.resources) == (first.data, first.resources) for one in plans)
        and math.prod(column.recoding.size or 0 for column in columns.values()) <= MOST_CLASSES
    )


def _adds_up(plan: AnyPlan) -> bool:
    """Return whether what a plan counts can be added up from finer classes."""
    return (
        isinstance(plan, ClassCountsPlan)
        and type(plan).read is ClassCountsPlan.read
        and plan.policy.data.person is not None
        and not plan.policy.data.unit.keeps_some_rows
        and plan.strata is None
        and all(column.recoding.closed for column in plan.policy.columns)
    )


def _columns(plans: Iterable[AnyPlan]) -> dict[str, Column]:
    """Return all columns of some plans, by name."""
    return {column.name: column for plan in plans for column in plan.policy.columns}

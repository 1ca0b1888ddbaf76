"""Programmes as the audit sees them: crowds that are hard for one of the publications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.lab.rehearsal.crowds import CrowdSubject
from crowdblend.lab.rehearsal.made_up_people import Crowd, Files, Population, Values
from crowdblend.lab.rehearsal.parallel_copies import ParallelCopies
from crowdblend.lab.rehearsal.subject import AuditRequest, Neighbours
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.policies.policy import Policy


class ProgrammeCopies(ParallelCopies):
    """Copies of a population, each of which is in every publication."""

    def __init__(self, plan: Any, population: Population, copies: int, files: Files) -> None:
        most = MOST_CELLS_LISTED // max(one.plan.policy.cells or 1 for one in plan.planned)
        super().__init__(plan, population, max(1, min(copies, most)), files)

    def plan_copies(self, plan: Any) -> Any:
        plan_copies = super().plan_copies
        return replace(plan, planned=tuple(replace(one, plan=plan_copies(one.plan)) for one in plan.planned))


@dataclass(frozen=True)
class ProgrammeSubject(CrowdSubject):
    """A programme on made-up people in classes, all publications together."""

    copies = ProgrammeCopies

    def pairs(self) -> list[Neighbours[Population]]:
        """Return the pairs of every publication, and a person alone in one among people who are alike in another."""
        return [*super().pairs(), *self._beside(self.corner(0)[0], self.corner(-1)[0])]

    def _beside(self, first: Values, last: Values) -> Iterator[Neighbours[Population]]:
        names = [column.name for column in self.policy.columns]
        found: set[Values] = set()
        for one in cast(Policy, self.policy).publish:
            alike = tuple(
                mine if name in one.columns else other for name, mine, other in zip(names, first, last, strict=True)
            )
            if alike not in (first, *found):
                found.add(alike)
                others = (Crowd(alike, self.people - 1),)
                name = f"alone, among people alike in {one.name}"
                yield Neighbours(name, (Crowd(first, 1), *others), (Crowd(first, 0), *others))


def subject(policy: Policy, request: AuditRequest) -> ProgrammeSubject:
    """Return the programme with crowds of the hardest sizes of its publications."""
    request.leave_epsilon("a programme", "every publication has a k of its own")
    if policy.sampling.already_drawn:
        policy = policy.replace(sampling=policy.sampling.drawn_here(), accept_delta=True)
    if any("columns" in one.without for one in policy.publish):
        message = "The audit runs programmes of tables, microdata and points."
        remedy = "Audit the others one by one."
        raise InvalidInput(message, remedy=remedy, where="`publish.kind`", code="rehearsal.programme")
    planned = cast(ProgrammePlan, plan(policy))
    return ProgrammeSubject(
        policy,  # type: ignore[arg-type]  # a programme has the columns and the source of a policy of classes
        request.name,
        request.understated,
        # Every cell of a publication is treated by itself, whatever other cells there are.
        request.stacked
        and not any(one.plan.policy.unit.several or not one.plan.cells_are_apart for one in planned.planned),
        sizes=tuple(_hardest(planned, request)),
        people=request.people,
    )


def _hardest(plan: ProgrammePlan, request: AuditRequest) -> Iterator[tuple[str, int]]:
    """Yield the hardest sizes of every publication, at the rate at which it sees everybody else."""
    sample, epsilon, seen = plan.sample, plan.epsilon / request.understated, set()
    whole = sum(one.share or 0.0 for one in plan.planned)
    for one in plan.planned:
        k, rate = one.plan.k, sample.largest_rate
        if one.share is not None:
            # Given the other parts, everybody left is in this one with this probability.
            rate = rate * one.share / (1 - rate * (whole - one.share))
        for why, size in request.hard(k or 1, rate, epsilon).items():
            if size not in seen and size <= request.people:
                seen.add(size)
                yield f"{one.name}, {why}", size

"""Crowds as the audit sees them: neighbouring populations of sizes that are hard for a policy with classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar, cast

from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.kinds.outlier_table.policy import OutlierTablePolicy
from crowdblend.kinds.points.policy import PointsPolicy
from crowdblend.kinds.shared.class_counts import ClassCountsPlan
from crowdblend.kinds.shared.crowds import CrowdsPlan
from crowdblend.kinds.shared.plan import Reading
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.lab.rehearsal.made_up_people import MOST_PEOPLE, Crowd, Population, Values, drawn_here, people_in_memory
from crowdblend.lab.rehearsal.made_up_values import CLASSES, EVERY_CLASS, examples
from crowdblend.lab.rehearsal.observers import ClassObserver, Observer
from crowdblend.lab.rehearsal.parallel_copies import ParallelCopies
from crowdblend.lab.rehearsal.subject import AuditRequest, AuditSubject, Neighbours, releases_of
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.policies.columns import Column
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import ReleaseKey

CrowdPolicy = TablePolicy | MicrodataPolicy | PointsPolicy
PolicyT = TypeVar("PolicyT", TablePolicy, MicrodataPolicy, PointsPolicy)
# This many strata are audited: of the largest rate, of the smallest, and of the first and last labels.
_STRATA = 4


@dataclass(frozen=True)
class CrowdSubject(AuditSubject[CrowdPolicy | OutlierTablePolicy, ClassCountsPlan[Any], Population]):
    """A policy on made-up people in classes.

    `sizes` says how many people share the audited person's class, the person included, and why; `further` are pairs
    beside those. `people` is how many there are in all.
    """

    sizes: tuple[tuple[str, int], ...] = ()
    people: int = 1_000
    further: tuple[Neighbours[Population], ...] = ()
    relation = Relation.ADD_REMOVE
    corners_are: ClassVar[str] = "class"
    copies: ClassVar[type[ParallelCopies]] = ParallelCopies

    @property
    def together(self) -> int:
        """The number of releases that are run as one."""
        return releases_of(self.people) if self.stacked else 1

    def corner(self, place: int) -> tuple[Values, Values]:
        """Return the audited person in the first or the last class of every column, and the others there."""
        person = tuple(examples(column.recoding, CLASSES)[place] for column in self.policy.columns)
        return person, person

    def pairs(self) -> list[Neighbours[Population]]:
        """Return the person in the first class of every column and in the last, in crowds of the given sizes."""
        first, last = self.corner(0), self.corner(-1)
        corners = [("first", first, last), *([("last", last, first)] if first != last else [])]
        pairs = [
            self.pair(f"{name} {self.corners_are}, {why}", *mine, other[1], size)
            for name, mine, other in corners
            for why, size in self.sizes
        ]
        return [*with_people(pairs), *self.further]

    def pair(self, name: str, mine: Values, near: Values, other: Values, size: int) -> Neighbours[Population]:
        """Return the person in a class of this many people, and the class without the person."""
        rest = (Crowd(other, max(self.people - size, 1)),) if other != near else ()
        if mine == near:
            more, fewer = ((Crowd(mine, people), *rest) for people in (size, size - 1))
        else:
            more, fewer = ((Crowd(mine, one), Crowd(near, size - 1), *rest) for one in (1, 0))
        return Neighbours(f"{name} ({size})", more, fewer)

    def reader(self, population: Population) -> Callable[[ReleaseKey], Reading]:
        """Return what counts the classes of the people."""
        names = [column.name for column in self.policy.columns]
        return partial(self.plan.read, people_in_memory(names, population))

    def observer(self, population: Population) -> Observer:
        """Return an observer who looks for the class of the first person."""
        names, offered = zip(*((column.name, column.recodings) for column in self.policy.columns), strict=True)
        return ClassObserver(names, offered, population[0].values)

    def batch(self, population: Population) -> ParallelCopies:
        """Return copies of the population side by side."""
        number = releases_of(sum(crowd.size for crowd in population))
        return self.copies(self.plan, population, number, self.files)


def crowd_subject(policy: PolicyT, request: AuditRequest, kind: type[CrowdSubject] = CrowdSubject) -> CrowdSubject:
    """Return the policy with crowds of the hardest sizes, which depend on what is claimed."""
    policy = drawn_here(policy)
    if policy.sampling.designed:
        return _subject_by_strata(policy, request)
    if request.epsilon is not None:
        policy = _at(policy, request.epsilon)
    planned = _parameters(policy)
    # The size at which one fewer shows best has no bound; where it is too large to be run, the others are left.
    most = max(planned.k + 1, MOST_PEOPLE // 2)
    hard = request.hard(planned.k, planned.sampled_with, planned.epsilon / request.understated)
    sizes = tuple((why, size) for why, size in hard.items() if size <= most)
    copied = policy.recoding is None or (isinstance(policy, TablePolicy) and policy.publication.below_k != "noise")
    return kind(
        policy, request.name, request.understated, request.stacked and copied, sizes=sizes, people=request.people
    )


def _parameters(policy: CrowdPolicy) -> SolvedPlan:
    return cast(CrowdsPlan[Any, Any], plan(policy)).parameters


def _at(policy: PolicyT, epsilon: float) -> PolicyT:
    """Return the same release, guaranteed at another ε: k, rate and noise stay, and δ is what goes with that ε."""
    planned = _parameters(policy)
    if policy.recoding is not None:
        raise InvalidInput(
            "epsilon must be left to the policy when the recoding is chosen: two parts share it. Drop it."
        )
    rate = policy.sampling.rate if policy.sampling.biased else planned.rate
    changes: dict[str, Any] = {"k": planned.k, "epsilon": epsilon, "delta": None}
    changes |= {"sampling": policy.sampling.at_rate(rate)}
    if planned.noise_epsilon is not None:
        changes["noise_epsilon"] = planned.noise_epsilon
    return policy.replace(**changes)


def with_people(pairs: list[Neighbours[Population]]) -> list[Neighbours[Population]]:
    """Return the pairs with people on both sides: a table without a row is refused, and nothing guaranteed about it."""
    return [pair for pair in pairs if any(crowd.size for crowd in pair.fewer)]


def _subject_by_strata(policy: PolicyT, request: AuditRequest) -> CrowdSubject:
    """Return the policy with a person in one stratum after the other; nobody else's stratum matters to that person."""
    request.leave_epsilon("a stratified policy", "every stratum has a k of its own")
    planned = plan(policy)
    assert isinstance(planned, CrowdsPlan), "published strata have a k each"
    assert policy.strata is not None, "published strata are a design"
    audited = CrowdSubject(policy, request.name, request.understated, request.stacked, people=request.people)
    every: Mapping[str, SolvedPlan] = planned.parameters.each
    rates = {label: stratum.rate or stratum.sampled_with for label, stratum in every.items()}
    by_rate = sorted(rates, key=lambda label: (rates[label], label))
    chosen: list[str] = [by_rate[-1], by_rate[0], next(iter(every)), [*every][-1]]
    strata = {label: every[label] for label in [*dict.fromkeys(chosen)][:_STRATA]}
    pairs = []
    for label, stratum in strata.items():
        mine, other = (_person(policy.columns, policy.strata.column_name, label, at) for at in (0, -1))
        hard = request.hard(stratum.k, rates[label], planned.parameters.epsilon / request.understated)
        # Who mixes strata up shows crowds of another one's k.
        others = {f"just a crowd of {name}": one.k for name, one in strata.items() if one.k != stratum.k}
        pairs += [
            audited.pair(f"stratum {label}, {why}", mine, mine, other, size) for why, size in {**hard, **others}.items()
        ]
    return replace(audited, further=tuple(with_people(pairs)))


def _person(columns: Sequence[Column], strata: str, label: str, place: int) -> Values:
    """Return someone of a stratum, in the first or the last class of every other column."""
    return tuple(
        _value(column, label) if column.name == strata else examples(column.recoding, CLASSES)[place]
        for column in columns
    )


def _value(column: Column, label: str) -> str | None:
    for value in examples(column.recoding, EVERY_CLASS):
        if column.recoding.label(value) == label:
            return value
    message = f"No raw value is known for the stratum {label!r}."
    remedy = "Write its labels as values."
    raise InvalidInput(message, remedy=remedy, where=f"column {column.name!r}", code="rehearsal.no-value")

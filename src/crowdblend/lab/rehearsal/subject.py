"""A policy of any kind as the audit sees it: a black box with a guarantee, released again and again on made-up people.

A kind's module `rehearse` has a function `subject(policy, request)`. What it returns says which
neighbouring populations are hard for the policy, how they are read, and what is to be seen of a release.

Many releases may be run as one, for the audit's own power, where millions of them are needed. A release is a chain of
steps. Some draw: who is in the sample, noise, choices. The others follow from what was drawn: adding up, rounding,
writing the files, reading them again. A batch runs each step for many releases at once, by the same function that a
release calls:

    draws       get one array for all releases, in which every release has entries of its own
    the others  are functions of their input; an input that came before has the output that it had

Theorem. Let the entries of the arrays be drawn independently, and let every other step of a release depend on that
release's entries alone. Then the releases of a batch are independent, and each has the law of a single one.

Proof. Each is the same function of its own entries, as in a single release, and these are independent of those of all
others. To look up what a function returned before changes nothing. ∎

Coins: marks of different people are independent for an ideal keyed function, and no person is in two releases of a
batch. Noise: every number has its own bits of one stream. A policy is audited one release at a time, which assumes
nothing of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan, plan
from crowdblend.kinds.shared.plan import AnyPolicy, Outcome, Reading
from crowdblend.lab.rehearsal.made_up_people import Files
from crowdblend.lab.rehearsal.observers import Observer, PublishedFiles, Views
from crowdblend.policies.registry import part
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.randomness import ReleaseKey, new_key

# Releases that are run as one, and people who are made up for them, at most.
RELEASES, PEOPLE = 500, 1 << 17
# What was seen is kept of this many different releases of a batch; then it is forgotten, and seen again.
_MOST_KNOWN = 20_000
_MOST_KEPT = 128

PolicyT = TypeVar("PolicyT", bound=AnyPolicy)
PlanT = TypeVar("PlanT", bound=AnyPlan)
PopulationT = TypeVar("PopulationT", bound=Hashable)
Kept = TypeVar("Kept")
Hard = Callable[[int, float, float], Mapping[str, int]]


@dataclass(frozen=True)
class AuditRequest:
    """A request to audit a policy.

    `hard(k, rate, epsilon)` gives sizes of the audited person's crowd, by the reason for looking there. `people` is how
    many there are made up, where the policy does not say. `understated` divides the ε of the guarantee. `stacked` runs
    many releases as one where that can be done. `epsilon` is another ε to audit at, with the δ that goes with it.
    """

    hard: Hard
    name: str
    people: int = 1_000
    understated: float = 1.0
    stacked: bool = False
    epsilon: float | None = None

    def leave_epsilon(self, to: str, because: str) -> None:
        """Refuse another ε where there is no other."""
        if self.epsilon is not None:
            raise InvalidInput(f"epsilon must be left to {to}: {because}. Drop it.")


def subject_of(policy: AnyPolicy, hard: Hard, name: str, **request: Any) -> AnySubject:
    """Return a policy as the audit sees it; `request` has the other fields of `AuditRequest`."""
    return cast(AnySubject, part(policy.kind, "rehearse").subject(policy, AuditRequest(hard, name, **request)))


@dataclass(frozen=True)
class Neighbours(Generic[PopulationT]):
    """Two populations that differ in one person, and why they are hard."""

    name: str
    more: PopulationT
    fewer: PopulationT


class Batch(Protocol):
    """Many releases of one population that are run as one."""

    def draw(self, key: ReleaseKey) -> Sequence[Hashable]:
        """Return all that chance decides about each release, as a value of which everything published is a function."""

    def show(self, outcomes: Sequence[Any]) -> Sequence[tuple[PublishedFiles, Outcome]]:
        """Return what is published of each release that was drawn."""


@dataclass(frozen=True)
class AuditSubject(ABC, Generic[PolicyT, PlanT, PopulationT]):
    """A black box with a guarantee; kinds say which populations are hard for it, and what is to be seen of a release.

    `understated` divides the ε of the guarantee: a test of the audit, not of the release. `stacked` runs many releases
    as one. `bug` is injected into the plan that runs, to see whether the audit finds it; what is guaranteed is said by
    the plan without it.
    """

    policy: PolicyT
    name: str = "policy"
    understated: float = 1.0
    stacked: bool = False
    bug: Callable[[PlanT], PlanT] | None = None
    relation: ClassVar[Relation] = Relation.REPLACE

    @abstractmethod
    def pairs(self) -> list[Neighbours[PopulationT]]:
        """Return neighbouring populations that are hard for the policy."""

    @abstractmethod
    def reader(self, population: PopulationT) -> Callable[[ReleaseKey], Reading]:
        """Return what reads the population as a release would, for any key."""

    @abstractmethod
    def observer(self, population: PopulationT) -> Observer:
        """Return an observer who tells the two populations of a pair apart."""

    def batch(self, population: PopulationT) -> Batch:
        """Return many releases of the population that are run as one."""
        raise NotImplementedError

    @cached_property
    def honest_plan(self) -> PlanT:
        """The plan behind the policy."""
        return cast(PlanT, plan(self.policy))

    @cached_property
    def plan(self) -> PlanT:
        """The plan that runs: the policy's, with a bug where one is injected."""
        return self.honest_plan if self.bug is None else self.bug(self.honest_plan)

    @cached_property
    def guarantee(self) -> Differential:
        """The certificate's guarantee to one person."""
        stated = self.honest_plan.certificate().differential(self.relation)
        assert stated is not None, "a certificate has a guarantee for one person"
        return replace(stated, epsilon=stated.epsilon / self.understated)

    @property
    def together(self) -> int:
        """The number of releases that are run as one: fewer take as long."""
        return RELEASES if self.stacked else 1

    @cached_property
    def files(self) -> Files:
        """The files that releases are written to."""
        return Files()

    def publish(self, population: PopulationT, key: bytes) -> tuple[PublishedFiles, Outcome]:
        """Release the population with this key, and return the files and what the data decided."""
        read, release_key = self._remember(("read", population), lambda: self.reader(population)), ReleaseKey(key)
        publication = self.plan.publish(read(release_key), release_key)
        return self.files.of(publication), publication.outcome

    def observe(self, population: PopulationT, runs: int) -> dict[str, Counter[str]]:
        """Release this many times, with a fresh key each time, and look at what is published."""
        times: Counter[int] = Counter()
        held: dict[int, Views] = {}
        for views in self.looks(population, runs):
            # What batches have seen before is the same object, and is counted as one.
            held[id(views)] = views
            times[id(views)] += 1
        seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for number, count in times.items():
            for view, outcome in held[number].items():
                seen[view][outcome] += count
        return dict(seen)

    def looks(self, population: PopulationT, runs: int) -> Iterator[Views]:
        """Return what is seen of each of this many releases, in several ways of looking.

        What a batch shows beyond these runs is kept for the next ones: each release is for one run.
        """
        if self.stacked:
            return islice(self._remember(("batch", population), lambda: self._batches(population)), runs)
        observer = self._remember(("see", population), lambda: self.observer(population))
        return (observer.observe(*self.publish(population, new_key())) for _ in range(runs))

    def _batches(self, population: PopulationT) -> Iterator[Views]:
        """Yield what is seen of one release after the other: when a batch is used up, the next one is run."""
        batch, observer = self.batch(population), self.observer(population)
        known: dict[Hashable, Views] = {}
        while True:
            drawn = batch.draw(ReleaseKey(new_key()))
            if len(known) >= _MOST_KNOWN:
                known.clear()
            new = [one for one in dict.fromkeys(drawn) if one not in known]
            if new:
                known.update(zip(new, (observer.observe(*one) for one in batch.show(new)), strict=True))
            yield from (known[one] for one in drawn)

    def _remember(self, name: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what `make` makes of a population, from the cache of the last ones if it is there."""
        kept: dict[Hashable, Kept] = self.__dict__.setdefault("_last", {})
        if name not in kept:
            while len(kept) >= _MOST_KEPT:
                kept.pop(next(iter(kept)))
            kept[name] = make()
        return kept[name]

    def __getstate__(self) -> dict[str, object]:
        """Return the fields alone: another process makes the rest itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


AnySubject = AuditSubject[Any, Any, Any]


def releases_of(people: int) -> int:
    """Return how many releases about this many people are run as one."""
    return max(1, min(RELEASES, PEOPLE // people))

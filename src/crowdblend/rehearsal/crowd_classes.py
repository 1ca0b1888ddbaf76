"""A policy as the audit sees it: a black box with a guarantee, and neighbouring populations that are hard for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Relation
from crowdblend.kinds import plan
from crowdblend.policies.offered import lattice_of
from crowdblend.randomness import ReleaseKey, new_key
from crowdblend.rehearsal.batch import Known, endless, releases_of
from crowdblend.rehearsal.looking import Looking, Onlooker
from crowdblend.rehearsal.made_up_people import MOST_PEOPLE, Crowd, Population, Rehearsal, Values, drawn_here
from crowdblend.rehearsal.recoding_stack import RecodingStack
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.rehearsed import Neighbours, Rehearsed, Views
from crowdblend.rehearsal.stack import Stack, shown_of
from crowdblend.rehearsal.values import examples
from crowdblend.selection import noise_around

# Of each column the audit uses this many classes at most, the first and the last among them.
CLASSES = 4
# The first stack of a population is smaller by this factor.
_SMALL = 4


def subject(policy: Any, request: AuditRequest, kind: type[ReleaseSubject] | None = None) -> ReleaseSubject:
    """The policy with crowds of the hardest sizes, which depend on what is claimed."""
    if policy.sampling.designed:
        from crowdblend.rehearsal import strata  # noqa: PLC0415  it is made of what is here

        return strata.subject(policy, request)
    if request.epsilon is not None:
        policy = _at(policy, request.epsilon)
    planned = _plan_here(policy).parameters
    hardest = _hardest(planned, request)
    # The size at which one fewer shows best has no bound; where it is too large to be run, the others are left.
    sizes = tuple((why, size) for why, size in hardest if size <= max(planned.k + 1, MOST_PEOPLE // 2))
    stacked = request.stacked and (policy.recoding is None or policy.below_k != "noise")
    return (kind or ReleaseSubject)(policy, sizes, request.name, request.people, request.understated, stacked)


def _hardest(planned: Any, request: AuditRequest) -> Iterable[tuple[str, int]]:
    """The hardest sizes; of several tables from parts those of each, at the rate of the part."""
    epsilon, shares = planned.epsilon / request.understated, planned.request.shares
    if not shares:
        return request.hard(planned.k, planned.sampled_with, epsilon).items()
    found: dict[int, str] = {}
    for number, (share, k) in enumerate(zip(shares, planned.thresholds, strict=True), 1):
        # Given the other parts, everybody left is in this one with this probability.
        rate = planned.rate * share / (1 - planned.rate * (sum(shares) - share))
        for why, size in request.hard(k, rate, epsilon).items():
            found.setdefault(size, f"part {number}, {why}")
    return [(why, size) for size, why in found.items()]


def _plan_here(policy: Any) -> Any:
    return plan(drawn_here(policy))


def _at(policy: Any, epsilon: float) -> Any:
    """The very same release, guaranteed at another ε: k, rate and noise stay, and δ is what goes with that ε."""
    if policy.recoding is not None:
        raise InvalidInput(
            "epsilon must be left to the policy when the recoding is chosen: two parts share it. Drop it."
        )
    planned = _plan_here(policy).parameters
    if planned.request.shares:
        raise InvalidInput("epsilon must be left to the policy when every table has a k of its own. Drop it.")
    noise = {} if planned.noise_epsilon is None else {"noise_epsilon": planned.noise_epsilon}
    rate = policy.sampling.rate if policy.sampling.biased else planned.rate
    sampling = replace(policy.sampling, rate=rate)
    return replace(policy, k=planned.k, epsilon=epsilon, delta=None, sampling=sampling, **noise)


def released(pairs: list[Neighbours]) -> list[Neighbours]:
    """The pairs with people on both sides: a table without a row is refused, and nothing is guaranteed about it."""
    return [pair for pair in pairs if any(crowd.size for crowd in pair.fewer)]


@dataclass(frozen=True)
class ReleaseSubject(Rehearsed):
    """What a policy publishes about made-up people.

    `sizes` says how many people share the audited person's class, the person included, and why; `further` are pairs
    beside those. `people` is how many there are in all. `stacked` runs many releases as one, see `stack`.
    """

    policy: Any
    sizes: tuple[tuple[str, int], ...]
    name: str = "policy"
    people: int = 1_000
    understated: float = 1.0
    stacked: bool = False
    further: tuple[Neighbours, ...] = ()
    mistake: Callable[[Any], Any] | None = None
    relation = Relation.ADD_REMOVE

    @cached_property
    def honest_plan(self) -> Any:
        """The plan behind the policy, with people who are drawn here."""
        return _plan_here(self.policy)

    @property
    def together(self) -> int:
        """How many releases are run as one."""
        return releases_of(self.people) if self.stacked else 1

    def pairs(self) -> list[Neighbours]:
        """The person in the first class of every column and in the last, in crowds of the given sizes."""
        first, last = self._corner(0), self._corner(-1)
        pairs = [self.pair(f"first class, {why}", first, last, size) for why, size in self.sizes]
        if last != first:
            pairs += [self.pair(f"last class, {why}", last, first, size) for why, size in self.sizes]
        return [*released(pairs), *self._beside_tables(first, last), *self.further]

    def _beside_tables(self, first: Values, last: Values) -> list[Neighbours]:
        """Where tables have columns of their own: a person alone in one, among people who are alike in another."""
        names = [column.name for column in self.policy.columns]
        found: dict[Values, Neighbours] = {}
        for table in getattr(self.policy, "tables", ()) if self.sizes else ():
            alike = tuple(
                mine if name in table.columns else other for name, mine, other in zip(names, first, last, strict=True)
            )
            if alike != first:
                others = (Crowd(alike, self.people - 1),)
                name = f"alone, among people alike in table {table.name}"
                found[alike] = Neighbours(name, (Crowd(first, 1), *others), (Crowd(first, 0), *others))
        return list(found.values())

    def onlooker(self, values: Values) -> Looking:
        """Somebody who wants to know about a person with these values."""
        names, offered = zip(*((column.name, column.recodings) for column in self.policy.columns), strict=True)
        choosing = getattr(self.policy, "recoding", None)
        if choosing is None or choosing.show_epsilon is None:
            return Onlooker(names, offered, values)
        loss = noise_around(lattice_of(self.policy.columns), self.plan.score, choosing.show_epsilon)
        return Onlooker(names, offered, values, float(1 / loss))

    def batches(self, population: Population) -> Iterator[Views]:
        """What is seen of the slices of one stack after the other."""
        onlooker, known = self.onlooker(population[0].values), Known[Views]()
        make = Stack if self.policy.recoding is None else RecodingStack
        most = releases_of(sum(crowd.size for crowd in population))
        # Most populations are looked at a few times only, and a large stack takes a moment to make up.
        stacks = (make(self.plan, population, copies) for copies in (max(1, most // _SMALL), most))
        stack: Stack | RecodingStack = next(stacks)

        def seen() -> Iterator[Views]:
            nonlocal stack
            for cut, chosen in stack.publish(ReleaseKey(new_key())):
                outcome = (cut, chosen and (chosen.node, repr(chosen.scores)))
                yield known.of(outcome, lambda: onlooker.at_shown(shown_of(cut), chosen))  # noqa: B023
            stack = next(stacks, stack)

        return endless(seen)

    def looking(self, population: Population) -> Callable[[bytes], Views]:
        """The person's class, and all there is."""
        rehearsal = Rehearsal(self.policy, population, self.plan)
        onlooker = self.onlooker(population[0].values)
        return lambda key: onlooker.at(*rehearsal.publish(key))

    def _corner(self, place: int) -> Values:
        return tuple(examples(column.recoding, CLASSES)[place] for column in self.policy.columns)

    def pair(self, name: str, mine: Values, other: Values, size: int) -> Neighbours:
        """The person among so many people like them, and without the person; everybody else is like the other."""
        rest = (Crowd(other, max(self.people - size, 1)),) if other != mine else ()
        more, fewer = (Crowd(mine, size), *rest), (Crowd(mine, size - 1), *rest)
        return Neighbours(f"{name} ({size})", more, fewer)

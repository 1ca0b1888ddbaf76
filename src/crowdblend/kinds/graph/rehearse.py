"""Networks as the audit sees them: one person's links and data replaced by those that matter most."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.kinds.graph.network import NetworkReading
from crowdblend.kinds.graph.plan import GraphPlan, exact_values, noisy_numbers, numbers_output
from crowdblend.kinds.graph.plan import Number as PublishedNumber
from crowdblend.kinds.graph.policy import GraphPolicy, GraphStatistic
from crowdblend.lab.rehearsal.made_up_people import Files
from crowdblend.lab.rehearsal.observers import Number, NumbersObserver, ShownFile
from crowdblend.lab.rehearsal.subject import RELEASES, AuditRequest, AuditSubject, Neighbours
from crowdblend.methods.networks import network
from crowdblend.methods.planning.networks.request import Bounds
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.randomness import ReleaseKey

# A couple, the person and someone to be linked to; and as many as are counted in a few milliseconds.
FEWEST_PEOPLE, MOST_PEOPLE = 4, 1 << 17
# Pairs that move the published numbers less than this share of the best one are not worth runs.
_WORTH, _EQUAL = 0.5, 1e-9


def subject(policy: GraphPolicy, request: AuditRequest) -> GraphSubject:
    """Return the policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    request.leave_epsilon("the policy of a network", "there is no delta to trade")
    given = policy.publication.graph.bounds.people
    if not FEWEST_PEOPLE <= given <= MOST_PEOPLE:
        raise InvalidInput(
            f"`publish.people` must be between {FEWEST_PEOPLE} and {MOST_PEOPLE:,} to audit a network, got {given:,}.",
            remedy="Audit the same policy with another number, and samples that go with it.",
            where="`publish.people`",
            code="rehearsal.people",
        )
    audited = GraphSubject(policy, request.name, request.understated, request.stacked)
    if not audited.pairs():
        message = "One person's links or data must move some published number, and within these bounds they move none."
        remedy = "Raise `publish.average_bound`, or name more values."
        raise InvalidInput(message, remedy=remedy, where="`publish.average_bound`", code="rehearsal.no-neighbours")
    return audited


@dataclass(frozen=True)
class ReplacedLinks:
    """A network, and the two that are to be told apart: it is one of them."""

    links: LinkedGroups
    pair: tuple[LinkedGroups, LinkedGroups]


@dataclass(frozen=True)
class GraphSubject(AuditSubject[GraphPolicy, GraphPlan, ReplacedLinks]):
    """A policy on made-up networks, when one person's links and data are replaced."""

    def pairs(self) -> list[Neighbours[ReplacedLinks]]:
        """Return links to some people, and instead to others or to nobody, where that moves the numbers most."""
        data = tuple(zip(*(self._ends(column) for column in self.policy.people_columns), strict=True)) or ((), ())
        found: list[tuple[float, Neighbours[ReplacedLinks]]] = []
        for name, here, instead in worst_case_graphs(self.policy.publication.graph.bounds):
            pair = replace(here, data=data[0], others=data[0]), replace(instead, data=data[1], others=data[0])
            loss = sum(number.loss for number in self.numbers_between(pair))
            # The first pair has no links of its own: where links add nothing to it, others are no harder.
            if not found or loss > found[0][0] * (1 + _EQUAL):
                found.append((loss, Neighbours(name, *(ReplacedLinks(one, pair) for one in pair))))
        most = max(loss for loss, _ in found)
        return [pair for loss, pair in found if loss > 0 and loss >= _WORTH * most]

    def reader(self, population: ReplacedLinks) -> Callable[[ReleaseKey], NetworkReading]:
        """Return the network, which is read once: no key has a part in that."""
        reading = self.network(population.links)
        return lambda _: reading

    def observer(self, population: ReplacedLinks) -> NumbersObserver:
        return NumbersObserver(self.numbers_between(population.pair))

    def batch(self, population: ReplacedLinks) -> GraphBatch:
        return GraphBatch(self.plan, self.network(population.links), self.files)

    def network(self, links: LinkedGroups) -> NetworkReading:
        """Return a network as it is read from files."""
        return self._remember(("network", links), lambda: made_up(self.policy, links))

    def numbers_between(self, pair: tuple[LinkedGroups, LinkedGroups]) -> tuple[Number, ...]:
        """Return the numbers that two networks differ in, where they are without noise, and by how much they differ."""
        numbers, row = [], 0
        for statistic, mechanism in zip(self.policy.publication.statistics, self.plan.mechanisms, strict=True):
            here, instead = (exact_values(statistic, mechanism, self.network(links)) for links in pair)
            for start, end in zip(here, instead, strict=True):
                moved = float(end - start)
                if moved:
                    numbers.append(Number(row, statistic.low + float(start), moved, abs(moved) / mechanism.noise.scale))
                row += 1
        return tuple(numbers)

    def _ends(self, column: str) -> tuple[str, str]:
        """Two values of a column that are as far apart as its statistics allow."""
        about = [statistic for statistic in self.policy.publication.statistics if statistic.column == column]
        offered = [value for statistic in about for value in _offered_labels(statistic)]
        known = [value for value in dict.fromkeys(offered) if all(_allowed(value, statistic) for statistic in about)]
        if not known:
            message = f"No value of column {column!r} is allowed by all of its statistics."
            remedy = "Correct their ranges and values."
            raise InvalidInput(message, remedy=remedy, where=f"column {column!r}", code="rehearsal.no-value")
        if any(statistic.name == "average" for statistic in about):
            known.sort(key=float)
        return known[0], known[-1]


@dataclass(frozen=True)
class GraphBatch:
    """Releases of a plan about the same network."""

    plan: GraphPlan
    network: NetworkReading
    files: Files
    releases: int = RELEASES

    def draw(self, key: ReleaseKey) -> list[tuple[PublishedNumber, ...]]:
        """Return the noisy numbers of each release."""
        policy, mechanisms = self.plan.policy, self.plan.mechanisms
        exact = [
            exact_values(*one, self.network) for one in zip(policy.publication.statistics, mechanisms, strict=True)
        ]
        return list(map(tuple, noisy_numbers(policy, mechanisms, exact, key, self.releases)))

    def show(self, outcomes: Sequence[tuple[PublishedNumber, ...]]) -> list[tuple[dict[str, ShownFile], None]]:
        """Return the numbers of some releases, written into one file and read again."""
        output = numbers_output(self.plan.policy, [number for own in outcomes for number in own])
        return [(files, None) for files in self.files.cut(output, len(outcomes))]


def made_up(policy: GraphPolicy, groups: LinkedGroups) -> NetworkReading:
    """Return a network as it would be read from files."""
    people, ends = policy.publication.graph.bounds.people, np.array(groups.links, np.int64)
    values = zip(policy.people_columns, groups.data, groups.others, strict=True)
    columns = {name: pa.chunked_array([[mine, *[other] * (people - 1)]], pa.string()) for name, mine, other in values}
    return NetworkReading(network(people, ends[:, 0], ends[:, 1]), columns, len(ends))


def _offered_labels(statistic: GraphStatistic) -> list[str]:
    """Return the ends of a range, or the classes."""
    if statistic.name != "average":
        return list(statistic.classes)
    high = float(Fraction(statistic.low) + Fraction(statistic.width or 0))
    return [repr(float(statistic.low)), repr(high), repr(math.nextafter(high, statistic.low))]


def _allowed(value: str, statistic: GraphStatistic) -> bool:
    if statistic.name != "average":
        return value in statistic.classes or statistic.other is not None
    try:
        above = Fraction(float(value)) - Fraction(statistic.low)
    except (ValueError, OverflowError):
        return False
    return 0 <= above <= Fraction(statistic.width or 0)


STRANGERS, COUPLES, CHAIN = "strangers", "couples", "a chain"
NOBODY = "nobody"
Link = tuple[int, int]
# With two links each, a third one would go beyond the bound.
_CROWDED = 2


@dataclass(frozen=True)
class LinkedGroups:
    """The person's links to one of some groups, as many as `reach`, and everybody's data, a value for each column.

    Everybody is a number, and 0 is the person in question, whose links matter most where they join others or close
    cycles. Beside that person there are one or two groups, one of them linked to the person, and people without links:

        strangers    nobody of them has another link: every link joins two parts
        couples      linked to one of each: every link joins two parts, and where ends were odd they are even
        a chain      linked to all but its ends: every link but the first closes a cycle, and where ends were even
                     they are odd

    `ends` has a chain linked to all along, where nobody may have more than two links.
    """

    groups: tuple[str, ...]
    linked: str
    reach: int
    ends: bool = False
    data: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        """The number of people needed: the person, the groups, and a couple that is always there."""
        return 3 + sum(len(self._members(group, 0)[0]) for group in self.groups)

    @property
    def links(self) -> list[Link]:
        """All links."""
        found, first = [(1, 2)], 3
        for group in self.groups:
            members, among, reached = self._members(group, first)
            found += [*among, *((0, other) for other in reached if group == self.linked)]
            first += len(members)
        return found

    def _members(self, group: str, first: int) -> tuple[range, list[Link], range]:
        """Return a group that begins with `first`, the links in it, and those who may be linked to the person."""
        if group == STRANGERS:
            members = range(first, first + self.reach)
            return members, [], members
        if group == COUPLES:
            members = range(first, first + 2 * self.reach)
            return members, [(one, one + 1) for one in members[::2]], members[::2]
        members = range(first, first + self.reach + (0 if self.ends else 2))
        return members, list(pairwise(members)), members if self.ends else members[1:-1]


def worst_case_graphs(bounds: Bounds) -> Iterator[tuple[str, LinkedGroups, LinkedGroups]]:
    """Pairs in which the person has links to one group, and instead to another or to nobody, as many as there can be.

    The first pair has the same links, for data that differ.
    """
    yield "other data", LinkedGroups((), NOBODY, 0), LinkedGroups((), NOBODY, 0)
    for here, instead in combinations((STRANGERS, COUPLES, CHAIN, NOBODY), 2):
        every = range(1, min(bounds.degree_bound, bounds.people) + 1)
        reach = bisect_left(every, True, key=partial(_too_many, bounds, here, instead))
        if reach > 0:
            yield f"{reach} links to {here}, instead to {instead}", *_pair(bounds, here, instead, reach)


def _pair(bounds: Bounds, here: str, instead: str, reach: int) -> tuple[LinkedGroups, LinkedGroups]:
    groups = tuple(group for group in (here, instead) if group != NOBODY)
    crowded = bounds.degree_bound == _CROWDED
    return LinkedGroups(groups, here, reach, crowded), LinkedGroups(groups, instead, reach, crowded)


def _too_many(bounds: Bounds, here: str, instead: str, reach: int) -> bool:
    """Return whether this many links need more people, or more links on average, than there may be."""
    return any(
        graph.people > bounds.people or 2 * len(graph.links) > bounds.average_bound * bounds.people
        for graph in _pair(bounds, here, instead, reach)
    )

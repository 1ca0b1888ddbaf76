"""Networks in which one person's links matter most: to others whom they join, or among whom they close cycles.

Everybody is a number, and 0 is the person in question. Beside that person there are one or two groups, to one of which
the person has links, and people without any:

    strangers    nobody of them has another link: every link joins two parts
    couples      linked to one of each: every link joins two parts, and where ends were odd they are even
    a chain      linked to all but its ends: every link but the first closes a cycle, and where ends were even
                 they are odd
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

from crowdblend.planning.networks import Bounds

STRANGERS, COUPLES, CHAIN = "strangers", "couples", "a chain"
NOBODY = "nobody"
Link = tuple[int, int]
# With two links each, a third one would go beyond the bound.
_CROWDED = 2


@dataclass(frozen=True)
class LinkedGroups:
    """The person's links to one of some groups, as many as `reach`, and everybody's data, a value for each column.

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
        """How many people it takes: the person, the groups, and a couple that is there in any case."""
        return 3 + sum(self._size(group) for group in self.groups)

    @property
    def links(self) -> list[Link]:
        """All links."""
        found, first = [(1, 2)], 3
        for group in self.groups:
            found += self._within(group, first)
            if group == self.linked:
                found += [(0, other) for other in self._reached(group, first)]
            first += self._size(group)
        return found

    def _size(self, group: str) -> int:
        sizes = {STRANGERS: self.reach, COUPLES: 2 * self.reach, CHAIN: self.reach + (0 if self.ends else 2)}
        return sizes[group]

    def _within(self, group: str, first: int) -> list[Link]:
        members = range(first, first + self._size(group))
        if group == COUPLES:
            return [(one, one + 1) for one in members[::2]]
        return list(pairwise(members)) if group == CHAIN else []

    def _reached(self, group: str, first: int) -> range:
        if group == COUPLES:
            return range(first, first + 2 * self.reach, 2)
        start = first + (1 if group == CHAIN and not self.ends else 0)
        return range(start, start + self.reach)


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
    """Whether so many links need more people, or more links on average, than there may be."""
    return any(
        graph.people > bounds.people or 2 * len(graph.links) > bounds.average_bound * bounds.people
        for graph in _pair(bounds, here, instead, reach)
    )

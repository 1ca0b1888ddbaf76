"""The samplers behind the guarantees: they look at a few random people and at those reached from there, at nobody else.

They are the simulators of ZKP Theorem 26: run on the network with a person concealed, and with the release's noise
added, they show what anybody could have learned without that person. Each averages one term per random person, in
exact fractions; the constants are those of the rules graph.sampler.* and graph.estimator.*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdblend.guarantees.aggregates import Neighbourhood
from crowdblend.mechanisms.networks import NoisyStatistic
from crowdblend.networks import Network
from crowdblend.planning.networks.solve import NetworkPlan
from crowdblend.randomness import Source, uniform


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Everybody's neighbours, row after row."""

    people: int
    starts: NDArray[np.integer]
    names: NDArray[np.integer]

    @classmethod
    def of(cls, network: Network) -> Adjacency:
        """Build the rows of a network."""
        ones, people = np.ones(network.links, np.int8), network.people
        up = csr_array((ones, network.high, network.starts), shape=(people, people))
        both = up + up.T.tocsr()
        return cls(people, both.indptr, both.indices)

    def neighbours(self, person: int) -> NDArray[np.integer]:
        """The row of one person."""
        return self.names[self.starts[person] : self.starts[person + 1]]


class View(Protocol):
    """A network that can be walked along."""

    @property
    def people(self) -> int:
        """How many people there are."""

    def neighbours(self, person: int) -> NDArray[np.integer]:
        """Everybody a person is linked to."""


@dataclass(frozen=True, eq=False)
class Concealed:
    """The network without one person's links: what a simulator of the release sees."""

    adjacency: Adjacency
    hidden: int

    @property
    def people(self) -> int:
        """How many people there are, the hidden one among them."""
        return self.adjacency.people

    def neighbours(self, person: int) -> NDArray[np.integer]:
        """Everybody a person is linked to but the hidden one, who is linked to nobody."""
        row = self.adjacency.neighbours(person)
        return row[:0] if person == self.hidden else row[row != self.hidden]


@dataclass(eq=False)
class Watched:
    """A view that writes down whose neighbours it was asked for."""

    view: View
    visited: list[int] = field(default_factory=list)

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.view.people

    def neighbours(self, person: int) -> NDArray[np.integer]:
        """Everybody a person is linked to; the visit is written down."""
        self.visited.append(person)
        return self.view.neighbours(person)


@dataclass(frozen=True)
class Walk:
    """A walk around a person: that person's number of links, and those of the whole component if it is small."""

    degree: int
    component: tuple[int, ...] | None

    @property
    def even(self) -> bool:
        """Whether the component was found, has links, and nobody in it has an odd number of them."""
        return self.component is not None and self.degree > 0 and not any(degree % 2 for degree in self.component)


def walk(view: View, start: int, most: int) -> Walk:
    """Breadth first, until the component is found or more than `most` people are in sight.

    Neighbours are asked of at most `most` people, of each once.
    """
    reached, known = [start], {start}
    degrees: list[int] = []
    for person in reached:
        row = view.neighbours(person)
        degrees.append(len(row))
        if len(row) >= most:
            return Walk(degrees[0], None)
        for other in row.tolist():
            if other not in known:
                known.add(other)
                reached.append(other)
        if len(reached) > most:
            return Walk(degrees[0], None)
    return Walk(degrees[0], tuple(degrees))


def sampled_connected(view: View, degree_bound: int, samples: int, explored: int, source: Source) -> Fraction:
    """The distance to connectedness: one term 1/size for a component that is found (Marko and Ron)."""
    walks = _walks(view, samples, explored, source)
    components = view.people * _inverse(walks) / samples
    return _between((components - 1) * _edit(view, degree_bound), Fraction(2, degree_bound))


def sampled_cycle_free(view: View, degree_bound: int, samples: int, explored: int, source: Source) -> Fraction:
    """The distance to cycle-freeness: half the links of a person, less the person, plus 1/size of the component."""
    walks = _walks(view, samples, explored, source)
    ends = sum(each.degree for each in walks)
    surplus = view.people * ((Fraction(ends, 2) + _inverse(walks)) / samples - 1)
    return _between(surplus * _edit(view, degree_bound), Fraction(1))


def sampled_euler_path(view: View, degree_bound: int, samples: int, explored: int, source: Source) -> Fraction:
    """The distance to an Euler path: 1/2 for somebody odd, else 1/size of a component with links and nobody odd."""
    walks = _walks(view, samples, explored, source)
    odd = sum(each.degree % 2 for each in walks)
    edits = view.people * (Fraction(odd, 2) + _inverse([each for each in walks if each.even])) / samples - 1
    return _between(edits * _edit(view, degree_bound), Fraction(1, degree_bound))


def sampled_degree(view: View, samples: int, source: Source) -> Fraction:
    """The average number of links of random people."""
    total = sum(len(view.neighbours(person)) for person in _random_people(view, samples, source))
    return Fraction(total, samples)


def sampled_light_ends(view: View, samples: int, source: Source) -> Fraction:
    """The average number of links, every link counted twice at the end with fewer links (after Goldreich and Ron)."""
    total = 0
    for person in _random_people(view, samples, source):
        row = view.neighbours(person)
        mine = (len(row), person)
        total += sum((len(view.neighbours(other)), other) > mine for other in row.tolist())
    return Fraction(2 * total, samples)


def _random_people(view: View, samples: int, source: Source) -> Iterable[int]:
    people: list[int] = uniform(samples, view.people, source).tolist()
    return people


def _walks(view: View, samples: int, explored: int, source: Source) -> list[Walk]:
    return [walk(view, person, explored) for person in _random_people(view, samples, source)]


def _inverse(walks: list[Walk]) -> Fraction:
    """The sum of 1/size over the components that were found."""
    sizes = Counter(len(each.component) for each in walks if each.component is not None)
    return sum((Fraction(times, size) for size, times in sizes.items()), Fraction(0))


def _edit(view: View, degree_bound: int) -> Fraction:
    return Fraction(2, degree_bound * view.people)


def _between(value: Fraction, width: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), width)


def counts_light_ends(plan: NetworkPlan) -> bool:
    """Whether the average degree is counted at the ends with fewer links."""
    aggregate = plan.derivation.conclusion.aggregate
    return isinstance(aggregate, Neighbourhood) and aggregate.radius == 2


def estimated(mechanism: NoisyStatistic, view: View, source: Source) -> Fraction:
    """What the simulator makes of a few random people and whoever they can be followed to."""
    plan, seen = mechanism.plan, mechanism.plan.seen
    if plan.name == "average-degree":
        value = (sampled_light_ends if counts_light_ends(plan) else sampled_degree)(view, seen.samples, source)
    else:
        value = _SAMPLED[plan.name](view, plan.request.bounds.degree_bound, seen.samples, seen.explored, source)
    return min(value, Fraction(plan.width))


def simulate(mechanism: NoisyStatistic, view: View, source: Source, runs: int = 1) -> list[int]:
    """What the simulator says instead of the release, on the grid, in independent runs."""
    return mechanism.noisy([estimated(mechanism, view, source) for _ in range(runs)], source)


_SAMPLED = {
    "connectivity": sampled_connected,
    "cycle-freeness": sampled_cycle_free,
    "eulerian": sampled_euler_path,
}

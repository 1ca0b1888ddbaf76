"""The exact statistics of a network: edits to the nearest network with a property, and degrees.

With C components, o people with an odd number of links and e components that have links and nobody odd
(docs/proofs.md#networks):

    to connectedness     C − 1
    to cycle-freeness    links − n + C
    to an Euler path     max(0, o/2 + e − 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.networks.links import Names, Network


@dataclass(frozen=True, eq=False)
class Structure:
    """The data that statistics are computed from; components are found once."""

    network: Network

    @cached_property
    def _components(self) -> tuple[int, Names]:
        return components(self.network)

    @property
    def parts(self) -> Names:
        """The number of everybody's component."""
        return self._components[1]

    @property
    def components(self) -> int:
        """The number of components."""
        return self._components[0]

    @property
    def odd(self) -> int:
        """The number of people with an odd number of links."""
        return int((self.network.degrees & 1).sum())

    @property
    def even_components(self) -> int:
        """The number of components with links in which nobody has an odd number of them."""
        degrees = self.network.degrees
        counts = np.zeros(self.components, np.bool_)
        counts[self.parts[degrees > 0]] = True
        counts[self.parts[(degrees & 1) == 1]] = False
        return int(counts.sum())


def edits_to_connected(structure: Structure) -> int:
    """Links to add until everybody is connected."""
    return structure.components - 1


def edits_to_cycle_free(structure: Structure) -> int:
    """Links to remove until no cycle is left."""
    return structure.network.links - structure.network.people + structure.components


def edits_to_euler_path(structure: Structure) -> int:
    """Links to add or remove until one walk uses every link once."""
    return max(0, structure.odd // 2 + structure.even_components - 1)


def average_degree(structure: Structure) -> Fraction:
    """Return the average number of links."""
    return Fraction(2 * structure.network.links, structure.network.people)


def degree_shares(structure: Structure, breaks: Sequence[int]) -> list[Fraction]:
    """Return the shares of people whose numbers of links are in each band, the first from 0 and the last without end.

    >>> from crowdblend.methods.networks.links import network
    >>> star = Structure(network(5, np.array([0, 0, 0]), np.array([1, 2, 3])))
    >>> [str(share) for share in degree_shares(star, [1, 2])]
    ['1/5', '3/5', '1/5']
    """
    placed = np.searchsorted(np.array(breaks, np.int64), structure.network.degrees, side="right")
    counts = np.bincount(placed, minlength=len(breaks) + 1)
    return [Fraction(int(count), structure.network.people) for count in counts]


def relative(edits: int, people: int, degree_bound: int) -> Fraction:
    """Edits as a share of M = d·n/2."""
    return Fraction(2 * edits, degree_bound * people)


Numbers = NDArray[np.integer]
# Links that are looked at together.
PIECE = 1 << 24


def components(network: Network) -> tuple[int, Names]:
    """Return how many components there are, and the number of everybody's.

    Everybody starts as a component of one, and hooks onto the first neighbour with a larger number. Then, along a list
    of links, components hook onto each other, all at once: those with the smaller number onto those with the larger
    one, then the other way round, until no link joins two of them. Second neighbours are tried before the rest: they
    leave so few components in most networks that one look at all links finds the few that still matter (Afforest:
    Sutton, Ben-Nun and Barak 2018). Breadth-first search would visit links far apart in memory.

    >>> from crowdblend.methods.networks.links import network
    >>> components(network(5, np.array([0, 3]), np.array([2, 4])))
    (3, array([1, 0, 1, 2, 2], dtype=int32))
    """
    roots = np.arange(network.people, dtype=np.int32)
    starts, counts = network.starts, np.diff(network.starts)
    linked = np.flatnonzero(counts > 0)
    roots[linked] = network.high[starts[linked]]
    _flatten(roots)
    linked = np.flatnonzero(counts > 1)
    _hook(roots, linked, network.high[starts[linked] + 1])
    _flatten(roots)
    left = [_apart(network, roots, start) for start in range(0, network.links, PIECE)]
    if left:
        _hook(roots, *(np.concatenate(ends) for ends in zip(*left, strict=True)))
        _flatten(roots)
    first = roots == np.arange(network.people, dtype=np.int32)
    numbers = np.cumsum(first, dtype=np.int32) - 1
    return int(first.sum()), numbers[roots]


def _hook(roots: Names, one: Numbers, other: Numbers) -> None:
    """Join the components at the ends of links; `roots` of people who are no ends may lag behind."""
    upwards = True
    while True:
        one, other = roots.take(one), roots.take(other)
        apart = one != other
        one, other = one[apart], other[apart]
        if not len(one):
            return
        low, high = np.minimum(one, other), np.maximum(one, other)
        hooked, onto = (low, high) if upwards else (high, low)
        # Of several hooks of one component the last one counts; the others' links are still there in the next round.
        roots[hooked] = onto
        _follow(roots, hooked)
        # A hub that is numbered lowest would catch one neighbour a round; turned round, all catch it at once.
        upwards = not upwards


def _follow(roots: Names, parents: Names) -> None:
    """Double the steps until everybody who was hooked points to a component that was not."""
    while True:
        near = roots.take(parents)
        far = roots.take(near)
        if np.array_equal(near, far):
            return
        roots[parents] = far


def _flatten(roots: Names) -> None:
    """Point everybody to the end of their chain."""
    while True:
        far = roots.take(roots)
        if np.array_equal(roots, far):
            return
        roots[:] = far


def _apart(network: Network, roots: Names, start: int) -> tuple[Names, Names]:
    """Return the components at the ends of those links, from `start` on, that still join two."""
    piece = slice(start, start + PIECE)
    one, other = roots.take(network.low[piece]), roots.take(network.high[piece])
    apart = one != other
    return one[apart], other[apart]

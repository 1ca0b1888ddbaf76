"""The exact statistics of a network: edits to the nearest network with a property, and degrees.

With C components, o people with an odd number of links and e components that have links and nobody odd
(docs/proofs.md#networks):

    to connectedness     C − 1
    to cycle-freeness    links − n + C
    to an Euler path     max(0, o/2 + e − 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdblend.networks.components import components
from crowdblend.networks.links import Names, Network


@dataclass(frozen=True, eq=False)
class Structure:
    """What the statistics are computed from; components are found once."""

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
        """How many components there are."""
        return self._components[0]

    @property
    def odd(self) -> int:
        """How many people have an odd number of links."""
        return int((self.network.degrees & 1).sum())

    @property
    def even_components(self) -> int:
        """How many components have links and nobody with an odd number of them."""
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
    """The average number of links."""
    return Fraction(2 * structure.network.links, structure.network.people)


def relative(edits: int, people: int, degree_bound: int) -> Fraction:
    """Edits as a share of M = d·n/2."""
    return Fraction(2 * edits, degree_bound * people)

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
from numpy.typing import NDArray

from crowdblend.networks.links import Network


@dataclass(frozen=True, eq=False)
class Structure:
    """What the statistics are computed from; components are found once."""

    network: Network

    @cached_property
    def parts(self) -> NDArray[np.int32]:
        """The number of everybody's component."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        found = self.network
        # The routine computes with doubles; making them here saves a copy.
        ones = np.ones(found.links, np.float64)
        matrix = csr_array((ones, found.high, found.starts), shape=(found.people, found.people))
        labels: NDArray[np.int32] = connected_components(matrix, directed=False)[1]
        return labels

    @cached_property
    def components(self) -> int:
        """How many components there are."""
        return int(self.parts.max()) + 1

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

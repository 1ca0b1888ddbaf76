"""What a sampler may ask of a network: how many people there are, and the neighbours of somebody it has reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdblend.networks.links import Adjacency


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

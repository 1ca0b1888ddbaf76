"""What planning asks of a mechanism: the derivation of what it guarantees, from its own parameters.

A certificate starts from the claim of the mechanism that ran, so it cannot speak of another k or of other noise.
"""

from __future__ import annotations

from typing import Protocol

from crowdblend.calculus import Derivation


class Claims(Protocol):
    """A mechanism with parameters; what it guarantees follows from them and from nothing else."""

    def claim(self) -> Derivation:
        """What the mechanism guarantees to the people it is run on."""


class CrowdMechanism(Claims, Protocol):
    """A mechanism that blends people into crowds of at least k."""

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """What it guarantees after sampling, by a theorem about this mechanism; None where only its crowds count."""

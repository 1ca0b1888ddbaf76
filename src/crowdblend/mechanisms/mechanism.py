"""What every mechanism is: a value of its parameters, which is written into the facts of a release as it ran.

Whoever reads the facts has the mechanism again, and derives from it what it guarantees and what published values say.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.estimates.laws import Law

Crowd = Annotated[int, msgspec.Meta(ge=1)]
# Noise of a smaller loss cannot be drawn exactly.
Loss = Annotated[float, msgspec.Meta(ge=2.0**-40)]


class Mechanism(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="mechanism"):
    """Parameters of a mechanism; the data come with the call."""

    def claim(self) -> Derivation:
        """What the mechanism guarantees to the people it is run on."""
        raise NotImplementedError

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """What it guarantees after sampling, by a theorem about this mechanism; None where only its claim counts."""
        del rate, epsilon
        return None

    @property
    def law(self) -> Law:
        """What is published of a cell, given how many people of the sample are in it."""
        raise NotImplementedError

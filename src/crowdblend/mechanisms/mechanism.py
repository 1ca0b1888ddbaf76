"""Mechanisms, as values of their parameters, written into the facts as they ran.

Anyone who reads the facts has the mechanism again, and derives from it what it guarantees and what published values
say.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from crowdblend.designs import Claims
from crowdblend.estimates.laws import Law

Crowd = Annotated[int, msgspec.Meta(ge=1)]
# Noise of a smaller loss cannot be drawn exactly.
Loss = Annotated[float, msgspec.Meta(ge=2.0**-40)]


class Mechanism(Claims, msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="mechanism"):
    """Parameters of a mechanism; the data come with the call."""

    @property
    def law(self) -> Law:
        """The law of a published cell, given the sampled people in it."""
        raise NotImplementedError

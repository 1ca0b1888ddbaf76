"""What every mechanism is: a value of its parameters, which is written into the facts of a release as it ran.

Whoever reads the facts has the mechanism again, and derives from it what it guarantees and what published values say.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.calculus.profiles import profile_of
from crowdblend.calculus.rules import outliers, programme
from crowdblend.estimates.laws import Law
from crowdblend.guarantees import CrowdBlending, OutlierPrivate

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

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """What it guarantees on a part of a sample, to which each sampled person goes with probability `share`."""
        claim = self.claim()
        if isinstance(claim.conclusion, CrowdBlending):
            return programme.crowds_in_a_part(claim, share=share)
        if isinstance(claim.conclusion, OutlierPrivate):
            claim = outliers.outlier_private_is_differential(claim)
        return programme.private_in_a_part(profile_of(claim), share=share)

    @property
    def law(self) -> Law:
        """What is published of a cell, given how many people of the sample are in it."""
        raise NotImplementedError

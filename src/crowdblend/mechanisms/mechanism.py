"""Mechanisms, as values of their parameters, written into the facts as they ran.

Anyone who reads the facts has the mechanism again, and derives from it what it guarantees and what published values
say.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.calculus.profiles import profile_of
from crowdblend.calculus.rules import outliers, programme
from crowdblend.estimates.laws import Law
from crowdblend.guarantees.privacy import CrowdBlending, OutlierPrivate

Crowd = Annotated[int, msgspec.Meta(ge=1)]
# Noise of a smaller loss cannot be drawn exactly.
Loss = Annotated[float, msgspec.Meta(ge=2.0**-40)]


class Mechanism(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="mechanism"):
    """Parameters of a mechanism; the data come with the call."""

    def claim(self) -> Derivation:
        """Return the mechanism's guarantee to the people it is run on."""
        raise NotImplementedError

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """Return the guarantee after sampling by a theorem of its own; None where only claim() counts."""
        del rate, epsilon
        return None

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """Return the guarantee on a part of a sample, which each sampled person joins with `share`."""
        claim = self.claim()
        if isinstance(claim.conclusion, CrowdBlending):
            return programme.crowds_in_a_part(claim, share=share)
        if isinstance(claim.conclusion, OutlierPrivate):
            claim = outliers.outlier_private_is_differential(claim)
        return programme.private_in_a_part(profile_of(claim), share=share)

    @property
    def law(self) -> Law:
        """The law of a published cell, given the sampled people in it."""
        raise NotImplementedError

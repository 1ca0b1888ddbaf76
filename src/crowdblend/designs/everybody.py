"""Registers: everybody is in the table, and nobody is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import composition, outliers, sampling
from crowdblend.designs.design import Claims, Design, InclusionRates
from crowdblend.guarantees import OutlierPrivate


class Everybody(Design, frozen=True, tag="everybody"):
    """Everybody is counted."""

    @property
    def inclusion(self) -> InclusionRates:
        """Everybody for certain."""
        return InclusionRates.at_rate(1.0)

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Differential privacy of all mechanisms together, under both relations; then what one claims for crowds."""
        del epsilon
        claims = [mechanism.claim() for mechanism in mechanisms]
        if isinstance(claims[0].conclusion, OutlierPrivate):
            differential = outliers.outlier_private_is_differential(*claims)
            return differential, sampling.replacing_is_removing_and_adding(differential), *claims
        together = claims[0] if len(claims) == 1 else composition.steps_add_up(*claims)
        return together, sampling.replacing_is_removing_and_adding(together)

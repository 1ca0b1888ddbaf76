"""Registers: everybody is in the table, and nobody is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.calculus import Derivation
from crowdblend.calculus.profiles import profile_of
from crowdblend.calculus.rules import composition, outliers, profiles, sampling
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

    def together(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """What mechanisms of several publications about everybody guarantee: by sums where that suffices, by curves."""
        claims = []
        for mechanism in mechanisms:
            claim = mechanism.claim()
            private = isinstance(claim.conclusion, OutlierPrivate)
            claims.append(outliers.outlier_private_is_differential(claim) if private else claim)
        added = composition.steps_add_up(*claims)
        if added.conclusion.epsilon > epsilon:
            added = profiles.profile_at_epsilon(profiles.steps_compose(*map(profile_of, claims)), epsilon=epsilon)
        return added, sampling.replacing_is_removing_and_adding(added)

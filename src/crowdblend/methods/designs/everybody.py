"""Registers: everybody is in the table, and nobody is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.methods.designs.design import Claims, Design, Stratum, claim_about_people, claim_of_rows
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.calculus.rules import composition, profiles, sampling
from crowdblend.trusted.guarantees.privacy import OutlierPrivate


class Everybody(Design, frozen=True, tag="everybody"):
    """A register: every person is counted."""

    everybody = True

    @property
    def inclusion(self) -> Stratum:
        return Stratum.at_rate(1.0)

    @property
    def draws_here(self) -> bool:
        return False

    @property
    def description(self) -> str:
        return "everybody is counted; no sample is drawn"

    @property
    def largest_rate(self) -> float:
        return 1.0

    def largest_loss(self, epsilon: float) -> float:
        return epsilon

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Differential privacy of all mechanisms together, under both relations; then what one claims for crowds."""
        claims = [claim_about_people(mechanism) for mechanism in mechanisms]
        together = claims[0] if len(claims) == 1 else composition.steps_add_up(*claims)
        own = [claim for one in mechanisms if isinstance((claim := one.claim()).conclusion, OutlierPrivate)]
        return together, sampling.replacing_is_removing_and_adding(together), *own

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        """Derive the guarantee of one mechanism that counts nobody more often than this, under both relations."""
        claim = claim_of_rows(claim, max(copies))
        return claim, sampling.replacing_is_removing_and_adding(claim)

    def together(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Derive the joint guarantee about everybody: by sums where these suffice, else by curves."""
        claims = [claim_about_people(mechanism) for mechanism in mechanisms]
        added = composition.steps_add_up(*claims)
        if added.conclusion.epsilon > epsilon:
            added = profiles.profile_at_epsilon(profiles.steps_compose(*map(profile_of, claims)), epsilon=epsilon)
        return added, sampling.replacing_is_removing_and_adding(added)

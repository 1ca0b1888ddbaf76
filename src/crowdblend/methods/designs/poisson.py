"""Samples that have everybody with one probability, each person by a coin of their own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from crowdblend.errors import NotApplicable
from crowdblend.methods.designs.design import (
    Claims,
    Design,
    Rate,
    Stratum,
    differential_claim,
    for_everybody,
    of_crowds,
)
from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Part
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.profiles import profile_of
from crowdblend.trusted.calculus.rules import blending, profiles, programme, recoding, sampling
from crowdblend.trusted.guarantees.privacy import CrowdBlending

if TYPE_CHECKING:
    from crowdblend.trusted.randomness import DrawKey

# The papers' bounds scan crowd sizes, which takes long for larger k and teaches nothing there.
LARGEST_COMPARED = 20_000


class Poisson(Design, frozen=True, tag="poisson"):
    """A sample that is drawn here at one rate."""

    has_one_rate = True

    rate: Rate

    @property
    def inclusion(self) -> Stratum:
        return Stratum.at_rate(self.rate)

    @property
    def largest_rate(self) -> float:
        return self.rate

    @property
    def description(self) -> str:
        drawn = "was already drawn at an assumed" if self.already_drawn else "will be drawn at"
        return f"the sample {drawn} rate {self.rate}"

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        return Coin(coin, self.rate, part)

    def thin_by(self, share: float) -> Self:
        return replace(self, rate=self.rate * share)

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        (mechanism,) = mechanisms
        sampled = self.under_sampling(mechanism, epsilon)
        return *_for_everybody(sampled), *of_crowds(mechanism)

    def under_sampling(self, mechanism: Claims, epsilon: float) -> Derivation:
        """Derive the guarantee after sampling, by the best of the theorems that apply."""
        # What is chosen from starts from one leaf, and no rule about crowds beats one about the mechanism itself.
        own = mechanism.claim_under_sampling(rate=self.rate, epsilon=epsilon)
        if own is not None:
            return sampling.best_under_sampling(own)
        claim = mechanism.claim()
        if isinstance(claim.conclusion, CrowdBlending):
            return sampling.best_under_sampling(*self._by_crowds(claim, claim.conclusion, epsilon))
        return sampling.sampling_amplifies(differential_claim(mechanism), rate=self.rate)

    def profile(self, mechanism: Claims, epsilon: float) -> Derivation:
        """Derive the loss after sampling at every ε; `epsilon` is one at which the theorems apply."""
        return profile_of(sampling.sampled_release_is_differential(self.under_sampling(mechanism, epsilon)))

    def derive_with_choice(
        self, choice: Derivation, mechanism: Claims, share: float | None, epsilon: float
    ) -> Derivation:
        if share is not None:
            ends = {"rate": self.rate, "share": share, "epsilon": epsilon}
            return recoding.recoding_from_split(choice, mechanism.claim(), **ends)
        if self.already_drawn:
            raise ValueError("the people of a sample that was drawn before cannot choose for another one")
        return recoding.recoding_from_population(choice, self.under_sampling(mechanism, epsilon))

    def _by_crowds(self, claim: Derivation, crowd: CrowdBlending, epsilon: float) -> list[Derivation]:
        """Return every theorem about crowds that applies to a claim."""
        best = (
            [sampling.blending_sharp] if crowd.epsilon else [sampling.suppression_exact, sampling.suppression_published]
        )
        found = []
        for rule in [*best, blending.blending_explicit] if crowd.k <= LARGEST_COMPARED else best[:1]:
            with suppress(NotApplicable):
                found.append(rule(claim, rate=self.rate, epsilon=epsilon))
        return found

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        if tuple(copies) != (1,):
            raise ValueError("people of a sample at one rate count once")
        return _for_everybody(sampling.sampling_amplifies(claim, rate=self.rate))

    def amplify(self, profile: Derivation) -> Derivation:
        return profiles.profile_of_one_sample(profile, rate=self.rate)

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[Claims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of mechanisms, one for each part of the sample.

        None of them speaks of the whole sample, so no crowd is listed.
        """
        alone = [only for (only,) in mechanisms]
        return _for_everybody(parts_at_rate(alone, shares, self.rate, epsilon))


class Coins(Poisson, frozen=True, tag="coins"):
    """A sample that was drawn before, each person by a coin of one assumed rate."""

    already_drawn = True

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        return Everybody(part, row_key=coin)


def parts_at_rate(mechanisms: Sequence[Claims], shares: Sequence[float], rate: float, epsilon: float) -> Derivation:
    """Derive what mechanisms, each on its part of a sample at one rate, guarantee."""
    placed = (mechanism.claim_in_a_part(share=share) for mechanism, share in zip(mechanisms, shares, strict=True))
    return programme.programme_of_parts(*placed, rate=rate, epsilon=epsilon)


def _for_everybody(derivation: Derivation) -> tuple[Derivation, ...]:
    strongest = sampling.sampled_release_is_zero_knowledge(derivation)
    return for_everybody(strongest, sampling.sampled_release_is_differential(derivation))

"""Surveys of a fixed number of people, each set of so many equally likely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import totals, zero_knowledge
from crowdblend.designs.design import Design, InclusionRates
from crowdblend.designs.draw import Draw, Exactly
from crowdblend.guarantees import NoisyTotals

if TYPE_CHECKING:
    from crowdblend.randomness import DrawKey

Whole = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Survey(Design, frozen=True, tag="survey"):
    """`people` of `of` people, at random; both numbers are public."""

    people: Whole
    of: Whole

    def __post_init__(self) -> None:
        if self.people > self.of:
            raise ValueError("a survey has no more people than there are")

    @property
    def inclusion(self) -> InclusionRates:
        """Everybody with the same probability."""
        return InclusionRates.at_rate(self.people / self.of)

    def draw(self, coin: DrawKey) -> Draw:
        """Exactly so many, each set of them equally likely."""
        return Exactly(coin, self.people, self.of)

    def drawn(self, claim: Derivation) -> tuple[Derivation, Derivation]:
        """What is guaranteed where so many are drawn and sanitized: relative to them, and with one replaced."""
        hidden, ends = replaced(claim), {"samples": self.people, "population": self.of}
        sharp = zero_knowledge.sample_and_sanitize_sharp(hidden, **ends)
        return sharp, zero_knowledge.sample_and_sanitize_differential(hidden, **ends)

    def relative(self, claim: Derivation) -> tuple[Derivation, Derivation]:
        """What noise on everybody's totals guarantees relative to so many random people, and with one replaced."""
        ends = {"samples": self.people, "population": self.of}
        return totals.totals_estimated_from_samples(claim, **ends), replaced(claim)


def replaced(claim: Derivation) -> Derivation:
    """The claim with one person's data replaced; some are that already."""
    return totals.totals_are_differential(claim) if isinstance(claim.conclusion, NoisyTotals) else claim

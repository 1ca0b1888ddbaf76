"""Samples whose people had different probabilities, of which only the range is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec
from msgspec.structs import replace

from crowdblend.methods.designs.design import (
    MOST_LISTED,
    Claims,
    Design,
    Rate,
    Stratum,
    blends,
    for_everybody,
    no_parts,
    of_crowds,
)
from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Part, StratifiedCoin
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import blending, profiles, programme, strata

if TYPE_CHECKING:
    from crowdblend.trusted.randomness import DrawKey


class Biased(Design, frozen=True, tag="biased"):
    """A sample with rates between `low` and `high`; up to `exceptions` people have any rate.

    Nobody who is protected has more than `max_rate`; `rate` is what estimates divide by, if anything. `stratum` names a
    column that is not published and by whose labels the `rates` differ, `weight` one of survey weights.
    """

    low: Rate
    high: Rate
    exceptions: Annotated[int, msgspec.Meta(ge=0, le=10**12)] = 0
    max_rate: Rate = 1.0
    rate: Rate | None = None
    already_drawn: bool = True
    weight: str | None = None
    stratum: str | None = None
    rates: dict[str, Rate] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.low <= (self.rate or self.low) <= self.high <= self.max_rate:
            raise ValueError("low, rate, high and max_rate rise in this order")
        if not self.already_drawn and self.rate is None and self.stratum is None:
            raise ValueError("a sample is drawn at a rate or by strata, or was drawn before")
        if self.rates and (self.low, self.high) != (min(self.rates.values()), max(self.rates.values())):
            raise ValueError("low and high are the smallest and the largest of the rates")

    @property
    def throws_row_coins(self) -> bool:
        """Unless unpublished strata tell rows of one class apart, or exceptions have several rows."""
        return not (self.already_drawn or self.exceptions or self.stratum or self.weight)

    @property
    def inclusion(self) -> Stratum:
        return Stratum(self.rate, self.low, self.high, self.exceptions)

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        if self.already_drawn:
            return Everybody(part, row_key=coin)
        if self.stratum is not None:
            return StratifiedCoin(coin, self.stratum, tuple(self.rates.values()), part=part)
        assert self.rate is not None, "a sample is drawn at a rate"
        return Coin(coin, self.rate, part)

    def require_parts(self) -> None:
        if self.weight is not None:
            message = "Parts of a survey with weights are certified where the weights are published."
            raise no_parts(message, f"Publish {self.weight!r}, and add `sampling.thin = 0.8`.", "`sampling.column`")

    def thin_by(self, share: float) -> Self:
        ends = {name: getattr(self, name) * share for name in ("low", "high", "max_rate")}
        rates = {label: rate * share for label, rate in self.rates.items()}
        return replace(self, **ends, rate=None if self.rate is None else self.rate * share, rates=rates)

    def sentences(self) -> list[str]:
        if self.weight is not None:
            return [
                "The survey has weights, which differ between people. They are not published, because they would tell "
                "people apart, so a count cannot be turned into an estimate here: low and high hold for every weight "
                "that was possible."
            ]
        if self.stratum is None:
            return []
        listed = ", ".join(f"{label}: {rate}" for label, rate in [*self.rates.items()][:MOST_LISTED])
        return [
            f"People were sampled by strata of {self.stratum}, which is not published ({listed}). A cell may hold "
            "people of all strata, so there is no estimate: low and high hold for every mixture of them."
        ]

    @property
    def description(self) -> str:
        drawn = "was already drawn" if self.already_drawn else "will be drawn"
        own = "" if self.already_drawn or self.stratum else f"rate {self.rate:g}, certified for "
        any_rate = f", but for up to {self.exceptions:,} people, who have any" if self.exceptions else ""
        return f"the sample {drawn} at {own}rates between {self.low:g} and {self.high:g}{any_rate}"

    @property
    def largest_rate(self) -> float:
        return self.max_rate

    @property
    def parameters(self) -> dict[str, float]:
        return {"low": self.low, "high": self.high, "exceptions": self.exceptions}

    @property
    def ends(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "exceptions": self.exceptions, "max_rate": self.max_rate}

    def amplify(self, profile: Derivation) -> Derivation:
        return profiles.profile_of_one_unequal_sample(profile, **self.ends)

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[Claims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of mechanisms on parts: of crowds counts what they claim of any table."""
        placed = []
        for (only,), share in zip(mechanisms, shares, strict=True):
            crowds = blends(only)
            placed.append(
                programme.crowds_in_a_part(only.claim(), share=share) if crowds else only.claim_in_a_part(share=share)
            )
        return self.state_guarantees(programme.profile_of_unequal_programme(*placed, **self.ends), epsilon)

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        """Derive the guarantee of one mechanism that counts every sampled person once: all people are one stratum."""
        if tuple(copies) != (1,) or self.exceptions:
            raise ValueError("people of a sample without strata count once, and nobody is an exception")
        joint = strata.stratum_in_copies(claim, low=self.low, high=self.max_rate, copies=1)
        worst = strata.mechanism_of_all_strata(joint)
        strongest = strata.mechanism_of_all_strata_is_zero_knowledge(joint)
        return for_everybody(strongest, worst)

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        (mechanism,) = mechanisms
        claim, ends = mechanism.claim(), self.ends
        if not blends(mechanism):
            return *self.together(mechanisms, epsilon), *of_crowds(mechanism)
        differential = blending.robust_sampling_is_differential(claim, **ends, epsilon=epsilon)
        strongest = blending.robust_sampling_is_zero_knowledge(claim, **ends, epsilon=epsilon)
        return *for_everybody(strongest, differential), claim

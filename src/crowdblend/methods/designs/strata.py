"""Stratified samples and survey weights: every stratum has a rate, or rates between two ends.

The column of the strata is published, so every class lies within one stratum, which has a mechanism of its own, and the
worst stratum counts. Where it is not published, a class may hold people of all strata: then the sample is a biased one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import replace

from crowdblend.methods.designs.design import (
    MOST_LISTED,
    Claims,
    Design,
    Rate,
    SeveralRows,
    Stratum,
    blends,
    for_everybody,
    no_parts,
    of_crowds,
)
from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Part, StratifiedCoin
from crowdblend.methods.designs.poisson import parts_at_rate
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import profiles, sampling, strata

if TYPE_CHECKING:
    from crowdblend.trusted.randomness import DrawKey


class Strata(Design, frozen=True, tag="strata"):
    """People who are sampled by the label that they have in a column; of a survey that is thinned, who were asked."""

    column: str
    strata: Annotated[dict[str, Stratum], msgspec.Meta(min_length=1, max_length=1_000)]
    already_drawn: bool = False
    thin: Rate | None = None

    def __post_init__(self) -> None:
        if self.thin is not None and self.already_drawn:
            raise ValueError("a survey is thinned here, or was drawn before by coins")
        if any(one.rate is None or one.exceptions for one in self.strata.values()):
            raise ValueError("a stratum has a rate that estimates divide by, and nobody is an exception")

    @property
    def counting_strata(self) -> dict[str, Stratum]:
        share = 1.0 if self.thin is None else self.thin
        return {label: one.thin_by(share) for label, one in self.strata.items()}

    @property
    def coins(self) -> tuple[Stratum, ...]:
        """The rates of the coins that protect people; of a thinned survey only those drawn here."""
        return tuple(self.strata.values()) if self.thin is None else (Stratum.at_rate(self.thin),) * len(self.strata)

    @property
    def largest_rate(self) -> float:
        return max(one.high for one in self.coins)

    @property
    def description(self) -> str:
        drawn = "was already drawn" if self.already_drawn or self.thin is not None else "will be drawn"
        kept = "" if self.thin is None else f", and each person is kept here with probability {self.thin:g}"
        return f"the sample {drawn} by strata of {self.column}{kept}"

    def describe(self, of_each: Sequence[str] = ()) -> list[tuple[str, str]]:
        lines = super().describe()
        for place, (label, one) in enumerate([*self.strata.items()][:MOST_LISTED]):
            rate = f"{one.rate:g}" if one.low == one.high else f"{one.low:.3g} to {one.high:.3g}"
            lines.append(("", f"{label}: rate {rate}{of_each[place] if of_each else ''}"))
        more = len(self.strata) - MOST_LISTED
        return [*lines, ("", f"and {more:,} further strata")] if more > 0 else lines

    @property
    def inclusion(self) -> None:
        return None

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        if self.thin is not None:
            return Coin(coin, self.thin, part)
        if self.already_drawn:
            return Everybody(part, row_key=coin)
        return StratifiedCoin(coin, self.column, tuple(one.high for one in self.strata.values()), part=part)

    def sentences(self) -> list[str]:
        if self.thin is None:
            return []
        return [
            f"Of a survey that was taken before, a secret coin kept each person with probability {self.thin:g}. The "
            "guarantee is to the people of the survey, and rests on nothing about how they were chosen. The estimates "
            "rest on the rates that the publisher states, and their intervals include neither who did not answer nor "
            "people who were drawn together."
        ]

    def thin_by(self, share: float) -> Strata:
        if self.thin is not None:
            return replace(self, thin=self.thin * share)
        return replace(self, strata={label: one.thin_by(share) for label, one in self.strata.items()})

    def contradicts(self, labels: Mapping[str, tuple[str, ...] | None], breaks: Mapping[str, Any]) -> str | None:
        """Strata are the labels of a published column: classes would span them otherwise."""
        fits = labels.get(self.column) == tuple(self.strata)
        return None if fits else "its strata are not the labels of a published column"

    def require_parts(self) -> None:
        if any(one.low < one.high for one in self.coins):
            message = "Parts of one sample are certified where everybody of a stratum has one rate."
            remedy = (
                'Add `sampling.thin = 0.8`, which rests on no weight; or write `privacy.split = "fresh" | "budget"`.'
            )
            raise no_parts(message, remedy)

    def amplify(self, profile: Derivation) -> Derivation:
        low, high = min(one.low for one in self.coins), self.largest_rate
        if low == high:
            return profiles.profile_of_one_sample(profile, rate=high)
        return profiles.profile_of_one_unequal_sample(profile, low=low, high=high, exceptions=0, max_rate=high)

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of one mechanism per stratum; equal strata are stated once.

        That a stratum blends into crowds of its own says nothing of the others, so no crowd is listed. One mechanism
        with noise sees all strata.
        """
        if not blends(mechanisms[0]):
            return *self.together(mechanisms, epsilon), *of_crowds(mechanisms[0])
        each = {
            (one.low, one.high, mechanism): (one, mechanism)
            for one, mechanism in zip(self.coins, mechanisms, strict=True)
        }
        return _worst([_derive(one, mechanism, epsilon) for one, mechanism in each.values()])

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[Claims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of mechanisms, one for every part and stratum.

        The people of a stratum are sampled at one rate and sent to one part each, and the worst stratum counts. Noise
        sees the people of all strata, and hides those of each stratum, no matter who the others are.
        """
        if any(one.low < one.high for one in self.coins):
            return super().parts_derivations(mechanisms, shares, epsilon)
        seen = [one if blends(one[0]) else _seen_by_strata(*one, strata=len(self.coins)) for one in mechanisms]
        by_stratum = zip(self.coins, zip(*seen, strict=True), strict=True)
        each = {(one.high, own): parts_at_rate(own, shares, one.high, epsilon) for one, own in by_stratum}
        found = [strata.stratum_at_one_rate(made) for made in each.values()]
        if all(blends(one[0]) for one in mechanisms):
            return _worst(found)
        return for_everybody(strata.strata_together_are_zero_knowledge(*found), strata.strata_together(*found))

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        """Derive the guarantee of one mechanism on all strata, which counts people in copies.

        `claim` is about people who count once; equal strata are stated once, and the worst stratum counts.
        """
        joint = self.in_copies(claim, copies)
        strongest = strata.mechanism_of_all_strata_is_zero_knowledge(joint)
        return for_everybody(strongest, strata.mechanism_of_all_strata(joint))

    def in_copies(self, claim: Derivation, copies: Sequence[int]) -> Derivation:
        """Derive the claim for the people of all strata."""
        found = claim
        ends = ((one.low, one.high) for one in self.coins)
        for number, ((low, high), times) in enumerate(dict.fromkeys(zip(ends, copies, strict=True))):
            rule = strata.another_stratum_in_copies if number else strata.stratum_in_copies
            found = rule(found, low=low, high=high, copies=times)
        return found


def _derive(stratum: Stratum, mechanism: Claims, epsilon: float) -> Derivation:
    """Derive the mechanism's guarantee to the people of a stratum."""
    if stratum.low < stratum.high:
        return strata.stratum_between_rates(mechanism.claim(), low=stratum.low, high=stratum.high, epsilon=epsilon)
    # The exact rule is the best of all for suppression; to list the others would only make proofs longer.
    own = mechanism.claim_under_sampling(rate=stratum.low, epsilon=epsilon)
    exact = own or sampling.suppression_exact(mechanism.claim(), rate=stratum.low, epsilon=epsilon)
    return strata.stratum_at_one_rate(exact)


def _worst(derivations: Sequence[Derivation]) -> tuple[Derivation, ...]:
    return for_everybody(strata.strata_are_zero_knowledge(*derivations), strata.worst_stratum(*derivations))


def _seen_by_strata(mechanism: Claims, *, strata: int) -> Sequence[Claims]:
    """Return noise as the people of each stratum see it, who count as often as their stratum says."""
    copies = (1,) * strata if mechanism.copies is None else mechanism.copies
    return [mechanism if times == 1 else SeveralRows(mechanism, times) for times in copies]


class Weights(Strata, frozen=True, tag="weights"):
    """A survey whose column of weights says how many people each of its people stands for: one over the rate.

    The strata are classes of weights, each from one of the `breaks` to the next.
    """

    already_drawn: bool = True
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        ends = list(self.strata.values())
        if len(self.breaks) != len(ends) + 1 or not all(1 <= a < b for a, b in pairwise(self.breaks)):
            raise ValueError("every class of weights lies between two breaks")
        for one, (start, end) in zip(ends, pairwise(self.breaks), strict=True):
            ends_meet = math.isclose(one.low, 1 / end, rel_tol=1e-12)
            if not (ends_meet and math.isclose(one.high, 1 / start, rel_tol=1e-12)):
                raise ValueError("the rates of a class are one over its weights")

    def contradicts(self, labels: Mapping[str, tuple[str, ...] | None], breaks: Mapping[str, Any]) -> str | None:
        fits = breaks.get(self.column) == self.breaks
        return super().contradicts(labels, breaks) or (
            None if fits else "its weights are not the classes of a published column"
        )

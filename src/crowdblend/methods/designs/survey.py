"""Surveys of a fixed number of people, each set of this many equally likely: drawn here, or before and thinned here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from crowdblend.methods.designs.design import Claims, Design, Stratum, as_differential, blends, no_parts, of_crowds
from crowdblend.methods.designs.draw import Draw, Exactly, Part
from crowdblend.methods.designs.draw import Everybody as Everyone
from crowdblend.methods.designs.poisson import Poisson
from crowdblend.trusted.calculus import Assumption, Derivation
from crowdblend.trusted.calculus.profiles import compose_releases
from crowdblend.trusted.calculus.rules import profiles, sampling, surveys, totals, zero_knowledge
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.utility import NoisyTotals

if TYPE_CHECKING:
    from crowdblend.trusted.randomness import DrawKey

Whole = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Survey(Design, frozen=True, tag="survey"):
    """`people` of `of` people, at random; both numbers are public."""

    counts_exactly = True

    people: Whole
    of: Whole
    already_drawn: bool = False

    def __post_init__(self) -> None:
        if self.people > self.of:
            raise ValueError("a survey has no more people than there are")

    @property
    def assumption(self) -> Assumption | None:
        return Assumption.ASSUMED_SURVEY if self.already_drawn else None

    @property
    def inclusion(self) -> Stratum:
        return Stratum.at_rate(self.people / self.of)

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        assert part is None, "a fixed number of people is not divided into parts"
        return Everyone(row_key=coin) if self.already_drawn else Exactly(coin, self.people, self.of)

    def sentences(self) -> list[str]:
        """Return what a survey says whose coins keep everybody, where it was drawn before."""
        return ThinnedSurvey(1.0, self.people, self.of).sentences() if self.already_drawn else []

    def derive_drawn(self, claim: Derivation) -> tuple[Derivation, Derivation]:
        """Derive the guarantees of a sanitized sample: relative to its size, and with one replaced."""
        hidden, ends = replaced_claim(claim), {"samples": self.people, "population": self.of}
        sharp = zero_knowledge.sample_and_sanitize_sharp(hidden, **ends)
        return sharp, zero_knowledge.sample_and_sanitize_differential(hidden, **ends)

    def relative(self, claim: Derivation) -> tuple[Derivation, Derivation]:
        """Derive the guarantees of noise on totals: relative to random people, and with one replaced."""
        ends = {"samples": self.people, "population": self.of}
        return totals.totals_estimated_from_samples(claim, **ends), replaced_claim(claim)


class ThinnedSurvey(Poisson, frozen=True, tag="thinned"):
    """A survey of `people` of `of` people that was drawn before; each of its people is kept here by a coin at `rate`.

    Crowds need the coins: of a fixed number of people, the number minus what is shown is what is hidden. Noise does
    not, and a rate of 1 keeps everybody. What is guaranteed is for one person's data replaced, as both numbers are
    public.
    """

    has_one_rate = False
    already_drawn = True

    people: Whole
    of: Whole

    def __post_init__(self) -> None:
        if self.people > self.of:
            raise ValueError("a survey has no more people than there are")

    @property
    def draws_here(self) -> bool:
        """Unless all of its people are kept."""
        return self.rate < 1

    @property
    def assumption(self) -> Assumption:
        return Assumption.ASSUMED_SURVEY

    @property
    def inclusion(self) -> Stratum:
        return Stratum.at_rate(self.people / self.of * self.rate)

    @property
    def share_kept(self) -> float:
        return self.rate

    def most_people(self, *, kept_only: bool) -> float:
        """All of them; a coin keeps more than this of them with a probability below one in a billion (Hoeffding)."""
        people = float(self.people)
        return min(people, people * self.rate + math.sqrt(people * math.log(1e9) / 2)) if kept_only else people

    def require_parts(self) -> None:
        if not self.draws_here:
            message = (
                "Parts of a survey are of those of its people whom a coin keeps, and `sampling.thin = 1` keeps all."
            )
            raise no_parts(message, "Write `sampling.thin = 0.8`.", "`sampling.thin`")

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        return Everyone(part, row_key=coin) if self.rate == 1 else super().draw(coin, part)

    @property
    def description(self) -> str:
        kept = "all of them" if self.rate == 1 else f"each of them with probability {self.rate:g}"
        return f"of a survey of {self.people:,} of {self.of:,} people, which was drawn before, {kept}"

    def describe(self, of_each: Sequence[str] = ()) -> list[tuple[str, str]]:
        word = f"your word that {self.people:,} of {self.of:,} people were drawn at random, which nobody checks"
        return [*super().describe(of_each), ("rests on", word)]

    def sentences(self) -> list[str]:
        kept = "" if self.rate == 1 else f" Of these, a secret coin kept each person with probability {self.rate:g}."
        draws = "the draw of the survey" + ("" if self.rate == 1 else " and the coins")
        return [
            f"A survey asked {self.people:,} of {self.of:,} people.{kept} The guarantee for everybody, and the "
            "estimates, rest on these people having been drawn at random, each set of them equally likely, which "
            f"nobody has checked. Intervals include {draws}, and nothing else: not who did not answer, nor whom the "
            "survey could not reach."
        ]

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        (mechanism,) = mechanisms
        claim = mechanism.claim()
        if self.rate == 1:
            return *Survey(self.people, self.of).derive_drawn(claim), *of_crowds(mechanism)
        if not blends(mechanism):
            return *self.together(mechanisms, epsilon), *of_crowds(mechanism)
        return *self.state_guarantees(self.profile(mechanism, epsilon), epsilon), claim

    def profile_of_coins(self, mechanisms: Sequence[Claims], epsilon: float) -> Derivation:
        (mechanism,) = mechanisms
        return self.profile(mechanism, epsilon)

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        """Derive the guarantee of one mechanism that counts every respondent once, and leaves none out."""
        if tuple(copies) != (1,) or self.rate < 1:
            raise ValueError("people of a survey of a fixed size count once, all of them")
        return Survey(self.people, self.of).derive_drawn(claim)

    def loss_of(self, claim: Derivation) -> float:
        asked = 2 * super().loss_of(claim)
        return math.log1p(math.expm1(asked) * self.people / self.of) * (1 + 1e-12)

    def asked_epsilon(self, epsilon: float) -> float:
        """Return about the largest ε for one replaced respondent that gives everybody epsilon."""
        return math.log1p(math.expm1(epsilon) * self.of / self.people)

    def largest_loss(self, epsilon: float) -> float:
        return math.log1p(math.expm1(self.asked_epsilon(epsilon) / 2) / self.rate) * (1 - 1e-9)

    def largest_delta(self, loss: float, delta: float) -> float:
        return min(delta, delta * self.of / self.people / (1 + math.exp(loss)) * (1 - 1e-9))

    def losses_before_asking(self, epsilon: float, delta: float) -> Iterator[tuple[float, float, float]]:
        """Yield more than anyone loses, since most were not asked, better ones first.

        It is for one person replaced, of which a plan finds out how it is best divided.
        """
        asked, most = self.asked_epsilon(epsilon), delta * self.of / self.people
        for share, smaller in ((0.9, 2), (0.8, 4), (0.65, 4), (0.5, 4), (0.5, 1 + math.exp(asked / 2)), (0.5, 1e4)):
            yield asked * share, min(0.5, most / smaller), asked / 2

    def amplify(self, profile: Derivation) -> Derivation:
        return profile if self.rate == 1 else super().amplify(profile)

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[Claims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        if self.rate == 1:
            return super(Poisson, self).parts_derivations(mechanisms, shares, epsilon)
        placed = [only.claim_in_a_part(share=share) for (only,), share in zip(mechanisms, shares, strict=True)]
        return self.state_guarantees(profiles.profile_of_programme(*placed, rate=self.rate), epsilon)

    def fresh_derivations(self, mechanisms: Sequence[Sequence[Claims]], epsilon: float) -> tuple[Derivation, ...]:
        """Derive the guarantee of samples of one survey: composed first, and amplified once."""
        return self.state_guarantees(compose_releases([self.profile(only, epsilon) for (only,) in mechanisms]), epsilon)

    def state_guarantees(self, profile: Derivation, epsilon: float) -> tuple[Derivation, ...]:
        """Derive what releases of the survey guarantee to everybody, from their profile."""
        ends = {"samples": self.people, "population": self.of}
        asked = surveys.profile_of_survey(profiles.profile_under_replacing(profile), **ends)
        known = surveys.survey_is_zero_knowledge(asked, epsilon=epsilon)
        return known, profiles.profile_at_epsilon(asked, epsilon=epsilon)


def replaced_claim(claim: Derivation) -> Derivation:
    """Return the claim of noise with the data of one person of the survey replaced; some are that already."""
    if isinstance(claim.conclusion, NoisyTotals):
        return totals.totals_are_differential(claim)
    claim = as_differential(claim)
    if not isinstance(claim.conclusion, Differential):
        raise ValueError("crowds of a survey of a fixed number of people need coins")
    replaced = claim.conclusion.relation is Relation.REPLACE
    return claim if replaced else sampling.replacing_is_removing_and_adding(claim)

"""How people come into a sample, as a value: the same in a plan, in the facts of a release, and for its readers.

A design says what a claim about the sample becomes for everybody (`derivations`), and with which probability people are
counted (`inclusion`). It knows no kind of release: what it looks at is the sort of guarantee that a mechanism claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

import msgspec

from crowdblend.calculus import Assumption, Derivation
from crowdblend.calculus.profiles import compose_profiles, profile_of
from crowdblend.calculus.rules import outliers, profiles, sampling
from crowdblend.designs import draw
from crowdblend.designs.draw import Draw
from crowdblend.errors import NotApplicable
from crowdblend.frozen import dataclass
from crowdblend.guarantees import CrowdBlending, Differential, OutlierPrivate

if TYPE_CHECKING:
    from crowdblend.randomness import DrawKey

# So many strata are listed in a sentence.
MOST_LISTED = 12
Rate = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Claims(Protocol):
    """A mechanism with parameters; what it guarantees follows from them and from nothing else."""

    def claim(self) -> Derivation:
        """What the mechanism guarantees to the people it is run on."""


class SampledClaims(Claims, Protocol):
    """A mechanism that runs on a sample, of which there may be a theorem of its own."""

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """What it guarantees after sampling, by a theorem about this mechanism; None where only its claim counts."""


class PartClaims(SampledClaims, Protocol):
    """A mechanism that may run on a part of a sample."""

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """What it guarantees on a part of a sample, to which each sampled person goes with probability `share`."""


@dataclass(frozen=True)
class InclusionRates:
    """How people came into the table: each with a probability between `least` and `most`, but for `exceptions`.

    `rate` is the one that estimates divide by; None where there is none.
    """

    rate: float | None
    least: float
    most: float
    exceptions: int = 0

    @classmethod
    def at_rate(cls, rate: float) -> InclusionRates:
        """Everybody with the same probability."""
        return cls(rate, rate, rate)


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="design"):
    """How people come into a sample."""

    @property
    def drawn_before(self) -> bool:
        """Whether the sample was drawn before, so that its rates are an assumption of the steward."""
        return False

    @property
    def assumption(self) -> Assumption | None:
        """What is taken on trust of a sample that was drawn before, with which its certificate begins."""
        return Assumption.ASSUMED_RATE if self.drawn_before else None

    @property
    def inclusion(self) -> InclusionRates | None:
        """With which probability people are counted; None where every stratum has its own."""
        raise NotImplementedError

    @property
    def draws_here(self) -> bool:
        """Whether coins are thrown here, so that another sample of the same people can be drawn."""
        return not self.drawn_before

    @property
    def largest_rate(self) -> float:
        """The largest probability with which coins keep anybody who is protected."""
        raise NotImplementedError

    def draw(self, coin: DrawKey) -> Draw:
        """Who is in the sample; the coin also decides which of several rows of a person counts.

        A sample that was drawn before has everybody in the table.
        """
        return draw.Everybody(row_key=coin)

    def thinned(self, share: float) -> Design:
        """Return the sample as a part of it sees it, to which each of its people goes with probability `share`."""
        raise _no_parts()

    def sentences(self) -> list[str]:
        """What readers are told of a design that they cannot see in the data."""
        return []

    def derivations(self, mechanisms: Sequence[SampledClaims], epsilon: float) -> tuple[Derivation, ...]:
        """What these very mechanisms, run on the sample, guarantee to everybody: the strongest guarantee first."""
        raise NotImplementedError

    def amplified(self, profile: Derivation) -> Derivation:
        """What noise with this profile loses at every ε to everybody, where it is on the people of the sample."""
        raise NotImplementedError

    def stated(self, profile: Derivation, epsilon: float) -> tuple[Derivation, ...]:
        """What the profile of a sample says at one ε: the strongest guarantee first."""
        return at_epsilon(profile, epsilon)

    def together(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """What noisy mechanisms guarantee that all run on this one sample: composed first, and amplified once."""
        each = [profile_of(differential_claim(mechanism)) for mechanism in mechanisms]
        composed = each[0] if len(each) == 1 else profiles.steps_compose(*each)
        return self.stated(self.amplified(composed), epsilon)

    def loss_of(self, claim: Derivation) -> float:
        """The ε that the loss of noise comes to for everybody, at which it costs no more than its own δ."""
        if self.largest_rate == 1:
            return float(claim.conclusion.epsilon)
        return float(sampling.sampling_amplifies(claim, rate=self.largest_rate).conclusion.epsilon)

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[PartClaims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        """What these very mechanisms, of every part of the sample, guarantee together."""
        raise _no_parts()

    def fresh_derivations(
        self, mechanisms: Sequence[Sequence[SampledClaims]], epsilon: float
    ) -> tuple[Derivation, ...]:
        """What these very mechanisms, each publication on a fresh sample of its own, guarantee by their curves."""
        return at_epsilon(
            compose_profiles([differential_of(self.derivations(one, epsilon)) for one in mechanisms]), epsilon
        )


def differential_claim(mechanism: Claims) -> Derivation:
    """What noise guarantees with one person more or less, whatever the size of the crowd."""
    claim = mechanism.claim()
    private = isinstance(claim.conclusion, OutlierPrivate)
    return outliers.outlier_private_is_differential(claim) if private else claim


def of_crowds(mechanism: Claims) -> tuple[Derivation, ...]:
    """What a mechanism claims of the crowds of a sample; nothing where it claims noise, which sampling amplified."""
    claim = mechanism.claim()
    return () if isinstance(claim.conclusion, Differential) else (claim,)


def blends(mechanism: Claims) -> bool:
    """Return whether a mechanism hides people in crowds, and not by noise whatever their number."""
    return isinstance(mechanism.claim().conclusion, CrowdBlending)


def differential_of(derived: Sequence[Derivation]) -> Derivation:
    """The derivation that says what one person more or less changes; of a survey of a fixed size, one replaced."""
    return next(one for one in derived if isinstance(one.conclusion, Differential))


def _no_parts() -> NotApplicable:
    return NotApplicable(
        "Parts of one sample are certified where everybody, or everybody of a stratum, has one rate.",
        remedy='Write design = "poisson", "coins" or "strata", or publish one by one.',
        where="[sampling] design",
        code="policy.split",
    )


def at_epsilon(profile: Derivation, epsilon: float) -> tuple[Derivation, ...]:
    """What a profile says at one epsilon: zero-knowledge, and differential privacy under both relations."""
    return (
        profiles.profile_is_zero_knowledge(profile, epsilon=epsilon),
        profiles.profile_at_epsilon(profile, epsilon=epsilon),
        profiles.profile_of_replacing(profile, epsilon=2 * epsilon),
    )

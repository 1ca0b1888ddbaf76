"""Designs: how people come into a sample, as values for plans, facts and readers.

A design says what a claim about the sample becomes for everybody (`derivations`), and with which probability people are
counted (`inclusion`). It knows no kind of release: what it looks at is the sort of guarantee that a mechanism claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from flint import arb

from crowdblend.errors import InvalidInput, NotApplicable
from crowdblend.methods.designs import draw
from crowdblend.methods.designs.draw import Draw, Part
from crowdblend.trusted.calculus import Assumption, Derivation
from crowdblend.trusted.calculus.profiles import compose_profiles, profile_of
from crowdblend.trusted.calculus.rules import profiles, programme, registers, sampling
from crowdblend.trusted.calculus.rules.mechanisms import outlier_private_is_differential
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, OutlierPrivate
from crowdblend.trusted.numerics.balls import round_up

if TYPE_CHECKING:
    from crowdblend.trusted.randomness import DrawKey

# This many strata are listed in a sentence.
MOST_LISTED = 12
Rate = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Claims:
    """A mechanism with parameters; what it guarantees follows from them and from nothing else."""

    __slots__ = ()
    # The number of copies in which noise counts a person of each stratum; `claim` is then about one of the copies.
    copies: tuple[int, ...] | None = None

    def claim(self) -> Derivation:
        """Return the mechanism's guarantee to the people it is run on."""
        raise NotImplementedError

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation | None:
        """Return the guarantee after sampling by a theorem of its own; None where only claim() counts."""
        return None

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """Return the guarantee on a part of a sample, which each sampled person joins with `share`."""
        claim = differential_claim(self)
        if isinstance(claim.conclusion, CrowdBlending):
            return programme.crowds_in_a_part(claim, share=share)
        return programme.private_in_a_part(profile_of(claim), share=share)


@dataclass(frozen=True)
class SeveralRows(Claims):
    """Noise that counts up to `rows` rows of everybody, or copies of one: a person's rows are hidden together.

    Where noise counts people in `copies`, each of the rows is counted so.
    """

    mechanism: Claims
    rows: int
    copies: tuple[int, ...] | None = None

    def claim(self) -> Derivation:
        return registers.rows_of_a_person(differential_claim(self.mechanism), rows_per_person=self.rows)


class Stratum(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """People who are counted with a probability between low and high; up to `exceptions` of them with any.

    `rate` is the one that estimates divide by; None where there is none. A sample without strata is one stratum.
    """

    rate: Rate | None
    low: Rate
    high: Rate
    exceptions: int = 0

    def __post_init__(self) -> None:
        if not self.low <= (self.rate or self.low) <= self.high:
            raise ValueError("the rate of a stratum lies between its ends")

    @classmethod
    def at_rate(cls, rate: float) -> Stratum:
        """Return people of one rate."""
        return cls(rate, rate, rate)

    def thin_by(self, share: float) -> Stratum:
        """Return the same with a share of its people."""
        thinned = None if self.rate is None else self.rate * share
        return Stratum(thinned, self.low * share, self.high * share, self.exceptions)


class _Defaults:
    """Answers of designs that do not say otherwise; nobody asks a design for its class."""

    __slots__ = ()
    # True if nobody is drawn.
    everybody: ClassVar[bool] = False
    # True if exactly `people` of `of` people are counted: both numbers are public, and errors follow from them.
    counts_exactly: ClassVar[bool] = False
    # True if a coin of one rate decides about everybody, and is all that decides.
    has_one_rate: ClassVar[bool] = False
    # The number of people of a survey, and of those it was drawn from.
    people: int | None = None
    of: int | None = None
    # The share of a survey whom a coin keeps here.
    thin: float | None = None
    # True if the sample was drawn before, so that its rates are an assumption of the steward.
    already_drawn: bool = False
    # How many people may have any probability.
    exceptions: int = 0
    # The published column whose labels are the strata, and of classes of weights the breaks between them.
    column: str | None = None
    strata: Mapping[str, Stratum] = MappingProxyType({})
    breaks: tuple[float, ...] = ()


class Design(_Defaults, msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="design"):
    """A way in which people come into a sample."""

    @property
    def assumption(self) -> Assumption | None:
        """The assumption about a sample drawn earlier, with which its certificate begins."""
        return Assumption.ASSUMED_RATE if self.already_drawn else None

    @property
    def inclusion(self) -> Stratum | None:
        """The inclusion probabilities; None where every stratum has its own."""
        raise NotImplementedError

    @property
    def coin_rate(self) -> float | None:
        """The probability of being counted, where it is one number below 1; None where a fixed number is drawn."""
        inclusion = None if self.counts_exactly else self.inclusion
        return inclusion.low if inclusion is not None and inclusion.low == inclusion.high < 1 else None

    @property
    def share_kept(self) -> float:
        """The probability with which a coin counts each person of a survey; 1 where all are counted."""
        return 1.0

    @property
    def counting_strata(self) -> Mapping[str, Stratum]:
        """The probability of being counted, by stratum."""
        return self.strata

    @property
    def coins(self) -> tuple[Stratum, ...]:
        """The rates of the coins that protect people, of every stratum; a sample without strata is one."""
        return (Stratum.at_rate(self.largest_rate),)

    @property
    def ends(self) -> dict[str, Any] | None:
        """The range of rates, as the rules spell it; None where rates are known."""
        return None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that facts list beside the rate."""
        return {}

    @property
    def draws_here(self) -> bool:
        """True if coins are thrown here, so that another sample of the same people can be drawn."""
        return not self.already_drawn

    def most_people(self, *, kept_only: bool) -> float | None:
        """Return how many people can be in the table, or among those kept; None where nothing says so."""
        return None

    def contradicts(self, labels: Mapping[str, tuple[str, ...] | None], breaks: Mapping[str, Any]) -> str | None:
        """Return what published columns, by their labels and breaks, contradict; None where they fit."""
        return None

    def require_parts(self) -> None:
        """Refuse to divide the sample into parts that are not certified."""

    @property
    def throws_row_coins(self) -> bool:
        """True if a coin of its own can decide about every row of a person."""
        return self.draws_here

    @property
    def largest_rate(self) -> float:
        """The largest probability with which coins keep anyone who is protected."""
        raise _not_certified()

    def draw(self, coin: DrawKey, part: Part | None = None) -> Draw:
        """Return the draw of the sample, or of one part of it; the coin also picks one of several rows of a person.

        A sample that was drawn before has everybody in the table.
        """
        return draw.Everybody(part, row_key=coin)

    def thin_by(self, share: float) -> Design:
        """Return the sample as a part of it sees it, to which each of its people goes with probability `share`."""
        raise no_parts()

    def sentences(self) -> list[str]:
        """Return sentences for readers about a design that the data do not show."""
        return []

    @property
    def description(self) -> str:
        """A description of the design for the steward."""
        raise NotImplementedError

    def describe(self, of_each: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Describe to the steward who is sampled, and the assumptions; `of_each` is said of every stratum."""
        return [("would sample", self.description)]

    def largest_loss(self, epsilon: float) -> float:
        """Return about the largest loss of noise, for one who is sampled, that costs everybody epsilon and no δ."""
        return -round_up(-((arb(epsilon).exp() - 1) / arb(self.largest_rate) + 1).log())

    def largest_delta(self, loss: float, delta: float) -> float:
        """Return about the largest δ of noise of this loss, for one who is sampled, that gives everybody δ."""
        return min(1.0, delta / self.largest_rate)

    def derivations(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Derive what mechanisms on the sample guarantee to everybody, the strongest guarantee first."""
        raise _not_certified()

    def derive_with_choice(
        self, choice: Derivation, mechanism: Claims, share: float | None, epsilon: float
    ) -> Derivation:
        """Derive what a choice of the recoding and the release guarantee together.

        The people of a `share` of the sample choose, and are not published; where it is None, everybody chooses.
        """
        raise _not_certified()

    def derivations_in_copies(self, claim: Derivation, copies: Sequence[int]) -> tuple[Derivation, ...]:
        """Derive the guarantee of one mechanism that counts a person of each stratum in copies.

        `claim` is about people who count once.
        """
        raise _not_certified()

    def amplify(self, profile: Derivation) -> Derivation:
        """Derive the loss to everybody, at every ε, of noise with this profile on the sample."""
        raise _not_certified()

    def state_guarantees(self, profile: Derivation, epsilon: float) -> tuple[Derivation, ...]:
        """Derive the guarantees of a sample's profile at one ε, the strongest first."""
        return at_epsilon(profile, epsilon)

    def together(self, mechanisms: Sequence[Claims], epsilon: float) -> tuple[Derivation, ...]:
        """Derive the guarantee of noisy mechanisms on one sample: composed first, amplified once."""
        each = [profile_of(claim_about_people(mechanism)) for mechanism in mechanisms]
        composed = each[0] if len(each) == 1 else profiles.steps_compose(*each)
        return self.state_guarantees(self.amplify(composed), epsilon)

    def of_rows(self, mechanisms: Sequence[Claims], rows: int, epsilon: float) -> tuple[Derivation, ...]:
        """Derive what crowds guarantee to people with up to `rows` rows, where every row has a coin of its own."""
        once = self.profile_of_coins(mechanisms, epsilon)
        return self.state_guarantees(registers.rows_with_own_coins(once, rows_per_person=rows), epsilon)

    def profile_of_coins(self, mechanisms: Sequence[Claims], epsilon: float) -> Derivation:
        """Derive the loss that the coins of the sample leave to crowds, at every ε."""
        return profile_of(differential_of(self.derivations(mechanisms, epsilon)))

    def losses_before_asking(self, epsilon: float, delta: float) -> Iterator[tuple[float, float, float]]:
        """Yield what one person of the sample may lose: epsilon and delta in crowds, and a loss of noise."""
        yield epsilon, delta, epsilon

    def loss_of(self, claim: Derivation) -> float:
        """Return the ε that the loss of noise comes to for everybody, at which it costs no more than its own δ."""
        if self.largest_rate == 1:
            return float(claim.conclusion.epsilon)
        return float(sampling.sampling_amplifies(claim, rate=self.largest_rate).conclusion.epsilon)

    def parts_derivations(
        self, mechanisms: Sequence[Sequence[Claims]], shares: Sequence[float], epsilon: float
    ) -> tuple[Derivation, ...]:
        """Derive the joint guarantee of mechanisms on all parts of the sample."""
        raise no_parts()

    def fresh_derivations(self, mechanisms: Sequence[Sequence[Claims]], epsilon: float) -> tuple[Derivation, ...]:
        """Derive the guarantee of publications on fresh samples, one each, by their curves."""
        return at_epsilon(
            compose_profiles([differential_of(self.derivations(one, epsilon)) for one in mechanisms]), epsilon
        )


def differential_claim(mechanism: Claims) -> Derivation:
    """Return the claim of noise with one person more or less, for crowds of any size."""
    return as_differential(mechanism.claim())


def as_differential(claim: Derivation) -> Derivation:
    """Return outlier privacy as the loss of the smallest bins, and any other claim as it is."""
    return outlier_private_is_differential(claim) if isinstance(claim.conclusion, OutlierPrivate) else claim


def claim_of_rows(claim: Derivation, rows: int) -> Derivation:
    """Derive what a claim about one row more or less is for a person with up to this many."""
    return claim if rows == 1 else registers.rows_of_a_person(claim, rows_per_person=rows)


def claim_about_people(mechanism: Claims) -> Derivation:
    """Return the claim of noise with one person more or less, counted as often as anyone is."""
    most = 1 if mechanism.copies is None else max(mechanism.copies)
    return differential_claim(mechanism) if most == 1 else SeveralRows(mechanism, most).claim()


def of_crowds(mechanism: Claims) -> tuple[Derivation, ...]:
    """Return claims about crowds of the sample; none where noise, amplified by sampling, is claimed."""
    claim = mechanism.claim()
    return () if isinstance(claim.conclusion, Differential) else (claim,)


def blends(mechanism: Claims) -> bool:
    """Return whether a mechanism hides people in crowds, and not by noise whatever their number."""
    return isinstance(mechanism.claim().conclusion, CrowdBlending)


def for_everybody(strongest: Derivation, differential: Derivation) -> tuple[Derivation, ...]:
    """Return guarantees for one person more or less, and differential privacy with one replaced."""
    return strongest, differential, sampling.replacing_is_removing_and_adding(differential)


def differential_of(derivations: Sequence[Derivation]) -> Derivation:
    """The derivation that says what one person more or less changes; of a survey of a fixed size, one replaced."""
    return next(one for one in derivations if isinstance(one.conclusion, Differential))


def _not_certified() -> NotApplicable:
    return NotApplicable(
        "Nothing is proved of such a mechanism on such a sample.",
        remedy='Write `sampling.design = "poisson"`.',
        where="`sampling.design`",
        code="policy.design",
    )


def no_parts(
    message: str = "Parts of one sample are certified where everybody, or everybody of a stratum, has one rate.",
    remedy: str = 'Write `sampling.design = "poisson" | "coins" | "strata"`, or publish one by one.',
    where: str = "`sampling.design`",
) -> InvalidInput:
    """Return the refusal to divide a sample."""
    return InvalidInput(message, remedy=remedy, where=where, code="policy.split")


def at_epsilon(profile: Derivation, epsilon: float) -> tuple[Derivation, ...]:
    """Return a profile's guarantees at one ε: zero-knowledge, and differential privacy twice."""
    return (
        profiles.profile_is_zero_knowledge(profile, epsilon=epsilon),
        profiles.profile_at_epsilon(profile, epsilon=epsilon),
        profiles.profile_of_replacing(profile, epsilon=2 * epsilon),
    )

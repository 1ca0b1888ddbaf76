"""Policies about exactly k of n people: both numbers are public, and the guarantee is relative to k random people."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar

from crowdblend.policies.key import Rule, key, part
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import SampledPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.rules import conflicts
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.strata import DeclaredStrata, one_stratum
from crowdblend.policies.terms import HOW_MANY_PEOPLE, data_key
from crowdblend.policies.unit import WHERE_ROWS
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.designs import Design


class ExactPublication(Publication, frozen=True, kw_only=True):
    """A publication about a fixed number of people, with the errors that it states."""

    lacks = ("delta", "accept_delta", "recoding")

    confidence: Annotated[float, key("How surely the stated error is kept to; 0.95 unless given.")] = 0.95


class ExactPolicy(SampledPolicy, frozen=True, kw_only=True):
    """The common part of statistics and synopses."""

    largest_epsilon: ClassVar[int] = 500
    counts_once = False
    sample_remedy: ClassVar[str] = "Say how many random people the guarantee is relative to."
    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts("duplicates=one", code="duplicates", because="everybody counts once"),
    )

    publication: ExactPublication
    people: Annotated[int, data_key(f"{HOW_MANY_PEOPLE}.", (1, 10**12))]
    sampling: Annotated[Sampling, part("How many people are drawn.")]
    epsilon: Annotated[float, key("The privacy loss of all that is published.", "epsilon", section="privacy")]

    def __post_init__(self) -> None:
        super().__post_init__()
        sampling = self.sampling
        if not self.with_others:
            refuse_thinning(sampling)
        if sampling.fixed_size and sampling.people is None and not self.plans_sample:
            raise refusal("missing-key", "`sampling.people` is missing.", self.sample_remedy, "`sampling.people`")
        if not 0 < self.epsilon <= self.largest_epsilon:
            raise refusal(
                "range",
                f"`privacy.epsilon` takes a number above 0 and at most {self.largest_epsilon} for "
                f'`publish.kind = "{self.kind}"`, got {self.epsilon:g}.',
                "Write 1.0, for example.",
                "`privacy.epsilon`",
            )
        if not 0 < self.publication.confidence < 1 or not 0 < self.failure < 1:
            message = f"`publish.confidence` takes a number between 0 and 1, got {self.publication.confidence:g}."
            raise refusal("range", message, "Write 0.95, for example.", "`publish.confidence`")

        self._check_strata()

    def _check_strata(self) -> None:
        """Refuse a sample that leaves open what noise and errors depend on."""
        if self.strata is not None:
            self.strata.check_rates()
        elif not (self.sampling.fixed_size or self.sampling.everybody):
            message = f"A sample of {self.kind} needs its rate."
            raise refusal("missing-key", message, "Add `sampling.rate`.", "`sampling.rate`")
        if self.unit.several and self.strata is None:
            message = "Rows of people cannot be counted of a fixed number of people who are drawn here."
            remedy = 'Write `sampling.design = "poisson"`, or `sampling.thin = 1` where the table is the survey.'
            raise refusal("rows-per-person", message, remedy, WHERE_ROWS)
        if self.sampling.exceptions:
            message = "`sampling.exceptions` may have any probability, so that no error can be stated."
            raise refusal("biased-sampling", message, "Remove exceptions.", "`sampling.exceptions`")

    @cached_property
    def strata(self) -> DeclaredStrata | None:
        """The strata or weights by which people are sampled; a sample without them is one stratum.

        None where how many people there are, or are drawn, is public.
        """
        drawn = self.sampling
        # Nothing says how many rows there are, nor of several publications how many people.
        unknown = self.with_others or self.unit.several
        if unknown and drawn.everybody:
            return one_stratum(1.0)
        if drawn.low is not None and drawn.high is not None and not drawn.designed:
            return one_stratum(drawn.rate or drawn.low, (drawn.low, drawn.high))
        if not drawn.designed and drawn.inclusion_rate is not None and (unknown or drawn.people is None):
            return one_stratum(drawn.inclusion_rate)
        return drawn.declare(self.columns, self.beside)

    @property
    def design(self) -> Design:
        # Numbers are by strata also where these are not published.
        return super().design if self.strata is None else self.sampling.sample(replace(self.strata, published=True))

    def _people(self) -> dict[str, Any]:
        # Of a sample by coins the number of people is no part of the guarantee, and nobody counts them.
        counted = (self.sampling.fixed_size or self.sampling.everybody) and not self.with_others
        held = self.samples if self.sampling.already_drawn else self.people
        return super()._people() | ({"people": held} if counted and not self.unit.several else {})

    @property
    def plans_sample(self) -> bool:
        """True if the number of random people is planned from what else the policy says."""
        return False

    @property
    def samples(self) -> int:
        """k: how many random people the guarantee is relative to; everybody where it is still to be planned."""
        return self.people if self.sampling.people is None else self.sampling.people

    @property
    def failure(self) -> float:
        """The probability that the stated error does not hold; 1 − 0.95 is a little more than 0.05 in doubles."""
        return float(1 - Decimal(repr(float(self.publication.confidence))))


def refuse_thinning(sampling: Sampling) -> None:
    """Refuse to leave people of a survey out of what has noise, and needs nobody left out."""
    if sampling.thin not in (None, 1):
        message = "Noise hides the people of a survey without leaving any of them out."
        remedy = "Remove thin; rates are then those of coins." if sampling.designed else "Write `sampling.thin = 1`."
        raise refusal("thin", message, remedy, "`sampling.thin`")

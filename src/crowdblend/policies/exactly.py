"""Policies about exactly k of n people: both numbers are public, and the guarantee is relative to k random people."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from crowdblend.policies.columns import Column, columns_field
from crowdblend.policies.key import key, refusal
from crowdblend.policies.policy import AboutPeople, part
from crowdblend.policies.sampling import ExactSample


@dataclass(frozen=True, kw_only=True)
class ExactPolicy(AboutPeople):
    """What statistics and synopses have in common."""

    largest_epsilon = 500

    columns: tuple[Column, ...] = columns_field()
    people: int = key(
        "How many people the data hold; this number is public.", section="data", between=(1, 10**12), required=True
    )
    sampling: ExactSample = part("sampling", ExactSample, "How many people are drawn.", required=True)
    epsilon: float = key("The privacy loss of all that is published.", ranged=True, required=True)
    confidence: float = key("How surely the stated error is kept to; 0.95 unless given.", default=0.95)

    def __post_init__(self) -> None:
        super().__post_init__()
        known = self.sampling.everybody or self.sampling.designed or self.sampling.sample is not None
        if not known and not self.plans_sample:
            raise refusal(
                "missing-key",
                "[sampling] has neither sample nor everybody.",
                self.sample_remedy,
                "[sampling] sample",
            )
        if self.sampling.sample is not None and self.sampling.sample > self.people:
            raise refusal(
                "sample",
                f"sample in [sampling] is {self.sampling.sample}, and [data] has {self.people} people.",
                "Lower sample.",
                "[sampling] sample",
            )
        if not 0 < self.epsilon <= self.largest_epsilon:
            raise refusal(
                "range",
                f"epsilon in [release] takes a number above 0 and at most {self.largest_epsilon} for kind = "
                f'"{self.kind}", got {self.epsilon:g}.',
                "Write 1.0, for example.",
                "[release] epsilon",
            )
        if not 0 < self.confidence < 1 or not 0 < self.failure < 1:
            raise refusal(
                "range",
                f"confidence in [release] takes a number between 0 and 1, got {self.confidence:g}.",
                "Write 0.95, for example.",
                "[release] confidence",
            )
        if self.duplicates == "one":
            raise refusal(
                "duplicates",
                f'For kind = "{self.kind}" everybody counts once, so that duplicates takes "refuse" only.',
                "Merge the rows of a person.",
                "[data] duplicates",
            )

    def _people(self) -> dict[str, Any]:
        # Of strata the number of people is no part of the guarantee, and nobody counts them.
        return super()._people() if self.sampling.designed else {**super()._people(), "people": self.people}

    @property
    def plans_sample(self) -> bool:
        """Whether the number of random people is planned from what else the policy says."""
        return False

    sample_remedy: ClassVar[str] = "Say how many random people the guarantee is relative to."

    @property
    def samples(self) -> int:
        """k: how many random people the guarantee is relative to; everybody where it is still to be planned."""
        return self.people if self.sampling.sample is None else self.sampling.sample

    @property
    def failure(self) -> float:
        """The probability that the stated error does not hold; 1 − 0.95 is a little more than 0.05 in doubles."""
        return float(1 - Decimal(repr(float(self.confidence))))

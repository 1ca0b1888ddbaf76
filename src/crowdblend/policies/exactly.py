"""Policies about exactly k of n people: both numbers are public, and the promise is relative to k random people."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from crowdblend.errors import InvalidInput
from crowdblend.policies.sections import DataSource, Release, Sampling

_CONFIDENCE = Decimal("0.95")


@dataclass(frozen=True)
class ExactlyDrawn:
    """What such policies have in common, checked."""

    data: DataSource
    sampling: Sampling
    release: Release

    def __post_init__(self) -> None:
        self._check_people()
        if self.release.epsilon is None:
            raise InvalidInput("[release] must have epsilon, the loss of all that is published. Add it, say 1.0.")
        if not 0 < self.failure < 1:
            raise InvalidInput(
                f"confidence in [release] must lie between 0 and 1, got {self.release.confidence}. Write 0.95, say."
            )
        if self.data.duplicates == "one":
            raise InvalidInput(
                f'duplicates in [data] must be "refuse" for kind = "{self.kind}", where everybody counts once. Merge '
                "the rows."
            )

    @property
    def kind(self) -> str:
        """What is published."""
        return self.release.kind

    @property
    def people(self) -> int:
        """n: how many people there are, which is public."""
        return self.data.people or 0

    @property
    def samples(self) -> int:
        """k: how many random people the promise is relative to."""
        return self.sampling.sample or 0

    @property
    def epsilon(self) -> float:
        """The privacy loss of all that is published together."""
        return float(self.release.epsilon or 0)

    @property
    def confidence(self) -> float:
        """How surely what is published stays within its stated error."""
        return float(_CONFIDENCE if self.release.confidence is None else self.release.confidence)

    @property
    def failure(self) -> float:
        """The probability that the stated error does not hold; 1 − 0.95 is a little more than 0.05 in doubles."""
        return float(1 - Decimal(repr(self.confidence)))

    def _check_people(self) -> None:
        if self.data.people is None or self.sampling.sample is None:
            raise InvalidInput(
                f'kind = "{self.kind}" must have people in [data], how many there are, and sample in [sampling], how '
                "many random people the promise is relative to. Add what is missing; both numbers are public."
            )
        if not 1 <= self.samples <= self.people:
            raise InvalidInput(
                f"sample in [sampling] must be between 1 and the {self.people} people of [data], got {self.samples}. "
                "Lower it."
            )
        drawn = self.sampling
        if drawn.rate is not None or drawn.already_drawn or drawn.biased:
            raise InvalidInput(
                f'[sampling] must have sample and nothing but key beside it for kind = "{self.kind}". Remove the rest: '
                "exactly that many people are drawn here."
            )

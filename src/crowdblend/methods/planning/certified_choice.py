"""Certified choices: the sensitivity of a score, and the cost of every step of the choice."""

from __future__ import annotations

from typing import Annotated

import msgspec
from flint import arb

from crowdblend.methods.designs import Claims
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import composition, recoding
from crowdblend.trusted.numerics.balls import precision, round_down

Whole = Annotated[int, msgspec.Meta(ge=1)]
Loss = Annotated[float, msgspec.Meta(gt=0)]


class ExpectedPeople(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="score", tag="expected-people"):
    """A score that counts people whom a release is expected to publish."""

    counted_from: Whole
    rate: Annotated[float, msgspec.Meta(gt=0, le=1)]
    stands_for: Whole
    parts: Whole

    def claim(self) -> Derivation:
        """Return how far one person moves the score."""
        ends = {"counted_from": self.counted_from, "rate": self.rate, "stands_for": self.stands_for}
        return recoding.expected_people_bound_a_score(**ends, parts=self.parts)


class CertifiedChoice(Claims, msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Choices by one score, which cost `epsilon` together."""

    score: ExpectedPeople
    epsilon: Loss
    choices: Annotated[int, msgspec.Meta(ge=1, le=200)] = 1

    @property
    def step_epsilon(self) -> float:
        """The loss of each choice; all of them together stay within epsilon."""
        if self.choices == 1:
            return self.epsilon
        with precision(128):
            return round_down(arb(self.epsilon) / self.choices)

    def claim(self) -> Derivation:
        """Return the guarantee of choosing: a step for every choice."""
        choice = recoding.exponential_choice(self.score.claim(), epsilon=self.step_epsilon)
        return composition.steps_add_up(*[choice] * self.choices) if self.choices > 1 else choice

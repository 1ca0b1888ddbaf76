"""Quantiles: chosen among the steps of a grid by permute-and-flip, with an error in ranks.

The loss of a candidate is how far the wanted rank lies outside, or minus how deep it lies inside, the ranks that the
candidate has; in parts of a person, so that it is a whole number. See docs/proofs.md#quantiles.
"""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec

from crowdblend.calculus import RULES, Derivation
from crowdblend.planning.statistics.accuracy import (
    UP,
    Whole,
    draw_error,
    group_draw_error,
    noise_error,
    parts_of_failure,
)

# Of the loss of quantiles in groups, the part that pays for the noisy sizes of the groups.
_SIZES = 0.06


class QuantileShape(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="shape", tag="quantile"
):
    """The `at`-quantile of each of some groups among this many candidates; `whole` is about all people at once."""

    at: Fraction
    candidates: Whole
    groups: Whole = 1
    share: float = 1.0
    whole: bool = True

    @property
    def shift(self) -> int:
        """The shift of the losses of two groups by replacing one person, in parts of a person."""
        a, b = self.at.numerator, self.at.denominator
        return b if self.whole else 2 * max(a, b - a)

    @property
    def reach(self) -> float:
        """The cost of one unit of the rate of the choice, the noisy sizes of groups included."""
        return self.shift if self.whole else self.shift / (1 - _SIZES)

    @property
    def span(self) -> float:
        """The largest error in ranks."""
        return 1.0

    def size_epsilon(self, noise_epsilon: float) -> float:
        """Return the loss per person of the noise on the sizes of groups."""
        return noise_epsilon * self.reach * _SIZES / (1 if self.groups == 1 else 2)

    def claims(self, noise_epsilon: float) -> list[Derivation]:
        """Return the guarantees of the choice and of the noisy sizes of groups."""
        a, b = self.at.numerator, self.at.denominator
        named = {"numerator": a, "denominator": b, "noise_epsilon": noise_epsilon}
        if self.whole:
            return [RULES["quantile.everybody"](**named)]
        noise = self.size_epsilon(noise_epsilon)
        sizes = (
            RULES["totals.sum"](grid_steps=1, noise_epsilon=noise)
            if self.groups == 1
            else RULES["totals.histogram"](bins=self.groups, noise_epsilon=noise)
        )
        return [RULES["quantile.groups"](**named), RULES["totals.differential"](sizes)]

    def rank_error(self, noise_epsilon: float, failure: float) -> float:
        """Return the largest distance in people between the wanted rank and the chosen candidate's.

        A candidate whose loss is l above the best is chosen with probability e^{−ηl/2}/2 at most.
        """
        others = max(1, self.candidates - 1)
        parts = math.ceil(2 * math.log(max(1.0, others / (2 * failure))) / noise_epsilon * UP)
        return max(0, parts - 1) / self.at.denominator * UP

    def error(self, noise_epsilon: float, samples: int, population: int, failure: float) -> float:
        """Return the error of a quantile of all people as a share of them, of the choice and of the draw."""
        if not self.whole:
            return self.group_error(noise_epsilon, samples // self.groups, samples, population, failure)
        noise, draw = parts_of_failure(failure, 1, samples, population)
        chosen = self.rank_error(noise_epsilon, noise) / samples
        return min(1.0, (chosen + (draw_error(1, samples, population, draw) if draw else 0.0)) * UP)

    def group_error(self, noise_epsilon: float, size: int, samples: int, population: int, failure: float) -> float:
        """The error of one group's quantile as a share of the group, whose noisy size among those counted is given."""
        noise, draw = parts_of_failure(failure, self.groups, samples, population)
        people = size - noise_error(self.size_epsilon(noise_epsilon), noise / 2)
        if people < 1:
            return 1.0
        chosen = self.rank_error(noise_epsilon, noise / 2) / people
        return min(1.0, (chosen + (group_draw_error(people, draw, samples / population) if draw else 0.0)) * UP)

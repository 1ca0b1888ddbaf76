"""Errors of published statistics, except with a stated probability.

Errors are in steps per person: the average of what everybody adds to a total. A fraction has one step; an average of
a column has as many as its grid, and multiplied with the resolution its error is in the column's own unit. What is
published of a group is a function of noisy totals, and so is its error: both follow from what the noise hides, and cost
nothing more. The proofs are in docs/proofs.md#groups.

Quantiles are chosen among the steps of a grid by permute-and-flip, with an error in ranks. The loss of a candidate is
how far the wanted rank lies outside, or minus how deep it lies inside, the ranks that the candidate has; in parts of a
person, so that it is a whole number. See docs/proofs.md#quantiles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import msgspec

from crowdblend.trusted.calculus import RULES, Derivation

Whole = Annotated[int, msgspec.Meta(ge=1)]
# Errors are rounded up by this much, which covers the arithmetic of doubles many times over.
UP = 1 + 1e-12
# Shares of the failure probability that the noise may take; the sampling error has the rest.
_SPLITS = tuple(2.0**-i for i in range(1, 31))
# The part of it that the noise may take in groups of which people are drawn; the draw has the rest.
NOISE_PART = 0.25
# Of the loss of quantiles in groups, the part that pays for the noisy sizes of the groups.
_SIZES = 0.06


class Shape(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="shape", tag="totals"
):
    """A statistic's shape: a person adds at most `steps` to `bins` totals; `share` is of ε.

    `sized` is an average in groups: it has two totals for each group, and its error depends on the group's size.
    """

    steps: Whole
    bins: Whole = 1
    share: float = 1.0
    sized: bool = False

    @property
    def reach(self) -> int:
        """The number of steps by which replacing one person moves the totals."""
        return self.steps if self.bins == 1 else 2 * self.steps

    @property
    def span(self) -> float:
        """The largest error that a value within its range can have, in steps per person."""
        return float(self.steps)

    def error(self, noise_epsilon: float, samples: int, population: int, failure: float) -> float:
        """The error of every bin at once when k of n people are counted; of groups, where they are of equal size."""
        if self.sized:
            total = self.steps * samples // (self.bins // 2)
            return self.steps * average_error(self, noise_epsilon, total, samples, population, failure)
        each = failure / self.bins
        if samples == population:
            return min(self.span, noise_error(noise_epsilon, each) / samples * UP)
        return min(
            self.span,
            *(
                draw_error(self.steps, samples, population, each * (1 - part))
                + noise_error(noise_epsilon, each * part) / samples * UP
                for part in _SPLITS
            ),
        )


def finite_population(samples: int, population: int) -> float:
    """Return the variance factor of a mean drawn without replacement (Serfling 1974)."""
    left = population - samples
    return min((left + 1) / population, left * (samples + 1) / (population * samples))


def noise_error(noise_epsilon: float, failure: float) -> int:
    """The smallest t that discrete Laplace noise exceeds with at most this probability: P[|Y| > t] = 2a^{t+1}/(1+a)."""
    wanted = math.log(2 / ((1 + math.exp(-noise_epsilon)) * failure)) * UP
    return max(0, math.ceil(wanted / noise_epsilon) - 1)


def draw_error(steps: int, samples: int, population: int, failure: float) -> float:
    """Return t with P[|mean of k − mean of n| > t] ≤ 2·exp(−2kt²/(c·steps²))."""
    proxy = finite_population(samples, population) / (2 * samples)
    return steps * math.sqrt(proxy * math.log(2 / failure)) * UP


def group_draw_error(people: int, failure: float, share_drawn: float) -> float:
    """Return the error of a group's share, or of its mean in [0, 1], from `people` random people.

    `share_drawn` is 1 where everybody is counted, and nothing strays.
    """
    if share_drawn == 1:
        return 0.0
    return 1.0 if people < 1 else min(1.0, math.sqrt(math.log(2 / failure) / (2 * people)) * UP)


def parts_of_failure(failure: float, groups: int, samples: int, population: int) -> tuple[float, float]:
    """Return the failure probabilities of noise and of draw in every single group."""
    part = 1.0 if samples == population else NOISE_PART
    return failure * part / groups, failure * (1 - part) / groups


def average_error(
    shape: Shape, noise_epsilon: float, total: int, samples: int, population: int, failure: float
) -> float:
    """Return the error of one group's average as a share of the range; `total` is the sum of its two noisy totals.

    The noise is within ±t on both totals, so that the true share of steps lies within t/total of the noisy one, and
    the group has at least (total − 2t)/steps people among those counted.
    """
    noise, draw = parts_of_failure(failure, shape.bins // 2, samples, population)
    t = noise_error(noise_epsilon, noise / 2)
    if total <= 0:
        return 1.0
    people = math.floor((total - 2 * t) / shape.steps)
    return min(1.0, (t / total + group_draw_error(people, draw, samples / population)) * UP)


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

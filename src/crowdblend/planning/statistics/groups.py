"""How far averages and quantiles of groups may be from the truth, given the noisy sizes of the groups.

What is published of a group is a function of noisy totals, and so is its error: both follow from what the noise
hides, and cost nothing more. The proofs are in docs/proofs.md#groups.
"""

from __future__ import annotations

import math

from crowdblend.planning.statistics.accuracy import Shape, finite_population, noise_error

# The part of the failure probability that the noise may take where people are drawn; the draw has the rest.
NOISE_PART = 0.25
_UP = 1 + 1e-12


def draw_error(drawn: int, failure: float, share_drawn: float) -> float:
    """How far the share, or the mean of values in [0, 1], of `drawn` or more random people of a group strays.

    `share_drawn` is 1 where everybody is counted, and nothing strays.
    """
    if share_drawn == 1:
        return 0.0
    return 1.0 if drawn < 1 else min(1.0, math.sqrt(math.log(2 / failure) / (2 * drawn)) * _UP)


def parts_of_failure(failure: float, groups: int, samples: int, population: int) -> tuple[float, float]:
    """What noise and draw may fail by in every single group."""
    part = 1.0 if samples == population else NOISE_PART
    return failure * part / groups, failure * (1 - part) / groups


def average_error(
    shape: Shape, noise_epsilon: float, total: int, samples: int, population: int, failure: float
) -> float:
    """The error of one group's average as a share of the range; `total` is the sum of its two noisy totals.

    The noise is within ±t on both totals, so that the true share of steps lies within t/total of the noisy one, and
    the group has at least (total − 2t)/steps people among those counted.
    """
    noise, draw = parts_of_failure(failure, shape.bins // 2, samples, population)
    t = noise_error(noise_epsilon, noise / 2)
    if total <= 0:
        return 1.0
    people = math.floor((total - 2 * t) / shape.steps)
    return min(1.0, (t / total + draw_error(people, draw, samples / population)) * _UP)


def equal_groups_error(shape: Shape, noise_epsilon: float, samples: int, population: int, failure: float) -> float:
    """The error that averages have where every group has equally many of the people counted; in steps."""
    total = shape.steps * samples // (shape.bins // 2)
    return shape.steps * average_error(shape, noise_epsilon, total, samples, population, failure)


def whole_draw_error(samples: int, population: int, failure: float) -> float:
    """How far a share among `samples` of all people strays from that among all, two-sided (Serfling 1974)."""
    if samples == population:
        return 0.0
    proxy = finite_population(samples, population) / (2 * samples)
    return math.sqrt(proxy * math.log(2 / failure)) * _UP

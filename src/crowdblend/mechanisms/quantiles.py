"""Quantiles on a grid (rules quantile.everybody and quantile.groups), and statistics of a sample together with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.mechanisms.totals import NoisyTotals, Whole
from crowdblend.planning.statistics import AnyShape, QuantileShape, Shape, statistics_claim
from crowdblend.randomness import Source, discrete_laplace
from crowdblend.selection.permute_and_flip import permute_and_flip_rows

# How many people of each group are at each step of the grid: a row for every group.
Ranks = NDArray[np.int64]


@dataclass(frozen=True)
class ChosenQuantile:
    """The chosen step of every group, and the noisy size of each; of all people the size is public, and not noisy."""

    steps: tuple[int, ...]
    sizes: tuple[int, ...]


def quantile_losses(counts: NDArray[np.int64], at: Fraction, people: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """The loss of every step: how far the wanted rank lies outside the ranks of the step, in parts of a person.

    >>> quantile_losses(np.array([2, 3, 0, 1]), Fraction(1, 2), 6).tolist()
    [2, -2, 4, 4]
    """
    a, b = at.numerator, at.denominator
    upto = np.cumsum(counts, axis=-1)
    below = upto - counts
    losses: NDArray[np.int64] = np.maximum(b * below - a * people, a * people - b * upto)
    return losses


@dataclass(frozen=True)
class NoisyStatistics:
    """Totals with noise and quantiles by permute-and-flip, all of the same people.

    `publish` takes for every statistic its totals, or the counts of people by step and group where it is a quantile.
    """

    shapes: tuple[AnyShape, ...]
    noise_epsilons: tuple[float, ...]

    def claim(self) -> Derivation:
        """The losses of all of them added up, with one person's data replaced."""
        return statistics_claim(self.shapes, self.noise_epsilons)

    def publish(
        self, exact: Sequence[Whole | Ranks], people: int, totals: Source, choices: Source
    ) -> tuple[Whole | ChosenQuantile, ...]:
        """Every statistic with fresh noise, or chosen; totals and choices have randomness of their own."""
        published: list[Whole | ChosenQuantile] = []
        for shape, noise, counted in zip(self.shapes, self.noise_epsilons, exact, strict=True):
            if isinstance(shape, Shape):
                published += NoisyTotals((shape,), (noise,)).publish([counted], totals)
            else:
                published.append(choose_quantiles(shape, noise, counted, people, choices))
        return tuple(published)


def choose_quantiles(
    shape: QuantileShape, noise_epsilon: float, ranks: Ranks, people: int, source: Source
) -> ChosenQuantile:
    """A step for every group, and the noisy sizes of the groups; the groups of several releases may follow another."""
    rate = Fraction(noise_epsilon) / 2
    sizes = np.full(len(ranks), people) if shape.whole else ranks.sum(axis=1)
    losses = quantile_losses(ranks, shape.at, sizes[:, np.newaxis])
    steps = np.empty(len(ranks), dtype=np.int64)
    for group in range(shape.groups):
        steps[group :: shape.groups] = permute_and_flip_rows(losses[group :: shape.groups], rate, source)
    if not shape.whole:
        sizes = sizes + discrete_laplace(len(sizes), shape.size_epsilon(noise_epsilon), source)
    return ChosenQuantile(tuple(steps.tolist()), tuple(sizes.tolist()))

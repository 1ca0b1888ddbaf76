"""Totals with discrete Laplace noise and quantiles on a grid, all of the same people.

Totals are whole numbers and stay so: the noise is drawn on the same grid, with a loss per step that the plan fixed.
Whether they are everybody's totals or those of a sample makes no difference here; it does to the guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs import Claims
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.methods.planning.statistics.accuracy import QuantileShape, Shape
from crowdblend.methods.planning.statistics.strata_totals import strata_claim
from crowdblend.methods.planning.statistics.ways import AnyShape, statistics_claim
from crowdblend.methods.selection.permute_and_flip import permute_and_flip_rows
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.randomness import Source, discrete_laplace

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class ChosenQuantile:
    """The chosen step of every group, and the noisy size of each; of all people the size is public, and not noisy."""

    steps: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class NoisyStatistics(Claims):
    """Statistic i, of shape shapes[i], with noise of loss noise_epsilons[i]; quantiles by permute-and-flip.

    `in_copies` is about people counted in copies by their stratum (rule strata.joint): the claim is then about one
    person counted once more or less, and else about one person's data replaced. `copies` is how often a person of
    each stratum counts.
    """

    shapes: tuple[AnyShape, ...]
    noise_epsilons: tuple[float, ...]
    in_copies: bool = False
    copies: tuple[int, ...] = (1,)

    def claim(self) -> Derivation:
        """Return the losses of all of them added up."""
        return (strata_claim if self.in_copies else statistics_claim)(self.shapes, self.noise_epsilons)

    def publish(
        self, exact: Sequence[Whole], source: Source, choices: Source | None = None, people: int = 0
    ) -> tuple[Whole | ChosenQuantile, ...]:
        """Return every statistic with fresh noise, or chosen; totals and choices have randomness of their own.

        `exact` has for every statistic its totals, or for a quantile the people at each step, a row for every group;
        `people` is how many are counted in all, where that is public.
        """
        published: list[Whole | ChosenQuantile] = []
        for shape, noise, counted in zip(self.shapes, self.noise_epsilons, exact, strict=True):
            if isinstance(shape, Shape):
                published.append(counted + discrete_laplace(len(counted), noise, source))
            else:
                assert choices is not None, "quantiles are chosen with randomness of their own"
                published.append(choose_quantiles(shape, noise, counted, people, choices))
        return tuple(published)


def quantile_losses(counts: Whole, at: Fraction, people: int | Whole) -> Whole:
    """Return the loss of every step: how far the wanted rank lies outside the ranks of the step, in parts of a person.

    >>> quantile_losses(np.array([2, 3, 0, 1]), Fraction(1, 2), 6).tolist()
    [2, -2, 4, 4]
    """
    a, b = at.numerator, at.denominator
    upto = np.cumsum(counts, axis=-1)
    below = upto - counts
    losses: Whole = np.maximum(b * below - a * people, a * people - b * upto)
    return losses


def choose_quantiles(
    shape: QuantileShape, noise_epsilon: float, ranks: Whole, people: int, source: Source
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


def count_in_copies(sample: SampledClasses, stratum: str | None, copies: Sequence[int], *, own: bool) -> SampledClasses:
    """The sample with everybody counted as often as the stratum says, or as the last column does: the `own` weight.

    A plain sample is one stratum, without a column. Nobody counts more often than the stratum allows: that is what the
    certificate relies on, whatever was read.
    """
    if stratum is None:
        (alike,) = copies
        return replace(sample, counts=sample.counts * alike)
    times = np.array(copies, np.int64)[sample.codes[:, sample.columns.index(stratum)]]
    return replace(sample, counts=sample.counts * (np.minimum(sample.codes[:, -1], times) if own else times))

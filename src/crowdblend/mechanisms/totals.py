"""Totals over people with discrete Laplace noise (rules totals.sum and totals.histogram).

Totals are whole numbers and stay so: the noise is drawn on the same grid, with a loss per step that the plan fixed.
Whether they are everybody's totals or those of a sample makes no difference here; it does to the guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.planning.statistics import Shape, totals_claim
from crowdblend.randomness import Source, discrete_laplace

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyTotals:
    """Adds to the totals of statistic i, of shape shapes[i], discrete Laplace noise with loss noise_epsilons[i]."""

    shapes: tuple[Shape, ...]
    noise_epsilons: tuple[float, ...]

    def claim(self) -> Derivation:
        """The noise on every total hides how far one person of its shape moves it; all of them together."""
        return totals_claim(self.shapes, self.noise_epsilons)

    def publish(self, totals: Sequence[Whole], source: Source) -> tuple[Whole, ...]:
        """The totals of every statistic with fresh noise on each number."""
        return tuple(
            exact + discrete_laplace(len(exact), noise, source)
            for exact, noise in zip(totals, self.noise_epsilons, strict=True)
        )

"""The papers' own accuracy statements for the same guarantee, to compare with (ZKP 3.1 and the examples of 3)."""

from __future__ import annotations

import math

from crowdblend.planning.statistics.accuracy import Shape


def laplace(shape: Shape, epsilon: float, samples: int, population: int, failure: float) -> float | None:
    """Lap((1/n + k^(−1/3))/ε') with ε' + 2·exp(−k^(1/3)) = ε, stated for averages and ε' ≤ 1; None beyond that."""
    root = math.pow(samples, 1 / 3)
    left = epsilon - 2 * math.exp(-root)
    if shape.bins > 1 or not 0 < left <= 1:
        return None
    scale = (1 / population + 1 / root) / left
    return shape.steps * scale * math.log(1 / failure)


def sanitized(shape: Shape, epsilon: float, samples: int, population: int, failure: float) -> float:
    """The statement of ZKP 3.2 with the largest ε of the sanitizer that one of the parts of Proposition 16 allows.

    A histogram is m counts, each from k/m samples and an m-th of the loss.
    """
    m, odds = shape.bins, population / samples
    inner = max(epsilon, math.log1p(odds * math.expm1(epsilon / 2)), min(1.0, odds * epsilon / 4))
    draw = math.sqrt(m / samples) * math.sqrt(math.log(4 * m / failure) / 2)
    return shape.steps * (draw + m / (inner * samples) * math.log(2 * m / failure))

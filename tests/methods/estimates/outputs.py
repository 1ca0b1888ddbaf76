"""The exact law of what is published about a cell of N people, computed apart from the code under test."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom, hypergeom

from crowdblend.methods.estimates.laws import (
    ExactCounts,
    GaussianOnEveryCell,
    Law,
    NoiseBelowK,
    NoiseFromThreshold,
    NoiseOnEveryCell,
    OutlierNoise,
)

# People asked, people in all, and the probability with which a coin keeps each of those asked.
ASKED, OF, THIN = 900, 4_000, 0.5
# The probability of numbers of sampled people, of so many people and at this rate.
Masses = Callable[[Any, int, float], Any]


def survey_masses(x: Any, people: int, rate: float) -> Any:
    """The probability of numbers of people who were asked, and kept by coins that make up the rate."""
    asked = np.arange(min(people, ASKED) + 1)
    return hypergeom.pmf(asked, OF, people, ASKED) @ binom.pmf(x[None, :], asked[:, None], rate / (ASKED / OF))


def draw_survey(rng: np.random.Generator, people: list[int], rate: float, draws: int) -> Any:
    """Numbers of people of several cells who were asked and kept, drawn so many times."""
    asked = rng.multivariate_hypergeometric([*people, OF - sum(people)], ASKED, draws)[:, :-1]
    return rng.binomial(asked, rate / (ASKED / OF))


def published(law: Law, rate: float, people: int, masses: Masses = binom.pmf) -> tuple[Any, Any, Any]:
    """Every value with its probability, and whether it is called exact; what is not shown is left out."""
    deviation = np.sqrt(people * rate * (1 - rate))
    low = max(0, int(people * rate - 10 * deviation - 5))
    high = min(people, int(max(people * rate, law.shown_from or 0) + 10 * deviation + 40))
    x = np.arange(low, high + 1)
    f = masses(x, people, rate)
    if isinstance(law, ExactCounts):
        shown = x >= law.k
        return x[shown], f[shown], None
    far = int(45 / law.widest_loss)
    y = np.arange(low - far, high + far + 1)
    distance = np.abs(y[None, :] - x[:, None])
    if isinstance(law, NoiseBelowK):
        a = np.exp(-law.noise_epsilon)
        noisy = (f * (x < law.k)) @ ((1 - a) / (1 + a) * a**distance)
        exact = np.where((y >= low) & (y <= high) & (y >= law.k), masses(y, people, rate), 0.0)
        if law.flag:
            flags = np.repeat([False, True], len(y))
            return np.tile(y, 2), np.concatenate([noisy, exact]), flags
        h = noisy + exact
    elif isinstance(law, NoiseOnEveryCell | NoiseFromThreshold):
        a = np.exp(-law.noise_epsilon)
        f = f * (x > 0) if isinstance(law, NoiseFromThreshold) else f
        h = f @ ((1 - a) / (1 + a) * a**distance)
    elif isinstance(law, GaussianOnEveryCell):
        whole = np.exp(-(np.arange(-400, 401) ** 2) / (2 * law.sigma**2)).sum()
        h = f @ np.exp(-(distance**2) / (2 * law.sigma**2)) / whole
    else:
        assert isinstance(law, OutlierNoise)
        left = np.maximum(law.limit - x, law.transition)
        a = np.exp(-law.epsilon * law.transition / left)[:, None]
        h = f @ ((1 - a) / (1 + a) * a**distance)
    shown = y >= (law.shown_from if law.shown_from is not None else y[0])
    return y[shown], h[shown], None


def shown_sums(k: int, rate: float, people: list[int]) -> tuple[Any, Any, Any]:
    """Every sum of cells from k on, in how many cells, and its probability; the sum of nothing is left out."""
    law = np.zeros((1, 1))
    law[0, 0] = 1.0
    for size in people:
        own = binom.pmf(np.arange(size + 1), size, rate)
        after = np.zeros((law.shape[0] + 1, law.shape[1] + size))
        after[:-1, : law.shape[1]] += law * own[:k].sum()
        for sampled in range(k, size + 1):
            after[1:, sampled : sampled + law.shape[1]] += law * own[sampled]
        law = after
    shown, totals = np.nonzero(law[1:] > 0)
    return totals, shown + 1, law[1:][shown, totals]

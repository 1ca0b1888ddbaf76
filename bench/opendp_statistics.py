"""The same statistics of groups by OpenDP, at the same ε with one person's data replaced."""

from functools import cache

import numpy as np
import opendp.prelude as dp

places_and_weights = cache(np.polynomial.legendre.leggauss)


def permuted_and_flipped(losses: np.ndarray, rate: float) -> np.ndarray:
    """The law of permute-and-flip: p·E[1/(1 + heads of the others)], and 1/(1 + h) is the integral of t^h."""
    heads = np.exp(-rate * (losses - losses.min()).astype(float))
    places, weights = places_and_weights(400)
    logs = np.log(1 - heads + heads * ((places + 1) / 2)[:, None])
    law = heads * (weights[:, None] / 2 * np.exp(logs.sum(axis=1, keepdims=True) - logs)).sum(axis=0)
    assert abs(law.sum() - 1) < 1e-9
    return law


class OpenDPGroups:
    """Averages and quantiles of declared groups of bounded numbers, each person in one group.

    Somebody whose data are replaced leaves one group and joins another, or is replaced within one: in OpenDP's terms
    one person more or less in two groups, or two steps in one. Both cost what its map says of a distance of 2.
    """

    def __init__(self, low: int, high: int, resolution: int) -> None:
        dp.enable_features("contrib")
        self._low, self._high = low, high
        self._grid = list(range(low, high + 1, resolution))
        self._space = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()

    def quantile_law(self, values: np.ndarray, epsilon: float, at: float, size: int | None = None) -> np.ndarray:
        """With which probability each step of the grid is chosen: OpenDP's own scores and scale, and permute-and-flip.

        Of all people the size is public.
        """
        domain = dp.vector_domain(dp.atom_domain(T="i32"), size=size) if size else self._space[0]
        scores = (domain, dp.symmetric_distance()) >> dp.t.then_quantile_score_candidates(self._grid, alpha=at)
        scale = dp.binary_search_param(
            lambda scale: scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True),
            d_in=2,
            d_out=epsilon,
        )
        return permuted_and_flipped(np.array(scores(np.asarray(values, np.int32)), float), 1 / scale)

    def average(self, epsilon: float, *, centred: bool = False):
        """A function of a group's values: the noisy sum divided by the noisy number, each with half of ε."""
        middle = (self._low + self._high) // 2 if centred else 0
        bounds = (self._low - middle, self._high - middle)
        total = self._noisy(self._space >> dp.t.then_clamp(bounds) >> dp.t.then_sum(), epsilon / 2)
        number = self._noisy(self._space >> dp.t.then_count(), epsilon / 2)

        def of(values: np.ndarray) -> float:
            moved = np.asarray(values, np.int32) - middle
            found = middle + total(moved) / max(1, number(moved))
            return float(min(max(found, self._low), self._high))

        return of

    def _noisy(self, query, epsilon: float):
        made = dp.binary_search_chain(lambda scale: query >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon)
        assert epsilon * 0.999 <= made.map(2) <= epsilon
        return made

"""What counts of an event say about its probability, and about ε, except with a stated probability of error."""

from __future__ import annotations

import math


def clopper_pearson(hits: int, trials: int, error: float) -> tuple[float, float]:
    """A lower and an upper bound of a probability, each wrong with probability at most `error`.

    >>> lower, upper = clopper_pearson(0, 100, 0.01)
    >>> lower, round(upper, 6) == round(1 - 0.01 ** (1 / 100), 6)
    (0.0, True)
    """
    from scipy.special import betaincinv  # noqa: PLC0415  loaded only to test

    lower = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, error))
    upper = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - error))
    return lower, upper


def epsilon_lower(likely: tuple[int, int], unlikely: tuple[int, int], delta: float, error: float) -> float:
    """The ε that (ε, δ)-closeness needs at least, given (hits, trials) of one event on both sides.

    Wrong with probability at most `error`: each of the two bounds behind it is wrong with half of that. Closeness says
    p ≤ e^ε·q + δ, so ε ≥ ln((p − δ)/q) for every event; 0 when the event says nothing.
    """
    low, _ = clopper_pearson(*likely, error / 2)
    _, high = clopper_pearson(*unlikely, error / 2)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0

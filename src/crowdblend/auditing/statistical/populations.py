"""Sizes of the audited person's class at which a guarantee about crowds is hardest to keep."""

from __future__ import annotations

import math

# Beyond it the sizes do not change any more, and its exponential is still a double.
_LARGEST = 300.0


def hard_sizes(k: int, rate: float, epsilon: float) -> dict[str, int]:
    """How many people are in the class, the audited person included, each with the reason for looking there.

    Sampling and suppression lose most at the n where the divergence is attained: with X ~ Bin(n−1, rate) of the
    others, one more person shows best at the first n with s·rate·(n−k+1) ≥ (k−1)(1−rate), s = 1 + (e^ε−1)/rate, and
    one fewer at the first n with rate·(n−k+1) ≥ s'·(k−1)(1−rate), s' = e^ε·rate/(1 − e^ε(1−rate)), where positive.

    >>> hard_sizes(5, 0.5, 0.3)
    {'alone': 1, 'a crowd but one': 4, 'just a crowd': 5, 'a crowd and one': 6, 'one more shows best': 7, \
'expected at k': 10, 'one fewer shows best': 13}
    """
    growth = math.exp(min(epsilon, _LARGEST))
    odds = (k - 1) * (1 - rate) / rate
    sizes = {
        "alone": 1,
        "a crowd but one": k - 1,
        "just a crowd": k,
        "a crowd and one": k + 1,
        "one more shows best": k - 1 + math.ceil(odds / (1 + (growth - 1) / rate)),
        "expected at k": math.ceil(k / rate),
    }
    kept = 1 - growth * (1 - rate)
    if kept > 1e-3:
        sizes["one fewer shows best"] = k - 1 + math.ceil(odds * growth * rate / kept)
    reasons: dict[int, str] = {}
    for reason, size in sizes.items():
        if size >= 1:
            reasons.setdefault(size, reason)
    return {reason: size for size, reason in sorted(reasons.items())}

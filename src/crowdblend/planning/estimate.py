"""Fast estimates of δ for whole arrays of parameters, for plots and research. Accurate, but not proofs."""

from __future__ import annotations

from typing import Any

from crowdblend.numerics.crowd_divergence import crowd_divergence


def estimate_delta(k: Any, rate: Any, epsilon: Any, blend_epsilon: Any = 0.0) -> Any:
    """δ of suppression.exact (blend_epsilon = 0) or blending.sharp for arrays that broadcast against each other.

    Uses the same formula as the certificates, in double precision; about nine digits agree.

    >>> [f"{delta:.6g}" for delta in estimate_delta(20, 0.1, [0.25, 0.5])]
    ['6.31039e-08', '2.63178e-11']
    """
    from crowdblend.numerics import floats  # noqa: PLC0415  only estimates load NumPy and SciPy

    k, rate, epsilon, blend_epsilon = floats.aligned(k, rate, epsilon, blend_epsilon)
    with floats.quietly():
        return crowd_divergence(floats, k, rate, floats.exp(blend_epsilon), floats.exp(epsilon))

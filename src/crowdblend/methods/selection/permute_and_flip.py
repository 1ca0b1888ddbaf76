"""Permute-and-flip, exactly: one of many candidates, those with smaller losses more often.

Every candidate gets a coin with heads of probability e^{−rate·(loss − least loss)}, and one of those with heads is
chosen, each equally likely. Going through the candidates in random order until one falls heads is the same (McKenna
and Sheldon, Permute-and-Flip, 2020), and the least loss always falls heads.

Theorem. If one person moves every loss by at most d, the choice is 2·rate·d-differentially private; if a person moves
the losses of two independent choices by at most d₁ and d₂, both together are 2·rate·(d₁ + d₂)-private.

Proof. docs/proofs.md#quantiles.

Most coins are settled by 64 bits and a comparison in doubles with a margin far beyond any rounding; the others by as
many bits as it takes, against bounds in ball arithmetic. No rounding decides.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.choice import uniform
from crowdblend.trusted.randomness.probability import Bounds, enclose, settle
from crowdblend.trusted.randomness.source import Source

# A double is within a few units of its last place of e^{−x}, that is 1e-15 of it; words add 2^−53.
_MARGIN = 1e-9
_WORD = 64


def permute_and_flip_rows(losses: NDArray[np.int64], rate: Fraction, source: Source) -> NDArray[np.int64]:
    """Return the place of the chosen candidate in every row, each row an independent choice.

    >>> from crowdblend.trusted.randomness import SeededSource
    >>> permute_and_flip_rows(np.array([[90, 0, 70]]), Fraction(1), SeededSource(1)).tolist()
    [1]
    """
    if not losses.shape[1]:
        raise InvalidInput(
            "There is no candidate to choose from. Offer one.", where="candidates", code="selection.no-candidates"
        )
    if rate <= 0:
        message = f"The rate of a choice must be above 0, got {float(rate):g}. Pass its budget."
        raise InvalidInput(message, where="epsilon", code="selection.epsilon")
    excess = losses - losses.min(axis=1, keepdims=True)
    heads = _flips(excess.ravel(), rate, source).reshape(excess.shape)
    counted = np.cumsum(heads, axis=1)
    wanted = np.empty(len(heads), dtype=np.int64)
    for count in np.unique(counted[:, -1]):
        alike = counted[:, -1] == count
        wanted[alike] = uniform(int(alike.sum()), int(count), source)
    # The first place with more heads up to it than are passed over.
    places: NDArray[np.int64] = np.argmax(counted > wanted[:, np.newaxis], axis=1)
    return places


def _flips(excess: NDArray[np.int64], rate: Fraction, source: Source) -> NDArray[np.bool_]:
    """Return a coin for each, heads with probability e^{−rate·excess}."""
    words = source.words(len(excess))
    drawn = words.astype(np.float64) * 2.0**-_WORD
    likely = np.exp(-float(rate) * excess)
    heads: NDArray[np.bool_] = drawn < likely * (1 - _MARGIN) - _MARGIN * 2.0**-20
    close = ~heads & (drawn <= likely * (1 + _MARGIN) + 2.0**-52)
    heads[excess == 0] = True
    for place in np.flatnonzero(close & (excess > 0)):
        heads[place] = settle(int(words[place]), _WORD, _bounds(int(excess[place]), rate), source)
    return heads


@lru_cache(maxsize=4096)
def _bounds(excess: int, rate: Fraction) -> Bounds:
    exponent = fmpq(-rate.numerator * excess, rate.denominator)
    return enclose(lambda: arb(exponent).exp())

"""Rare events among more trials than anyone can list.

Theorem. In a row of independent trials with success probability q, the numbers of failures before the first success
and between one success and the next are independent geometric variables, P[G = g] = q·(1−q)^g. So walking from
success to success by such gaps until the last trial is passed visits exactly the successes of `trials` independent
trials: each subset of places with its exact probability, and Binomial(trials, q) of them.

A gap is drawn digit by digit (see `digits`) with a = 1 − q. With 2^m ≥ trials the digits from m upwards
need no value: if any is 1, the gap is at least as long as all trials and passes the end. One coin of probability
a^(2^m) tells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.digits import digit, low_digits
from crowdblend.trusted.randomness.probability import Bounds, enclose, flips
from crowdblend.trusted.randomness.source import Source

MOST_TRIALS = 1 << 62
MOST_SUCCESSES = 1 << 32
# Gaps drawn together: few at first, since most calls have few successes. Part of the definition of the stream.
FIRST_BLOCK = 1 << 8
LARGEST_BLOCK = 1 << 15


def successes(trials: int, probability: Bounds, source: Source) -> NDArray[np.int64]:
    """Return the places, in rising order, of the successes among independent trials 0, …, trials − 1.

    >>> from crowdblend.trusted.randomness.probability import rational
    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> successes(10**15, rational(1e-15), SeededSource(2)).tolist()
    [840408506137430]
    """
    return np.concatenate([np.empty(0, dtype=np.int64), *_walk(trials, probability, source)])


def _walk(trials: int, probability: Bounds, source: Source) -> Iterator[NDArray[np.int64]]:
    if not 0 <= trials <= MOST_TRIALS:
        raise InvalidInput(
            f"trials must be between 0 and 2^62, got {trials}.", where="trials", code="randomness.trials"
        )
    if trials * probability(64)[0] >> 64 > MOST_SUCCESSES:
        message = "trials times probability must be at most 2^32; count the failures or split the trials."
        raise InvalidInput(message, where="trials", code="randomness.trials")
    levels = max(trials - 1, 0).bit_length()
    failure = _Failure(probability)
    digits = [digit(failure.power, i) for i in range(levels)]
    beyond = enclose(lambda: failure.power(levels))
    # Unsigned: the first place at or beyond the end is below 2^62 + 2^63, so no sum up to it wraps around.
    start, end, block = np.uint64(0), np.uint64(trials), FIRST_BLOCK
    while start < end:
        gaps = low_digits(block, digits, source) + (flips(block, beyond, source).astype(np.int64) << levels)
        after = start + np.cumsum(gaps.astype(np.uint64) + np.uint64(1))
        passed = np.flatnonzero(after > end)
        inside = after[: passed[0]] if len(passed) else after
        yield (inside - np.uint64(1)).astype(np.int64)
        start = end if len(passed) else inside[-1]
        block = min(4 * block, LARGEST_BLOCK)


class _Failure:
    """The powers of 1 − q as balls, at the precision in force."""

    def __init__(self, success: Bounds) -> None:
        self._success = success

    def power(self, i: int) -> arb:
        # Read once: another thread may change the precision in between.
        bits = ctx.prec
        lower, upper = self._success(bits)
        success = arb(lower).union(arb(upper)) / arb(2) ** bits
        power: arb = (1 - success) ** 2**i
        return power

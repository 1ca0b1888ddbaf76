"""Exact coins whose probability is any real number that can be enclosed.

A probability p is given by its `Bounds`: a function that takes a number of bits b to two whole numbers with
lower ≤ p·2^b ≤ upper, a bounded distance apart. A coin compares a uniform real U, drawn bit by bit, with p. If the
first b bits of U are the whole number u, then u ≤ U·2^b < u + 1, so

    u + 1 ≤ lower  proves  U < p  (heads),        u ≥ upper  proves  U ≥ p  (tails),

and otherwise more bits are drawn. Each bit halves the share of undecided values, so the coin ends with probability 1
and falls heads with probability P[U < p] = p: exactly, with no rounding anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from flint import arb
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.randomness.source import Source

Bounds = Callable[[int], tuple[int, int]]

# The first look at a coin. Sixteen bits are a quarter of the stream and of the memory that whole words would take,
# and leave one coin in 65,536 to be settled on its own.
FIRST_BITS = 16
# Extra precision to start with, and how often it may double before the ball is called hopeless.
GUARD_BITS = 64
DOUBLINGS = 8


def rational(probability: Fraction | float) -> Bounds:
    """Return the bounds of a rational probability; a double stands for its exact value."""
    if not 0 <= probability <= 1:
        message = f"A probability must be between 0 and 1, got {probability}."
        raise InvalidInput(message, where="probability", code="randomness.probability")
    top, bottom = probability.as_integer_ratio()

    def bounds(bits: int) -> tuple[int, int]:
        return (top << bits) // bottom, -(-(top << bits) // bottom)

    return bounds


def enclose(compute: Callable[[], arb]) -> Bounds:
    """Return the bounds of a probability that `compute` encloses in a ball at whatever precision is in force.

    The ball is rigorous at every precision, so precision only decides how far apart the bounds are.
    """

    @cache
    def bounds(bits: int) -> tuple[int, int]:
        for doubling in range(DOUBLINGS):
            with precision((bits + GUARD_BITS) << doubling):
                scaled = compute() * arb(2) ** bits
                lower = scaled.lower().floor().unique_fmpz()
                upper = scaled.upper().ceil().unique_fmpz()
                if lower is not None and upper is not None and upper - lower <= 2:
                    return max(0, int(lower)), min(1 << bits, int(upper))
        message = "The probability must be computable to any number of digits; move it away from its limits."
        raise NotProved(message, where="probability", code="randomness.not-proved")

    return bounds


def bernoulli(probability: Bounds, source: Source) -> bool:
    """One coin that falls heads with exactly the given probability."""
    return settle(0, 0, probability, source)


def flips(n: int, probability: Bounds, source: Source) -> NDArray[np.bool_]:
    """n independent coins that fall heads with exactly the given probability.

    Takes 2·n bytes, then one word at a time for each coin that those leave undecided, in order.
    """
    first = np.frombuffer(source.bytes(FIRST_BITS // 8 * n), dtype="<u2")
    lower, upper = probability(FIRST_BITS)
    heads = _under(first, lower)
    ties = first == lower if upper == lower + 1 else heads != _under(first, upper)
    for tie in ties.nonzero()[0]:  # which takes half of the time of flatnonzero
        heads[tie] = settle(int(first[tie]), FIRST_BITS, probability, source)
    return heads


def _under(values: NDArray[np.uint16], limit: int) -> NDArray[np.bool_]:
    """values < limit, for limits up to 2^16, which is no 16-bit number."""
    if limit >> FIRST_BITS:
        return np.ones(len(values), dtype=np.bool_)
    return values < np.uint16(limit)


def settle(prefix: int, bits: int, probability: Bounds, source: Source) -> bool:
    """Return whether U < p, for a U whose first bits are known and whose further bits are drawn as needed."""
    while True:
        lower, upper = probability(bits)
        if prefix < lower:
            return True
        if prefix >= upper:
            return False
        prefix = prefix << 64 | int.from_bytes(source.bytes(8), "little")
        bits += 64

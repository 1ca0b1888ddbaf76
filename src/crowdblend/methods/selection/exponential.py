"""The exponential mechanism, exactly: one of many, each with probability proportional to e^{ε·(q − max)/Δ}.

Scores and sensitivity are whole numbers and ε is the exact value of a double. The probabilities are enclosed in balls
and compared with a uniform number of which only as many bits are drawn as the decision needs, so what is chosen has
exactly the stated law and no rounding decides.

Theorem. If one person changes every score by at most Δ, choosing with weights e^{ε·q/(2Δ)} is ε-differentially
private; if a further person never lowers a score, weights e^{ε·q/Δ} are enough.

Proof. Without monotonicity a person changes each weight by a factor within e^{±ε/2}, hence their sum too, and the
quotient by e^{±ε}. With it, adding a person multiplies each weight and the sum by factors between 1 and e^ε, and the
quotient of two such factors is between e^−ε and e^ε. ∎
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from flint import arb, fmpq

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.randomness.source import Source

_WORD = 64
_GUARD = 64
# Of this many losses the bounds are kept: they are a few numbers each.
_FEW = 64


def choose(scores: Sequence[int], *, epsilon: float, sensitivity: int, monotone: bool, source: Source) -> int:
    """Return the place of the chosen score.

    >>> from crowdblend.trusted.randomness import SeededSource
    >>> choose([0, 40, 0], epsilon=1.0, sensitivity=1, monotone=True, source=SeededSource(1))
    1
    """
    return choose_several(scores, 1, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone, source=source)[0]


def choose_several(
    scores: Sequence[int], times: int, *, epsilon: float, sensitivity: int, monotone: bool, source: Source
) -> list[int]:
    """Return the places of this many independent choices among the same scores."""
    if not scores:
        raise InvalidInput(
            "There is no recoding to choose from. Offer levels.", where="candidates", code="selection.no-candidates"
        )
    if not 0 < epsilon <= 1e6:
        message = f"The epsilon of a choice must be above 0, got {epsilon:g}. Pass its budget, such as 0.1."
        raise InvalidInput(message, where="epsilon", code="selection.epsilon")
    if sensitivity < 1:
        message = f"The sensitivity of a score must be at least 1, got {sensitivity}. Pass its bound."
        raise InvalidInput(message, where="sensitivity", code="selection.sensitivity")
    top = max(scores)
    factor = Fraction(epsilon) / (sensitivity if monotone else 2 * sensitivity)
    losses = tuple(top - score for score in scores)
    bounds = _known_bounds if len(losses) <= _FEW else _bounds
    lower, upper = bounds(losses, factor, _WORD)
    drawn = memoryview(source.bytes(times * _WORD // 8))
    prefixes = (int.from_bytes(drawn[at : at + _WORD // 8], "little") for at in range(0, len(drawn), _WORD // 8))
    return [_settle(prefix, lower, upper, losses, factor, source) for prefix in prefixes]


def _settle(
    prefix: int, lower: list[int], upper: list[int], losses: tuple[int, ...], factor: Fraction, source: Source
) -> int:
    """The place that a uniform number with these first bits falls into; more bits are drawn until it is clear."""
    bits = _WORD
    # U lies in [prefix, prefix + 1]/2^bits: decided when both ends fall into the same place.
    while (first := bisect_right(upper, prefix)) != bisect_right(lower, prefix):
        prefix = prefix << _WORD | int.from_bytes(source.bytes(_WORD // 8), "little")
        bits += _WORD
        lower, upper = _bounds(losses, factor, bits)
    return first


def _bounds(losses: Sequence[int], factor: Fraction, bits: int) -> tuple[list[int], list[int]]:
    """Whole numbers around 2^bits times the probability of being at this place or before, for each place.

    The last one is certain, whatever its ball says.
    """
    with precision(bits + _GUARD):
        weights = {loss: arb(fmpq(-factor.numerator * loss, factor.denominator)).exp() for loss in set(losses)}
        sums = list(accumulate(weights[loss] for loss in losses))
        scaled = [part * (arb(2) ** bits) / sums[-1] for part in sums[:-1]]
        lower = [_whole(ball.lower().floor()) for ball in scaled]
        upper = [_whole(ball.upper().ceil()) for ball in scaled]
    whole = 1 << bits
    # Sums grow, and so do their bounds, but for the rounding of balls that are next to each other.
    return [*accumulate(lower, max), whole], [*accumulate(upper, max), whole]


# Few losses come again and again in rehearsals.
_known_bounds = lru_cache(maxsize=256)(_bounds)


def _whole(point: arb) -> int:
    whole = point.unique_fmpz()
    if whole is None:
        message = "The probabilities of a choice must be computable to any number of digits; lower its epsilon."
        raise NotProved(message, where="epsilon", code="selection.not-proved")
    return int(whole)

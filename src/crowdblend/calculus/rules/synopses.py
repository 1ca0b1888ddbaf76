"""Accuracy of synthetic rows for a class of fraction queries about their source (ZKP 4)."""

from __future__ import annotations

from flint import arb

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.conditions import Unmet
from crowdblend.calculus.description import DRAWN, PROVED, mechanism
from crowdblend.calculus.theorem import rule
from crowdblend.guarantees.utility import Useful
from crowdblend.numerics.balls import log, minimum, round_up, sqrt

_COUNTED = (
    Assumption.DRAWN_PEOPLE,
    Assumption.FIXED_QUERIES,
    Assumption.COUNTED_ANSWERS,
    Assumption.EXACT_NOISE,
    Assumption.DISCRETE_LAPLACE,
)
# Chernoff's bound holds for every tilt below ε₀; the best of these is at most a few thousandths worse than the best.
_TILTS = 64


@rule(
    "synopsis.exponential-useful",
    source="BLR08 as used in ZKP Proposition 24, docs/proofs.md#usefulness-of-synopses",
    statement="Among the N = C(X+m−1, m) tables of m rows out of X possible ones, the one chosen by "
    "synopsis.exponential answers Q fraction queries about k people within min(√(ln(2Q)/(2m)), X/(4m)) + "
    "(2/(kε))·ln(N/β), except with probability β.",
    assumes=(
        Assumption.DRAWN_PEOPLE,
        Assumption.FIXED_QUERIES,
        Assumption.CHOSEN_ROWS,
        Assumption.SYNOPSIS_WEIGHTS,
        Assumption.EXACT_CHOICE,
    ),
    about=mechanism(
        DRAWN, "samples", "queries", inside=mechanism("synopsis.exponential", "epsilon", "universe", "rows")
    ),
    free={"failure": PROVED},
)
def exponential_synopsis_is_useful(
    *, samples: int, universe: int, queries: int, rows: int, epsilon: float, failure: float
) -> Useful:
    """A table of m rows is close, and a much worse one is chosen with small probability."""
    _possible(samples, failure)
    if epsilon == 0:
        raise Unmet("needs epsilon above 0, got 0. A blind choice is of no use.")
    best = minimum(sqrt(log(arb(2 * queries)) / (2 * rows)), arb(universe) / (4 * rows))
    # ln C(X+m−1, m) by the gamma function, which takes no longer for large tables.
    candidates = arb(universe + rows).lgamma() - arb(rows + 1).lgamma() - arb(universe).lgamma()
    worse = 2 * (candidates.nonnegative_part() - log(arb(failure))) / (arb(epsilon) * samples)
    return Useful(round_up(best + worse), failure)


@rule(
    "synopsis.fitted-useful",
    source="crowdblend, docs/proofs.md#usefulness-of-synopses",
    statement="Let every answer of a class of Q fraction queries about k people be a sum of at most c counts with "
    "discrete Laplace noise of loss ε₀, and let A be the bound that all noisy answers keep to except with probability "
    "β. A distribution fitted to within A + τ of the noisy answers, and m rows drawn from it to within √(ln(4Q)/(2m)), "
    "answer the class within 2A + τ + √(ln(4Q)/(2m)), except with probability β.",
    assumes=(*_COUNTED, Assumption.FITTED_ROWS),
    about=mechanism(
        DRAWN, "samples", "queries", inside=mechanism("synopsis.counts", "noise_epsilon", "addends", "rows", "slack")
    ),
    free={"failure": PROVED},
)
def fitted_synopsis_is_useful(
    *, samples: int, queries: int, addends: int, noise_epsilon: float, rows: int, slack: float, failure: float
) -> Useful:
    """The truth fits within A, so a fit within A + τ exists and is found; noise and fit err by A each at most."""
    _possible(samples, failure)
    noise = noise_bound(queries, addends, noise_epsilon, failure) / samples
    return Useful(round_up(2 * noise + arb(slack) + sqrt(log(arb(4 * queries)) / (2 * rows))), failure)


@rule(
    "synopsis.counts-useful",
    source="crowdblend, docs/proofs.md#usefulness-of-synopses",
    statement="The noisy answers themselves, each a sum of at most c counts with discrete Laplace noise of loss ε₀, "
    "are within A of the truth, for all Q queries at once, except with probability β.",
    assumes=_COUNTED,
    about=mechanism(DRAWN, "samples", "queries", inside=mechanism("synopsis.counts", "noise_epsilon", "addends")),
    free={"failure": PROVED},
)
def noisy_answers_are_useful(
    *, samples: int, queries: int, addends: int, noise_epsilon: float, failure: float
) -> Useful:
    """The tail of discrete Laplace noise for single counts, Chernoff's bound for sums."""
    _possible(samples, failure)
    return Useful(round_up(noise_bound(queries, addends, noise_epsilon, failure) / samples), failure)


def noise_bound(queries: int, addends: int, noise_epsilon: float, failure: float) -> arb:
    """A: what the noise of Q sums of at most c counts stays within, in people, except with probability β.

    For single counts P[|Y| ≥ t] = 2a^t/(1+a) at whole t ≥ 1, a = e^{−ε₀}, and whatever is not at or beyond t is
    within t − 1. For sums, P[|Y₁+…+Y_c| ≥ t] ≤ 2e^{−st}M(s)^c with M(s) = (1−a)²/((1−ae^s)(1−ae^{−s})), for 0 < s < ε₀.
    """
    loss = arb(noise_epsilon)
    a = (-loss).exp()
    if addends == 1:
        beyond = log(2 * queries / ((1 + a) * arb(failure))) / loss
        return _within(beyond)
    wanted = log(2 * queries / arb(failure))
    sums = []
    for place in range(1, _TILTS):
        s = loss * place / _TILTS
        growth = 2 * log(1 - a) - log(1 - (s - loss).exp()) - log(1 - (-s - loss).exp())
        sums.append((wanted + addends * growth) / s)
    return minimum(*sums)


def _within(beyond: arb) -> arb:
    """Return the bound of whole noise that is below every whole t ≥ beyond: at least 1."""
    return (beyond.upper().ceil() - 1).max(arb(1))


def _possible(samples: int, failure: float) -> None:
    if samples < 1:
        raise Unmet(f"needs at least one person, got {samples}. Draw more.")
    if failure == 0:
        raise Unmet("needs a failure above 0, got 0. Noise has no bound that always holds.")

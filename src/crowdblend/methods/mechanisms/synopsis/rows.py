"""A distribution that agrees with noisy answers, and synthetic rows from it.

It reads nothing but the answers: post-processing, so drawing rows again costs nothing. First a smooth fit: of all
distributions p the one with the smallest KL(p‖uniform) + |counts(p) − noisy|²/(2λ), found block by block like iterative
proportional fitting. It usually agrees with every noisy answer as well as the truth does. Where it does not,
multiplicative weights repair it, with a proof that they end.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, Table, Vector
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.randomness import Source, distinct, permutation

with lazy_imports():
    from scipy import special

Cells = NDArray[np.int64]
# Rounds over all blocks: this many in any case, then until the fit agrees, and at most this many.
FEWEST_ROUNDS = 20
MOST_ROUNDS = 100
# Changes of all counts below this no longer show in any answer.
SMALL_MOVE = 2e-5
TINY = 1e-300
# The slack of the fit, as a share of the bound on the noise, and at least so much, for the repair to end in minutes.
_SLACK = 0.125
_LEAST_SLACK = 0.002
# What is kept to is a hair less than what is stated, for sums in floating point.
HAIR = 1 - 1e-6
# How much of the uniform distribution is mixed in before repairing.
MIXED = 1e-4
# Each independent draw is close enough with probability at least 1/2, so this many fail with 2^-200.
MOST_DRAWS = 200


def random_rows(cells: Cells, counts: NDArray[np.int64], rows: int, source: Source) -> Cells:
    """Exactly that many rows of a table that holds each cell this often, uniformly and without replacement.

    In rising order of their places in the table, which is never written out; what is made of them ignores their order.
    """
    places = distinct(rows, int(counts.sum()), source)
    drawn: Cells = cells[np.searchsorted(np.cumsum(counts), places, side="right")]
    return drawn


def rows_like(
    queries: QueryClass, p: Table, rows: int, source: Source, *, within: float
) -> tuple[Cells, NDArray[np.float64]]:
    """Return m cells, in random order, whose shares answer the class like p within the bound.

    And these answers.

    Evenly spaced points of the cumulated distribution are far closer than independent ones; should they be too far
    off for some query, independent rows are drawn until they are close enough.
    """
    asked = queries.ask(p)
    cumulated = np.cumsum(p.ravel())
    for draw in range(MOST_DRAWS):
        places = _independent(rows, source) if draw else (np.arange(rows) + _independent(1, source)) / rows
        cells = np.minimum(np.searchsorted(cumulated, places * cumulated[-1], side="right"), p.size - 1)
        answered = queries.ask(shares(cells, p.shape))
        if np.abs(answered - asked).max() <= within:
            break
    return np.asarray(cells)[permutation(rows, source)], answered


def shares(cells: Cells, shape: tuple[int, ...]) -> Table:
    """The share of the rows in each cell of the universe."""
    found: Table = count_rows(cells, shape) / max(1, len(cells))
    return found


def count_rows(cells: Cells, shape: tuple[int, ...]) -> Table:
    """Return the number of rows in each cell of the universe; a concealed row, −1, is in none."""
    return np.bincount(cells[cells >= 0], minlength=int(np.prod(shape))).reshape(shape)


def _independent(rows: int, source: Source) -> NDArray[np.float64]:
    return (source.words(rows) >> np.uint64(11)) / float(1 << 53)


def fit(queries: QueryClass, noisy: Vector, *, variance: float, noise: float, slack: float) -> Table:
    """Return a distribution whose answers are within noise + slack of the noisy ones, if any is within noise of them.

    Everything is in shares; `variance` is that of one noisy count.
    """
    answers = queries.answers(noisy)

    def agrees(p: Table) -> bool:
        return bool(np.abs(queries.ask(p) - answers).max() <= noise + slack)

    smooth = smooth_fit(queries, noisy, variance, agrees)
    return smooth if agrees(smooth) else repair(queries, smooth, answers, noise=noise, slack=slack)


def slack_of(noise: float) -> float:
    """Return what the fit may add to the error of noisy answers."""
    return max(noise * _SLACK, _LEAST_SLACK)


def smooth_fit(queries: QueryClass, noisy: Vector, variance: float, agrees: Callable[[Table], bool]) -> Table:
    """Return the distribution of largest entropy, where missing a count by x costs x²/(2λ), λ = caution·its variance.

    It is p = e^{sum of the weights of the counts that a cell is in}; the best weights of one block of disjoint counts,
    the others fixed, solve m·e^u + λu = noisy count, m the count that p would have with weights 0 there. That is
    Wright's omega function. Block after block the objective only improves.
    """
    p = np.full(queries.shape, 1 / queries.universe)
    pooled = queries.pool(noisy)
    weights = [np.zeros(len(part.counts)) for part in pooled]
    for done in range(1, MOST_ROUNDS + 1):
        moved = 0.0
        for place, part in enumerate(pooled):
            damping = part.caution * part.variance * variance
            old, wanted = weights[place], part.counts / damping
            bare = np.log(np.maximum(part.block.counts(p), TINY) / damping) - old
            new = wanted - np.real(special.wrightomega(bare + wanted))
            part.block.scale(p, np.exp(new - old))
            weights[place] = new
            moved = max(moved, float(np.abs(new - old).max()) * damping)
        p /= p.sum()
        if moved < SMALL_MOVE or (done >= FEWEST_ROUNDS and agrees(p)):
            break
    return p


def most_gain(universe: int) -> float:
    """Steps of repair that gain more than that find nothing within the noise: the noise exceeded its bound."""
    # A hair more, for sums in floating point.
    return math.log(universe / MIXED) * (1 + 1e-6)


def repair(queries: QueryClass, p: Table, answers: Vector, *, noise: float, slack: float) -> Table:
    """Multiplicative weights on the worst answers, a whole round of them at a time.

    Theorem. Let D be a distribution whose answers are all within A of the noisy ones, and p one with p ≥ γ/X in each of
    the X cells. As long as some answer of p is further than A + τ from its noisy answer, multiply the cells that
    satisfy the query by e^{−4v} (by e^{4v}, if the answer is too low), v ≥ τ the excess over A, and normalize. Then the
    sum of 2v² over all steps is at most ln(X/γ), so there are at most ln(X/γ)/(2τ²) of them; and if the sum is larger,
    no such D exists.

    Proof. Let p(q) be too high. Then p(q) − D(q) ≥ v, and with η = 4v a step changes KL(D‖p) by ηD(q) + ln E_p e^{−ηq}
    ≤ ηD(q) − ηp(q) + η²/8 ≤ −ηv + η²/8 = −2v², by Hoeffding's lemma for q in [0, 1]. KL(D‖p) is at most ln(X/γ) in the
    beginning and never negative. Too low is the same for 1 − q. ∎
    """
    p = (1 - MIXED) * p + MIXED / p.size
    left = most_gain(queries.universe)
    while left >= 0:
        p /= p.sum()
        off = queries.ask(p) - answers
        worst = np.flatnonzero(np.abs(off) > noise + slack)
        if len(worst) == 0:
            break
        left -= _round(queries, p, answers, worst[np.argsort(-np.abs(off[worst]))], noise, slack)
    p /= p.sum()
    return p


def _round(queries: QueryClass, p: Table, answers: Vector, worst: Vector, noise: float, slack: float) -> float:
    """Return a step for each query that is still off after the steps before it; the sum of their 2v².

    What p adds up to is carried along, so that a step touches no more cells than satisfy its query.
    """
    total, gained = 1.0, 0.0
    for query in worst:
        cells = queries.where(int(query))
        mass = float(p[cells].sum())
        off = mass / total - answers[query]
        excess = abs(off) - noise
        if excess > slack:
            # Shares of a handful of people, divided by a noisy number of them, may lie far beyond 1.
            factor = math.exp(-4 * math.copysign(min(excess, 1.0), off))
            p[cells] *= factor
            total += (factor - 1) * mass
            gained += 2 * excess**2
    return gained

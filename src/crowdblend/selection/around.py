"""The lattice around a node: the node itself and those that differ by one level in one column, with noisy scores.

Theorem. If one person moves every score by at most Δ, showing at most d scores with independent discrete Laplace noise
of ratio e^{−ε/(dΔ)} is ε-differentially private.

Proof. The person moves all shown scores together by at most dΔ in absolute value, and each unit changes the probability
of what is shown by a factor of at most e^{ε/(dΔ)}. ∎

How many nodes there are around a node depends on the node; the noise is always that for the largest number.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.randomness import discrete_laplace
from crowdblend.randomness.noise import SMALLEST_EPSILON
from crowdblend.randomness.source import Source
from crowdblend.selection.lattice import Lattice, Node
from crowdblend.selection.scores import Score
from crowdblend.selection.search import rolled_up, score_offer


def most_around(shape: tuple[int, ...]) -> int:
    """The largest number of nodes around a node, itself included.

    >>> most_around((1, 2, 5))
    4
    """
    return 1 + sum(min(2, levels - 1) for levels in shape)


def noise_around(lattice: Lattice, score: Score, epsilon: float) -> Fraction:
    """The loss per unit of the noise on every shown score."""
    each = Fraction(epsilon) / (most_around(lattice.shape) * score.sensitivity(lattice.most))
    if each < SMALLEST_EPSILON:
        raise InvalidInput(
            f"show_epsilon = {epsilon:g} is too small: its noise cannot be drawn. "
            "Raise it, or lower the weights of the columns.",
            where="[recoding] show_epsilon",
            code="selection.epsilon",
        )
    return each


def scores_around(
    lattice: Lattice, node: Node, codes: NDArray[np.int32], counts: NDArray[np.int64], score: Score
) -> dict[Node, int]:
    """The exact scores, the node's own first."""
    finer = tuple(max(level - 1, 0) for level in node)
    offers = [
        range(first, min(level + 2, ladder.levels))
        for ladder, level, first in zip(lattice.ladders, node, finer, strict=True)
    ]
    bases = [ladder.base(levels) for ladder, levels in zip(lattice.ladders, offers, strict=True)]
    sizes = [ladder.size_at(base) for ladder, base in zip(lattice.ladders, bases, strict=True)]
    codes, counts = rolled_up(lattice.recoded(codes, bases), counts, sizes)
    near = Lattice(tuple(ladder.offering(levels) for ladder, levels in zip(lattice.ladders, offers, strict=True)))
    scores: dict[Node, int] = {node: 0}
    for column, ladder in enumerate(near.ladders):
        if ladder.levels == 1:
            continue
        offer = tuple(
            tuple(range(ladder.levels)) if place == column else (level - first,)
            for place, (level, first) in enumerate(zip(node, finer, strict=True))
        )
        for step, value in enumerate(score_offer(near, offer, codes, counts, score).tolist()):
            scores[(*node[:column], finer[column] + step, *node[column + 1 :])] = value
    return scores


def noisy_scores_around(
    lattice: Lattice,
    node: Node,
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    score: Score,
    *,
    epsilon: float,
    source: Source,
) -> dict[Node, int]:
    """The scores around a node with noise, the node's own first; together they have a loss of epsilon."""
    exact = scores_around(lattice, node, codes, counts, score)
    noise = discrete_laplace(len(exact), noise_around(lattice, score, epsilon), source)
    return {place: value + int(added) for (place, value), added in zip(exact.items(), noise, strict=True)}

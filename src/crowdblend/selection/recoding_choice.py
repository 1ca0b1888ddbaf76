"""A choice of a recoding as one value: what it claims is read off the parameters that it runs with.

Scores may be shown with noise around the chosen node: of itself, and of those that differ by one level in one column.

Theorem. If one person moves every score by at most Δ, showing at most d scores with independent discrete Laplace noise
of ratio e^{−ε/(dΔ)} is ε-differentially private.

Proof. The person moves all shown scores together by at most dΔ in absolute value, and each unit changes the probability
of what is shown by a factor of at most e^{ε/(dΔ)}. ∎

How many nodes there are around a node depends on the node; the noise is always that for the largest number.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.planning.certified_choice import CertifiedChoice, ExpectedPeople
from crowdblend.randomness import ReleaseKey, discrete_laplace
from crowdblend.randomness.noise import SMALLEST_EPSILON
from crowdblend.randomness.source import Source
from crowdblend.selection.lattice import Lattice, Node
from crowdblend.selection.scores import Score
from crowdblend.selection.search import Search, rolled_up, score_offer

_CHOICE = b"choosing the recoding"
_SCORES = b"showing scores around the chosen recoding"


@dataclass(frozen=True)
class ChosenRecoding:
    """The chosen node, and the noisy scores of it and of the nodes around it where they were paid for."""

    node: Node
    scores: dict[Node, int] | None = None


@dataclass(frozen=True, eq=False)
class RecodingChoice:
    """The choice among the recodings of a declared lattice.

    All choices of the search together have a loss of `epsilon`; showing the scores around the result has a loss of
    `show_epsilon`.
    """

    lattice: Lattice
    score: Score
    search: Search
    epsilon: float
    show_epsilon: float | None = None

    @cached_property
    def certified_choice(self) -> CertifiedChoice:
        """The certified choice, which is written into the facts of a release."""
        shown = 0
        if self.show_epsilon is not None:
            noise_around(self.lattice, self.score, self.show_epsilon)
            shown = most_around(self.lattice.shape)
        known, parts = self.score.published, self.score.parts(self.lattice.most)
        bound = ExpectedPeople(known.counted_from, known.rate, known.stands_for, parts)
        return CertifiedChoice(bound, self.epsilon, self.search.steps, self.show_epsilon, shown)

    def claim(self) -> Derivation:
        """Return the guarantee of choosing and showing."""
        return self.certified_choice.claim()

    def run(
        self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey
    ) -> ChosenRecoding:
        """Return the level of every column, and noisy scores around it if they were paid.

        `lattice` is the declared one over the labels that occur: levels and weights are the same, so that a person
        moves its scores no further than the claim says.
        """
        return self.several(lattice, codes, counts, key, 1)[0]

    def several(
        self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey, times: int
    ) -> list[ChosenRecoding]:
        """Return independent choices of the same people, for rehearsals."""
        if (lattice.shape, lattice.most) != (self.lattice.shape, self.lattice.most):
            message = "The lattice has other levels or weights than the claim."
            remedy = "Build both from the same columns."
            raise InvalidInput(message, remedy=remedy, where="lattice", code="selection.lattice")
        nodes = self.search.several(
            lattice,
            codes,
            counts,
            self.score,
            epsilon=self.certified_choice.step_epsilon,
            source=key.source(_CHOICE),
            times=times,
        )
        if self.show_epsilon is None:
            return [ChosenRecoding(node) for node in nodes]
        loss, source = self.show_epsilon, key.source(_SCORES)
        return [
            ChosenRecoding(
                node, noisy_scores_around(lattice, node, codes, counts, self.score, epsilon=loss, source=source)
            )
            for node in nodes
        ]


def most_around(shape: tuple[int, ...]) -> int:
    """Return the largest number of nodes around a node, itself included.

    >>> most_around((1, 2, 5))
    4
    """
    return 1 + sum(min(2, levels - 1) for levels in shape)


def noise_around(lattice: Lattice, score: Score, epsilon: float) -> Fraction:
    """Return the loss per unit of the noise on every shown score."""
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
    """Return the exact scores, the node's own first."""
    finer = tuple(max(level - 1, 0) for level in node)
    offers = [
        range(first, min(level + 2, ladder.levels))
        for ladder, level, first in zip(lattice.ladders, node, finer, strict=True)
    ]
    bases = [ladder.base(levels) for ladder, levels in zip(lattice.ladders, offers, strict=True)]
    sizes = [ladder.size_at(base) for ladder, base in zip(lattice.ladders, bases, strict=True)]
    codes, counts = rolled_up(lattice.recode(codes, bases), counts, sizes)
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
    """Return the scores around a node with noise, the node's own first; together they have a loss of epsilon."""
    exact = scores_around(lattice, node, codes, counts, score)
    noise = discrete_laplace(len(exact), noise_around(lattice, score, epsilon), source)
    return {place: value + int(added) for (place, value), added in zip(exact.items(), noise, strict=True)}

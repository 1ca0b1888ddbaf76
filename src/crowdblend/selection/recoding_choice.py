"""A choice of a recoding as one value: what it claims is read off the parameters that it runs with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import composition, selection
from crowdblend.errors import InvalidInput
from crowdblend.numerics.balls import precision, round_down
from crowdblend.randomness import ReleaseKey
from crowdblend.selection.around import most_around, noise_around, noisy_scores_around
from crowdblend.selection.lattice import Lattice, Node
from crowdblend.selection.scores import Score
from crowdblend.selection.search import Search

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
    def step_epsilon(self) -> float:
        """The loss of each choice; all of them together stay within epsilon."""
        if self.search.steps == 1:
            return self.epsilon
        with precision(128):
            return round_down(arb(self.epsilon) / self.search.steps)

    def claim(self) -> Derivation:
        """What choosing and showing guarantee: one step for every choice, and one for the noisy scores."""
        bounded = self._bounded()
        choice = selection.exponential_choice(bounded, epsilon=self.step_epsilon)
        steps = [choice] * self.search.steps
        if self.show_epsilon is not None:
            noise_around(self.lattice, self.score, self.show_epsilon)
            shown = most_around(self.lattice.shape)
            steps.append(selection.noisy_scores(bounded, epsilon=self.show_epsilon, dimension=shown))
        return composition.steps_add_up(*steps) if len(steps) > 1 else choice

    def run(
        self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey
    ) -> ChosenRecoding:
        """The level of every column, and noisy scores around it if they were paid.

        `lattice` is the declared one over the labels that occur: levels and weights are the same, so that a person
        moves its scores no further than the claim says.
        """
        return self.several(lattice, codes, counts, key, 1)[0]

    def several(
        self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey, times: int
    ) -> list[ChosenRecoding]:
        """So many independent choices of the same people, for rehearsals."""
        if (lattice.shape, lattice.most) != (self.lattice.shape, self.lattice.most):
            raise InvalidInput(
                "The lattice has other levels or weights than the claim.",
                remedy="Build both from the same columns.",
                where="lattice",
                code="selection.lattice",
            )
        nodes = self.search.several(
            lattice, codes, counts, self.score, epsilon=self.step_epsilon, source=key.source(_CHOICE), times=times
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

    def _bounded(self) -> Derivation:
        """How far one person moves a score: computed where the score is known, else as it was read off the score."""
        known, most = self.score.published, self.lattice.most
        moves = self.score.sensitivity(most)
        if known is None:
            return selection.score_is_stated(sensitivity=float(moves), monotone=self.score.monotone)
        return selection.expected_people_bound_a_score(
            counted_from=known.counted_from, rate=known.rate, stands_for=known.stands_for, parts=self.score.parts(most)
        )

"""Searching a lattice: one choice among all nodes, or several smaller ones, each among the nodes of a sub-lattice.

A `RecodingChoice` is the search as one value: what it claims is read off the parameters that it runs with.

A search in steps begins at the node in the middle. Every step frees some columns and chooses among all combinations of
their levels, the other columns staying as they are. Which columns a step frees depends on the shape of the lattice
alone; which levels the other columns have is what the steps before have chosen.

Theorem. If every step is an ε-differentially private choice given the node it starts from, n steps are nε-private,
all their results published.

Proof. The first step's candidates do not depend on the data. Given the results so far, the candidates of the next step
do not either, so the probability of its result changes by a factor within e^{±ε}, and that of all results by the
product of n such factors. ∎
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.planning.certified_choice import CertifiedChoice, ExpectedPeople
from crowdblend.methods.recoding.code_rows import rolled_up
from crowdblend.methods.selection.exponential import choose_several
from crowdblend.methods.selection.lattice import Lattice, Node
from crowdblend.methods.selection.scores import Score
from crowdblend.methods.selection.scoring import score_nodes
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.randomness import ReleaseKey
from crowdblend.trusted.randomness.source import Source

# Larger lattices are searched in steps.
LARGEST_WHOLE = 200_000
# A step frees as many columns as have at most this many combinations of levels.
LARGEST_STEP = 5_000
# Every step is one in the certificate, which has an end.
MOST_STEPS = 100

Offer = tuple[tuple[int, ...], ...]
"""By column, the levels that a choice is among."""


@dataclass(frozen=True)
class Search:
    """The columns whose levels are chosen, by step.

    >>> Search.in_steps((5, 4, 4, 1, 5, 4, 4))
    Search(shape=(5, 4, 4, 1, 5, 4, 4), free=((0, 1, 2, 4, 5), (6, 0, 1, 2, 4), (5, 6, 0, 1, 2)))
    >>> Search.in_steps((5, 4), 3).free
    ((0, 1), (0, 1), (0, 1))
    """

    shape: tuple[int, ...]
    free: tuple[tuple[int, ...], ...]

    @classmethod
    def whole(cls, shape: tuple[int, ...]) -> Search:
        """One choice among all nodes."""
        return cls(shape, (tuple(range(len(shape))),))

    @classmethod
    def in_steps(cls, shape: tuple[int, ...], steps: int | None = None) -> Search:
        """Choices among sub-lattices; unless stated half as many again as free every column once.

        The first columns were chosen while the others stood in the middle, and get a second say.
        """
        once = cls.once_around(shape)
        turns = max(once, min(math.ceil(1.5 * once), MOST_STEPS)) if steps is None else steps
        return cls(shape, tuple(islice(_turns(shape), turns)))

    @staticmethod
    def once_around(shape: tuple[int, ...]) -> int:
        """Return the number of steps that free every column once."""
        waiting = {column for column, levels in enumerate(shape) if levels > 1}
        for step, free in enumerate(_turns(shape)):
            waiting -= set(free)
            if not waiting:
                return step + 1
        raise AssertionError("turns go on for ever")

    @property
    def steps(self) -> int:
        """The number of choices made."""
        return len(self.free)

    @property
    def start(self) -> Node:
        """The node in the middle."""
        return tuple(levels // 2 for levels in self.shape)

    def offer(self, step: int, node: Node) -> Offer:
        """Return the levels that a step chooses among from a node on."""
        return tuple(
            tuple(range(self.shape[column])) if column in self.free[step] else (level,)
            for column, level in enumerate(node)
        )

    def several(
        self,
        lattice: Lattice,
        codes: NDArray[np.int32],
        counts: NDArray[np.int64],
        score: Score,
        *,
        epsilon: float,
        source: Source,
        times: int,
    ) -> list[Node]:
        """Return the nodes that the last step chooses in this many independent runs, each step with a loss of epsilon.

        Rehearsals run many on the same data, whose nodes are scored once.
        """
        bound, nodes = score.sensitivity(lattice.most), [self.start] * times
        for step in range(self.steps):
            alike: dict[Node, list[int]] = {}
            for run, node in enumerate(nodes):
                alike.setdefault(node, []).append(run)
            for node, runs in alike.items():
                offer = self.offer(step, node)
                scores = score_offer(lattice, offer, codes, counts, score).tolist()
                places = choose_several(
                    scores, len(runs), epsilon=epsilon, sensitivity=bound, monotone=True, source=source
                )
                chosen = {}
                for place in set(places):
                    levels_at = np.unravel_index(place, [len(levels) for levels in offer])
                    chosen[place] = tuple(levels[int(at)] for levels, at in zip(offer, levels_at, strict=True))
                for run, place in zip(runs, places, strict=True):
                    nodes[run] = chosen[place]
        return nodes


def _turns(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Columns one after the other, round and round, as many at a time as a step may free."""
    waiting = [column for column, levels in enumerate(shape) if levels > 1]
    while True:
        combinations = np.cumprod([float(shape[column]) for column in waiting])
        free = tuple(waiting[: max(1, int((combinations <= LARGEST_STEP).sum()))])
        yield free
        waiting = [*waiting[len(free) :], *free]


def score_offer(
    lattice: Lattice, offer: Offer, codes: NDArray[np.int32], counts: NDArray[np.int64], score: Score
) -> NDArray[np.int64]:
    """Return the scores of all nodes of an offer, the last column's levels fastest."""
    finest = tuple(ladder.base(levels) for ladder, levels in zip(lattice.ladders, offer, strict=True))
    ladders = [ladder.offering(levels) for ladder, levels in zip(lattice.ladders, offer, strict=True)]
    if any(finest):
        codes, counts = rolled_up(lattice.recode(codes, finest), counts, [len(ladder.maps[0]) for ladder in ladders])
    return score_nodes(Lattice(tuple(ladders)), codes, counts, score)


_CHOICE = b"choosing the recoding"


@dataclass(frozen=True, eq=False)
class RecodingChoice:
    """The choice among the recodings of a declared lattice; all choices of the search together lose `epsilon`."""

    lattice: Lattice
    score: Score
    search: Search
    epsilon: float

    @cached_property
    def certified_choice(self) -> CertifiedChoice:
        """The certified choice, which is written into the facts of a release."""
        known, parts = self.score.published, self.score.parts(self.lattice.most)
        bound = ExpectedPeople(known.counted_from, known.rate, known.stands_for, parts)
        return CertifiedChoice(bound, self.epsilon, self.search.steps)

    def claim(self) -> Derivation:
        """Return the guarantee of choosing."""
        return self.certified_choice.claim()

    def run(self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey) -> Node:
        """Return the level of every column.

        `lattice` is the declared one over the labels that occur: levels and weights are the same, so that a person
        moves its scores no further than the claim says.
        """
        return self.several(lattice, codes, counts, key, 1)[0]

    def several(
        self, lattice: Lattice, codes: NDArray[np.int32], counts: NDArray[np.int64], key: ReleaseKey, times: int
    ) -> list[Node]:
        """Return independent choices of the same people, for rehearsals."""
        if (lattice.shape, lattice.most) != (self.lattice.shape, self.lattice.most):
            message = "The lattice has other levels or weights than the claim."
            remedy = "Build both from the same columns."
            raise InvalidInput(message, remedy=remedy, where="lattice", code="selection.lattice")
        return self.search.several(
            lattice,
            codes,
            counts,
            self.score,
            epsilon=self.certified_choice.step_epsilon,
            source=key.source(_CHOICE),
            times=times,
        )

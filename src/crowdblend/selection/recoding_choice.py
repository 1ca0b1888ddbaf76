"""A choice of a recoding as one value: what it claims is read off the parameters that it runs with."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.planning.certified_choice import CertifiedChoice, ExpectedPeople
from crowdblend.randomness import ReleaseKey
from crowdblend.selection.lattice import Lattice, Node
from crowdblend.selection.scores import Score
from crowdblend.selection.search import Search

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

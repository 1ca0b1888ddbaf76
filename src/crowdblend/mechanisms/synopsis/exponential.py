"""The paper's own synopsis for tiny universes: one table of synthetic rows, chosen among all (BLR08; ZKP 4.2).

Rules synopsis.exponential and synopsis.exponential-useful. Every multiset of `rows` rows is a candidate, scored by its
largest error on the class, in whole numbers: |k·(rows that satisfy q) − rows·(people who do)|, which one person of k
moves by at most `rows`. The choice is exact.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms
from crowdblend.designs import Claims
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.mechanisms.synopsis.fitted_synopsis import Synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass, Table
from crowdblend.randomness import Source, permutation
from crowdblend.selection.exponential import choose_several

MOST_CANDIDATES = 50_000
_PIECE = 4_096


def candidates_of(universe: int, rows: int) -> int:
    """Return the number of multisets of rows."""
    return math.comb(universe + rows - 1, rows)


@dataclass(frozen=True)
class ExponentialSynopsis(Claims):
    """Chooses a table of `rows` rows with probability proportional to e^{−epsilon·people·error/2}."""

    queries: QueryClass
    epsilon: float
    rows: int

    def __post_init__(self) -> None:
        found = candidates_of(self.queries.universe, self.rows)
        if found > MOST_CANDIDATES:
            raise InvalidInput(
                f"There are {found:,} candidate tables to choose from, more than {MOST_CANDIDATES:,}. "
                "Publish fewer rows or recode the columns more coarsely.",
                where="rows",
                code="synopsis.candidates",
            )

    def claim(self) -> Derivation:
        """One replaced person moves every score by at most `rows`, which the choice is calibrated to."""
        return mechanisms.synopsis_exponential(epsilon=self.epsilon)

    @cached_property
    def candidates(self) -> NDArray[np.int64]:
        """Every table of that many rows, as its cells in rising order."""
        every = combinations_with_replacement(range(self.queries.universe), self.rows)
        return np.array(list(every), np.int64)

    def scores(self, sample: Table, people: int) -> list[int]:
        """Return the score of every candidate, at most 0."""
        satisfied = self.queries.matrix()
        wanted = self.rows * (satisfied @ sample.ravel())
        worst: list[int] = []
        for start in range(0, len(self.candidates), _PIECE):
            held = satisfied[:, self.candidates[start : start + _PIECE]].sum(axis=2)
            worst += np.abs(people * held - wanted[:, None]).max(axis=0).tolist()
        return [-error for error in worst]

    def publish(self, sample: Table, people: int, source: Source) -> Synopsis:
        """Return the chosen table, its rows in random order; people is k, concealed ones included."""
        return self.choose(self.scores(sample, people), source)[0]

    def choose(self, scores: list[int], source: Source, times: int = 1) -> list[Synopsis]:
        """Return tables chosen by their scores, their rows in random order."""
        places = choose_several(
            scores, times, epsilon=self.epsilon, sensitivity=self.rows, monotone=False, source=source
        )
        return [Synopsis(self.candidates[place][permutation(self.rows, source)]) for place in places]

"""Tiny lattices and the plain way to score them."""

from itertools import product
from typing import NamedTuple

import numpy as np

from crowdblend.methods.selection.lattice import Ladder, Lattice, Node
from crowdblend.methods.selection.scores import Score


def ladder(name: str, *levels: list[int], weight: float = 1.0) -> Ladder:
    return Ladder(name, tuple(np.array(level) for level in levels), weight=weight)


# Finest classes in an order in which the coarser ones are not in one piece.
PLACE = ladder("place", [0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 0, 0])
SEX = ladder("sex", [0, 1], [0, 0], weight=0.5)
FIXED = ladder("fixed", [0, 1, 2])
# Days, weeks that tear months apart, months, and all of it; each in the order of the days.
DAYS = Ladder(
    "days",
    tuple(map(np.array, ([0, 1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 2], [0] * 7))),
    nested=False,
)
SMALL = Lattice((PLACE, SEX))
THREE = Lattice((SEX, PLACE, FIXED))
WEEKS = Lattice((SEX, DAYS, PLACE))


def nodes(lattice: Lattice) -> list[Node]:
    return list(product(*map(range, lattice.shape)))


class AnyScore(NamedTuple):
    """A score that rises or falls as its values say."""

    name: str
    values: np.ndarray
    slope: int
    weighted: bool = False

    def exponent(self, epsilon: float) -> float:
        """What a score is multiplied with in the exponential mechanism."""
        steps = [*np.diff(self.values).tolist(), self.slope]
        most = max(map(abs, steps)) * (SMALL.most if self.weighted else 1)
        return epsilon / (most if min(steps) >= 0 else 2 * most)


def plainly(lattice: Lattice, codes: np.ndarray, counts: np.ndarray, score: Score | AnyScore) -> list[int]:
    """Every node from the rows themselves, one class at a time."""
    found = []
    for node in nodes(lattice):
        sizes: dict[tuple[int, ...], int] = {}
        for row, count in zip(lattice.recode(codes, node).tolist(), counts.tolist(), strict=True):
            sizes[tuple(row)] = sizes.get(tuple(row), 0) + count
        total = 0
        for row, size in sizes.items():
            parts = sum(
                int(each.kept_parts(level)[code]) for each, level, code in zip(lattice.ladders, node, row, strict=True)
            )
            beyond = max(0, size - len(score.values) + 1)
            value = int(score.values[min(size, len(score.values) - 1)]) + beyond * score.slope
            total += value * (parts if score.weighted else 1)
        found.append(total)
    return found


def table_of(cells: dict[tuple[int, ...], int], columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and counts of the classes that somebody has."""
    held = {row: count for row, count in cells.items() if count}
    return np.array(list(held), dtype=np.int32).reshape(-1, columns), np.array(list(held.values()), dtype=np.int64)

"""What a simulator is, and the aggregate information RS(k)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdblend.randomness import Source, distinct

# A row for every person: what that person adds to each total. A concealed row adds nothing.
Rows = NDArray[np.int64]


class Simulator(Protocol):
    """Makes up a publication from aggregate information alone."""

    def simulate(self, aggregate_information: Any, source: Source) -> Any:
        """An output whose law is close to that of the mechanism on the whole table."""


@dataclass(frozen=True)
class RandomRows:
    """RS(k): k rows drawn uniformly without replacement, and nothing of the others but how many rows there are."""

    samples: int

    def look(self, table: Rows, source: Source) -> Rows:
        """The rows that a simulator may see. The caller conceals the person's row beforehand."""
        return table[distinct(self.samples, len(table), source)]


def concealed(table: Rows, person: int) -> Rows:
    """The table with one person's row concealed."""
    hidden = table.copy()
    hidden[person] = 0
    return hidden

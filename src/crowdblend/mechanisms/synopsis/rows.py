"""Synthetic rows from a distribution, and how far they are from it. Post-processing, so drawing again costs nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdblend.mechanisms.synopsis.queries import QueryClass, Table
from crowdblend.randomness import Source, distinct, permutation

Cells = NDArray[np.int64]
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
        places = _evenly(rows, source) if draw == 0 else _independent(rows, source)
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


def _evenly(rows: int, source: Source) -> NDArray[np.float64]:
    return (np.arange(rows) + _independent(1, source)) / rows


def _independent(rows: int, source: Source) -> NDArray[np.float64]:
    return (source.words(rows) >> np.uint64(11)) / float(1 << 53)

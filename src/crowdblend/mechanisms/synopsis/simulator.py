"""The simulator of ZKP Proposition 16 as code: it never sees the table, only k random rows with one person concealed.

Sampling and sanitizing is itself a computation on k random rows, so the simulator is the same sanitizer, run on what
the aggregate hands out: k rows drawn from the table in which the person's row is ⊥, here the cell −1, which satisfies
no query. So the release tells, up to a factor e^ε, what those rows tell.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.synopsis.fitted_synopsis import Synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass, Table
from crowdblend.mechanisms.synopsis.rows import Cells, count_rows
from crowdblend.randomness import Source, distinct

CONCEALED = -1


class Sanitizer(Protocol):
    """A synopsis mechanism that runs on a sample."""

    @property
    def queries(self) -> QueryClass:
        """The class it answers."""

    def publish(self, sample: Table, people: int, source: Source) -> Synopsis:
        """Synthetic rows about a sample of that many people, given as counts of the cells of the universe."""


def random_samples(table: Cells, samples: int, source: Source) -> Cells:
    """RS(k): exactly that many rows of a table, uniformly and without replacement.

    In rising order of their places; everything here counts rows and so ignores their order.
    """
    if not 0 <= samples <= len(table):
        message = f"samples must be between 0 and the {len(table)} rows of the table, got {samples}."
        raise InvalidInput(message, where="samples", code="synopsis.samples")
    return table[distinct(samples, len(table), source)]


def random_samples_of_counts(cells: Cells, counts: NDArray[np.int64], samples: int, source: Source) -> Cells:
    """The same draw from a table that holds each cell this many times, without writing it out.

    How many of each cell are drawn is multivariate hypergeometric: the places are a uniformly random set of places.
    """
    places = distinct(samples, int(counts.sum()), source)
    drawn: Cells = cells[np.searchsorted(np.cumsum(counts), places, side="right")]
    return drawn


def release(sanitizer: Sanitizer, table: Cells, samples: int, source: Source) -> Synopsis:
    """Sample and sanitize: the release about a table of people."""
    return sanitize(sanitizer, random_samples(table, samples, source), source)


def sanitize(sanitizer: Sanitizer, cells: Cells, source: Source) -> Synopsis:
    """Return the simulator: what it makes of drawn rows, one of which may be concealed."""
    return sanitizer.publish(count_rows(cells, sanitizer.queries.shape), len(cells), source)


def concealing(table: Cells, person: int) -> Cells:
    """Return the table with one person's data concealed: what the aggregate is computed from."""
    hidden = np.array(table, np.int64)
    hidden[person] = CONCEALED
    return hidden

"""Rows drawn from a mixture so that their tables are those of the model, as nearly as whole rows can be.

Independent rows would lose most of the fit again. Sorts of people get their share of the rows, and within a sort every
column has its labels in their shares, in a random order. Then single labels are changed where that brings all tables
of two columns closer to what they should be, to labels that the sort of the row has anyway.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from crowdblend.publishing.synthesis.model import Mixture, Places
from crowdblend.publishing.synthesis.tables import Codes, Floats

# Passes over all columns, and the rows of which a label may change in each.
_PASSES, _TRIED = 30, 1_000
# The least share of a label among people of a sort that rows of the sort may change to.
_LEAST_SHARE = 1e-3


def draw_rows(mixture: Mixture, pairs: Floats, rows: int, random: np.random.Generator) -> Codes:
    """Return that many rows in random order: the place of its label in every column.

    `pairs` has the people with any two labels, as tables of the rows should have them.
    """
    shares = np.cumsum(mixture.weights) / mixture.weights.sum()
    sorts = np.searchsorted(shares[:-1], (np.arange(rows) + random.random()) / rows, side="right")
    labels = _spread(mixture, sorts, random) + mixture.starts
    _change(labels, sorts, mixture, pairs * (rows / mixture.weights.sum()), random)
    return random.permutation((labels - mixture.starts).astype(np.int32))


def _spread(mixture: Mixture, sorts: Places, random: np.random.Generator) -> Places:
    """Return labels for rows that are ordered by their sort: those of a sort are evenly spaced in every column."""
    rows, every = len(sorts), np.arange(len(mixture.weights))
    first, people = np.searchsorted(sorts, every), np.maximum(np.bincount(sorts, minlength=len(every)), 1)
    codes = np.empty((rows, len(mixture.sizes)), np.int64)
    for at, column in enumerate(mixture.columns):
        ranks = np.empty(rows, np.int64)
        ranks[np.lexsort((random.random(rows), sorts))] = np.arange(rows)
        places = (ranks - first[sorts] + random.random(len(every))[sorts]) / people[sorts]
        # One search for all sorts: the ends of the labels of sort k lie between k and k + 1.
        ends = every[:, None] + np.cumsum(mixture.of_column(column), axis=1)[:, :-1]
        found = np.searchsorted(ends.ravel(), sorts + places, side="right") - sorts * (mixture.sizes[at] - 1)
        codes[:, at] = np.clip(found, 0, mixture.sizes[at] - 1)
    return codes


def _change(labels: Places, sorts: Places, mixture: Mixture, target: Floats, random: np.random.Generator) -> None:
    """Change labels of rows where tables of two columns come closer to the target ones."""
    rows, columns = labels.shape
    if columns < 2:
        return
    off = _pairs(labels, mixture) - target
    for at in list(range(columns)) * _PASSES:
        own = slice(mixture.starts[at], mixture.starts[at] + mixture.sizes[at])
        some = np.unique(random.integers(0, rows, min(rows, _TRIED)))
        others = np.delete(labels[some], at, axis=1)
        # Squared errors fall by twice the errors of the cells that are left, less those of the cells that are entered.
        errors = off[:, own][others].sum(axis=1)
        old, every = labels[some, at] - own.start, np.arange(len(some))
        before = errors[every, old]
        errors[mixture.probabilities[sorts[some], own] < _LEAST_SHARE] = np.inf
        new = errors.argmin(axis=1)
        gain = before - errors[every, new] - (columns - 1)
        order = np.argsort(-gain)
        order = order[(gain[order] > 0) & (new[order] != old[order])]
        # One row for any two labels, the one that gains most: others would change what is no longer wrong.
        best = order[np.unique(old[order] * mixture.sizes[at] + new[order], return_index=True)[1]]
        labels[some[best], at] = new[best] + own.start
        beside = others[best]
        for label, sign in ((old[best], -1), (new[best], 1)):
            here = np.broadcast_to((label + own.start)[:, None], beside.shape)
            np.add.at(off, (here, beside), sign)
            np.add.at(off, (beside, here), sign)


def _pairs(labels: Places, mixture: Mixture) -> Floats:
    """Return how many rows have any two labels of different columns."""
    counted = np.zeros((len(mixture.probabilities[0]),) * 2)
    ends = mixture.starts + mixture.sizes
    for at, other in combinations(range(labels.shape[1]), 2):
        shape = mixture.sizes[at], mixture.sizes[other]
        cells = (labels[:, at] - mixture.starts[at]) * shape[1] + labels[:, other] - mixture.starts[other]
        here, there = (slice(mixture.starts[one], ends[one]) for one in (at, other))
        counted[here, there] = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        counted[there, here] = counted[here, there].T
    return counted

"""Rows drawn from a mixture so that their tables are those of the model, as nearly as whole rows can be.

Independent rows would lose most of the fit again. Sorts of people get their share of the rows, and the labels of a row
are read off a scrambled Sobol sequence (Owen 1998), whose points are spread evenly in every pair of coordinates. Then
rows of one sort exchange labels where that brings the tables of two columns closer to the model; within a sort columns
are independent, so that every such exchange is as likely as not under the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdblend.lazy import lazy
from crowdblend.synthesis.model import Mixture, Places

if TYPE_CHECKING:
    from scipy.stats import qmc
else:
    qmc = lazy("scipy.stats.qmc")

Codes = NDArray[np.int32]
# Passes over all columns, and the share of the rows that may exchange a label in one step of the first and the last.
_PASSES, _FIRST, _LAST = 10, 0.2, 0.05


def draw_rows(mixture: Mixture, rows: int, random: np.random.Generator) -> Codes:
    """Return that many rows in random order: the place of its label in every column."""
    shares = np.cumsum(mixture.weights) / mixture.weights.sum()
    sorts = np.searchsorted(shares[:-1], (np.arange(rows) + random.random()) / rows, side="right")
    codes = _spread(mixture, sorts, random)
    _exchange(codes, sorts, mixture, random)
    return random.permutation(codes)


def _spread(mixture: Mixture, sorts: Places, random: np.random.Generator) -> Codes:
    """Return labels for rows that are ordered by their sort."""
    rows = len(sorts)
    sobol = qmc.Sobol(len(mixture.sizes), scramble=True, rng=random)
    points = sobol.random_base2(max(rows - 1, 0).bit_length())[:rows]
    ends = np.searchsorted(sorts, np.arange(len(mixture.weights) + 1))
    codes = np.empty((rows, len(mixture.sizes)), np.int32)
    for at, column in enumerate(mixture.columns):
        cumulated = np.cumsum(mixture.of_column(column), axis=1)[:, :-1]
        for one in np.flatnonzero(np.diff(ends)):
            here = slice(ends[one], ends[one + 1])
            codes[here, at] = np.searchsorted(cumulated[one], points[here, at], side="right")
    return codes


def _exchange(codes: Codes, sorts: Places, mixture: Mixture, random: np.random.Generator) -> None:
    """Exchange labels between rows of one sort where tables of two columns come closer to the model."""
    rows, columns = codes.shape
    if columns < 2:
        return
    labels = (codes + mixture.starts).astype(np.int64)
    off = -mixture.pairs * (rows / mixture.weights.sum())
    places = [slice(start, start + size) for start, size in zip(mixture.starts, mixture.sizes, strict=True)]
    for at in range(columns):
        for other in range(columns):
            off[places[at], places[other]] += _pairs(codes, at, other, mixture.sizes)
    for share in np.geomspace(_FIRST, _LAST, _PASSES):
        for at in range(columns):
            others = [other for other in range(columns) if other != at]
            some = np.flatnonzero(random.random(rows) < share)
            one, two = some[: len(some) // 2 * 2 : 2], some[1::2]
            fitting = (sorts[one] == sorts[two]) & (labels[one, at] != labels[two, at])
            one, two = one[fitting], two[fitting]
            own, their = labels[one, at][:, None], labels[two, at][:, None]
            beside, beyond = labels[one][:, others], labels[two][:, others]
            gain = off[own, beside] - off[their, beside] + off[their, beyond] - off[own, beyond] - 2
            better = np.where(beside == beyond, 0.0, gain).sum(axis=1) > 0
            one, two = one[better], two[better]
            labels[one, at], labels[two, at] = labels[two, at], labels[one, at]
            before = codes[:, at].copy()
            codes[:, at] = labels[:, at] - mixture.starts[at]
            moved = np.concatenate([one, two])
            for other in others:
                change = _table(codes[moved, at], codes[moved, other], mixture.sizes[at], mixture.sizes[other])
                change -= _table(before[moved], codes[moved, other], mixture.sizes[at], mixture.sizes[other])
                off[places[at], places[other]] += change
                off[places[other], places[at]] += change.T


def _pairs(codes: Codes, at: int, other: int, sizes: tuple[int, ...]) -> Places:
    return _table(codes[:, at], codes[:, other], sizes[at], sizes[other])


def _table(one: Codes, other: Codes, rows: int, columns: int) -> Places:
    """Return how many rows have any two labels."""
    counted: Places = np.bincount(one.astype(np.int64) * columns + other, minlength=rows * columns)
    return counted.reshape(rows, columns)

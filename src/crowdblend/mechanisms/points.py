"""Points moved by noise, where their block holds at least k (CBP 4; rules points.noisy and points.sampled).

Coordinates are whole numbers: cells of a grid of declared resolution. In a block of m₁ × … × m_d cells every coordinate
of every point is moved by discrete Laplace noise, on axis a with the loss ε/(d·(m_a − 1)) per cell, d counting the axes
on which the block has more than one cell.

Theorem. Two points of a block are told apart by a factor of at most e^ε.

Proof. They differ by at most m_a − 1 cells on axis a. Noise of loss λ at places that are r apart differs by a factor of
at most e^{λr}. The axes are independent, and Σ λ_a·(m_a − 1) = ε. On an axis with a single cell there is nothing to
tell. ∎

The loss is divided evenly between the axes whatever their units are. Where all sides of a block are equal this is
noise of scale diam₁/ε, as in CBP; rounding to the grid before is what the m_a − 1 in place of m_a accounts for.

Points leave sorted by what is published, so their order says nothing. Folding a point back into its block, like a strip
of paper, and cutting it off at the bounds depend on the noisy point and its block alone: post-processing of what the
theorems speak of, and a point is never carried further from where it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.randomness import KeyedSource, discrete_laplace
from crowdblend.recoding.blocks import Blocks

Keep = Literal["none", "bounds", "block"]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class PublishedPoints:
    """What leaves the house: the codes of what travels along, the block of each point, and its noisy cells.

    Rows are sorted by codes, then blocks if they are shown, then cells.
    """

    labels: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]
    blocks: Whole | None
    cells: Whole

    @property
    def points(self) -> int:
        """How many points are published."""
        return len(self.cells)


@dataclass(frozen=True)
class NoisyPoints:
    """Drops points of classes below k, and moves the others; `axes` says how many cells each coordinate has.

    A class is a block together with the labels of the columns that travel along.
    """

    k: int
    noise_epsilon: float
    blocks: Blocks
    axes: tuple[int, ...]
    keep_in: Keep = "none"
    show_blocks: bool = False

    def publish(self, sample: SampledClasses, key: bytes) -> PublishedPoints:
        """The noisy points of a sample whose last columns are the axes; the same key gives the same points."""
        codes, cells, blocks, counts = self._crowds(sample)
        rows = np.repeat(np.arange(len(counts)), counts)
        codes, cells, blocks = codes[rows], cells[rows], blocks[rows]
        for axis in range(len(self.axes)):
            self._move(cells, blocks, axis, key)
        order = _order([*codes.T.astype(np.int64), *([blocks] if self.show_blocks else []), *cells.T])
        labels, codes = _used(sample.labels[: codes.shape[1]], codes[order])
        return PublishedPoints(labels, codes, blocks[order] if self.show_blocks else None, cells[order])

    def _crowds(self, sample: SampledClasses) -> tuple[NDArray[np.int32], Whole, Whole, Whole]:
        """The classes of at least k points, cell by cell."""
        places = len(sample.columns) - len(self.axes)
        cells = sample.codes[:, places:].astype(np.int64)
        inside = (cells < np.array(self.axes)).all(axis=1)
        blocks = np.full(len(cells), -1, np.int64)
        blocks[inside] = self.blocks.of(cells[inside])
        kept = np.flatnonzero(blocks >= 0)
        # Classes come sorted by code, so that those of one crowd are found by sorting the little that tells them apart.
        crowd = _numbered([*sample.codes[kept, :places].T.astype(np.int64), blocks[kept]])
        large = np.bincount(crowd, sample.counts[kept])[crowd] >= self.k
        kept = kept[large]
        return sample.codes[kept, :places], cells[kept], blocks[kept], sample.counts[kept]

    def _move(self, cells: Whole, blocks: Whole, axis: int, key: bytes) -> None:
        """Noise on one axis, in place, shape after shape of the blocks."""
        first, sizes = self.blocks.first(blocks)[:, axis], self.blocks.size(blocks)
        moved = (sizes > 1).sum(axis=1)
        shape = sizes[:, axis] * (len(self.axes) + 1) + moved
        for kind in np.unique(shape):
            size, along = divmod(int(kind), len(self.axes) + 1)
            if size == 1:
                continue
            rows = slice(None) if len(sizes) == (shape == kind).sum() else np.flatnonzero(shape == kind)
            source = KeyedSource(key, b"points, axis %d, %d cells, %d axes" % (axis, size, along))
            count = len(cells) if isinstance(rows, slice) else len(rows)
            noisy = cells[rows, axis] + discrete_laplace(count, self.loss(size, along), source)
            cells[rows, axis] = self._kept(noisy, first[rows], size, self.axes[axis])

    def _kept(self, noisy: Whole, first: Whole, size: int, cells: int) -> Whole:
        if self.keep_in == "bounds":
            return np.clip(noisy, 0, cells - 1)
        if self.keep_in == "none":
            return noisy
        unfolded = (noisy - first) % (2 * size)
        folded: Whole = first + np.minimum(unfolded, 2 * size - 1 - unfolded)
        return folded

    def loss(self, size: int, along: int) -> Fraction:
        """The loss per cell on an axis along which a block has `size` cells, one of `along` axes with more than one."""
        return Fraction(self.noise_epsilon) / (along * (size - 1))

    def noise(self, shape: tuple[int, ...]) -> list[AxisNoise]:
        """The noise on every axis in a block of that many cells."""
        along = sum(size > 1 for size in shape)
        return [AxisNoise(float(self.loss(size, along)) if size > 1 else math.inf) for size in shape]


@dataclass(frozen=True)
class AxisNoise:
    """Discrete Laplace noise of some loss per cell; infinite loss is no noise."""

    loss: float

    @property
    def mean_distance(self) -> float:
        """How many cells a point moves on average."""
        a = math.exp(-self.loss)
        return 2 * a / (1 - a * a)

    @property
    def deviation(self) -> float:
        """The standard deviation, in cells."""
        a = math.exp(-self.loss)
        return math.sqrt(2 * a) / (1 - a)

    def reach(self, failure: float) -> int:
        """The smallest r with P[|Y| > r] ≤ failure: P[|Y| > r] = 2a^{r+1}/(1 + a)."""
        a = math.exp(-self.loss)
        if a == 0:
            return 0
        return max(0, math.ceil(math.log(failure * (1 + a) / 2) / math.log(a)) - 1)


def all_within(noise: list[AxisNoise], points: int, failure: float) -> list[int]:
    """Cells on each axis that none of `points` points moves beyond, except with probability `failure`.

    CBP Proposition 11 with the exact tails of the noise that is drawn, by the same union bound over points and axes:
    every function that changes by at most K when all points move by no more than this is then within K.
    """
    moving = sum(axis.loss < math.inf for axis in noise)
    return [axis.reach(failure / (points * max(moving, 1))) for axis in noise]


def _numbered(columns: list[Whole]) -> Whole:
    """Rows as numbers that are equal exactly when the rows are."""
    numbers = np.unique(columns[-1], return_inverse=True)[1].ravel()
    for column in columns[:-1]:
        found = np.unique(column, return_inverse=True)[1].ravel()
        numbers = np.unique(numbers * (int(found.max(initial=0)) + 1) + found, return_inverse=True)[1].ravel()
    return numbers


def _order(columns: list[Whole]) -> Whole:
    """The rows' sorted order; equal rows need none."""
    return np.lexsort(columns[::-1])


def _used(
    labels: tuple[tuple[str, ...], ...], codes: NDArray[np.int32]
) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
    """Labels cut to those that are published: others would say that somebody has them."""
    kept, renumbered = [], np.empty_like(codes)
    for place, known in enumerate(labels):
        used, renumbered[:, place] = np.unique(codes[:, place], return_inverse=True)
        kept.append(tuple(known[code] for code in used))
    return tuple(kept), renumbered

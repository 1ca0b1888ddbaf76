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
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms, programme, sampling
from crowdblend.designs import Claims
from crowdblend.estimates.laws import ExactCounts
from crowdblend.frozen import dataclass
from crowdblend.lazy import lazy_imports
from crowdblend.mechanisms.histograms import mean_noise
from crowdblend.mechanisms.mechanism import Crowd, Labels, Loss, Mechanism, SampledClasses, only_used
from crowdblend.randomness import ReleaseKey, add_discrete_laplace
from crowdblend.randomness.noise import SMALLEST_SHORT_EPSILON
from crowdblend.recoding.blocks import Blocks
from crowdblend.recoding.code_rows import runs

with lazy_imports():
    from concurrent import futures

Keep = Literal["none", "bounds", "block"]
Whole = NDArray[np.int64]
Places = NDArray[np.int32] | Whole
# Numbers up to here are counted in an array of their own.
MOST_NUMBERS = 1 << 25
# Points counted at once, so that what is made of them stays in the caches.
PIECE = 1 << 15
# Up to here numbers of 32 bits hold cells and noise below 2^30, and what folding makes of them.
MOST_SHORT_CELLS = 1 << 29


@dataclass(frozen=True)
class PublishedPoints:
    """The published points: codes of their labels, the block of each, and its noisy cells.

    Points with the same codes, block and cells are one row, and `counts` says how many they are. Rows are sorted by
    codes, then blocks if they are shown, then cells.
    """

    labels: Labels
    codes: NDArray[np.int32]
    blocks: Whole | None
    cells: tuple[Whole, ...]
    counts: Whole

    @property
    def points(self) -> int:
        """The number of published points."""
        return int(self.counts.sum())

    def one_by_one(self) -> PublishedPoints:
        """The same with a row for every point."""
        codes = np.repeat(self.codes, self.counts, axis=0)
        blocks = None if self.blocks is None else np.repeat(self.blocks, self.counts)
        cells = tuple(np.repeat(of_axis, self.counts) for of_axis in self.cells)
        return PublishedPoints(self.labels, codes, blocks, cells, np.ones(self.points, np.int64))


@dataclass(frozen=True)
class _Crowds:
    """Cells of classes that are published, and how many points are in them. Secret: nothing has moved yet."""

    codes: Whole
    cells: Whole
    blocks: Whole
    counts: Whole


class MovedPoints(Mechanism, frozen=True, tag="moved-points"):
    """Points of blocks of at least k, with noise that tells points of one block apart by a factor of at most e^ε."""

    k: Crowd
    noise_epsilon: Loss

    def claim(self) -> Derivation:
        """Points of one block are told apart by a factor of at most e^noise_epsilon; sparse blocks are not shown."""
        return mechanisms.points_noisy(k=self.k, noise_epsilon=self.noise_epsilon)

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation:
        """Sampling hides how many of a block were drawn, and the shuffled noisy points whose they are."""
        return sampling.points_sampled(k=self.k, noise_epsilon=self.noise_epsilon, rate=rate, epsilon=epsilon)

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """The same on a part of a sample."""
        return programme.points_in_a_part(k=self.k, noise_epsilon=self.noise_epsilon, share=share)

    @property
    def law(self) -> ExactCounts:
        return ExactCounts(self.k)

    def loss(self, size: int, along: int) -> Fraction:
        """The loss per cell on an axis along which a block has `size` cells, one of `along` axes with more than one."""
        return Fraction(self.noise_epsilon) / (along * (size - 1))

    def noise(self, shape: Sequence[int]) -> list[AxisNoise]:
        """Return the noise on every axis in a block of that many cells."""
        along = sum(size > 1 for size in shape)
        return [AxisNoise(float(self.loss(size, along)) if size > 1 else math.inf) for size in shape]


@dataclass(frozen=True)
class NoisyPoints(Claims):
    """Drops points of classes below k, and moves the others; `axes` says how many cells each coordinate has.

    A class is a block together with the labels of the columns that travel along.
    """

    k: int
    noise_epsilon: float
    blocks: Blocks
    axes: tuple[int, ...]
    keep_in: Keep = "none"
    show_blocks: bool = False

    def publish(self, sample: SampledClasses, key: ReleaseKey) -> PublishedPoints:
        """Return the noisy points of a sample whose last columns are the axes; the same key gives the same points."""
        crowds = self._crowds(sample)
        counts = crowds.counts
        # Each axis has streams of its own, and so does not mind a thread of its own.
        with futures.ThreadPoolExecutor(len(self.axes)) as threads:
            moved = [*threads.map(lambda axis: self._move_points(crowds, axis, key), range(len(self.axes)))]
        shown = [np.repeat(crowds.blocks, counts)] if self.show_blocks else []
        rows, times = _count_rows([*(np.repeat(codes, counts) for codes in crowds.codes.T), *shown, *moved])
        places = crowds.codes.shape[1]
        along = np.column_stack(rows[:places]) if places else np.empty((len(times), 0), np.int64)
        labels, codes = only_used(sample.labels[:places], along)
        return PublishedPoints(labels, codes, rows[places] if shown else None, tuple(rows[-len(self.axes) :]), times)

    @property
    def moved_points(self) -> MovedPoints:
        """The certified mechanism: the crowds and the noise."""
        return MovedPoints(self.k, self.noise_epsilon)

    def claim(self) -> Derivation:
        """Return the guarantee of the crowds and the noise."""
        return self.moved_points.claim()

    def _crowds(self, sample: SampledClasses) -> _Crowds:
        """Return the classes of at least k points, cell by cell."""
        places = len(sample.columns) - len(self.axes)
        cells = sample.codes[:, places:].astype(np.int64)
        inside = np.ones(len(cells), np.bool_)
        for axis, size in enumerate(self.axes):
            inside &= cells[:, axis] < size
        blocks = np.full(len(cells), -1, np.int64)
        blocks[inside] = self.blocks.of(cells if inside.all() else cells[inside])
        kept = np.flatnonzero(blocks >= 0)
        sizes = [len(labels) for labels in sample.labels[:places]]
        crowd = _number_rows([*sample.codes[kept, :places].T, blocks[kept]], [*sizes, self.blocks.count])
        large = np.bincount(crowd, sample.counts[kept])[crowd] >= self.k
        kept = kept[large]
        codes = sample.codes[kept, :places].astype(np.int64)
        return _Crowds(codes, cells.take(kept, axis=0), blocks[kept], sample.counts[kept])

    def _move_points(self, crowds: _Crowds, axis: int, key: ReleaseKey) -> Places:
        """Return every point's place on one axis after noise, shape after shape of the blocks."""
        kind, cells = self._kind_of_places(crowds, axis), self.axes[axis]
        places = np.repeat(crowds.cells[:, axis].astype(kind), crowds.counts)
        first = self.blocks.first(crowds.blocks)[:, axis].astype(kind) if self.keep_in == "block" else None
        for size, moving, chosen in self._shapes(crowds, axis):
            if size == 1:
                continue
            source = key.source(b"points, axis %d, %d cells, %d axes" % (axis, size, moving))
            noisy = places[chosen]
            add_discrete_laplace(noisy, self.moved_points.loss(size, moving), source)
            if self.keep_in == "bounds":
                np.clip(noisy, 0, cells - 1, out=noisy)
            if first is not None:
                noisy = _fold(noisy, np.repeat(first, crowds.counts)[chosen], size)
            if noisy.base is not places:  # else they were moved where they are
                places[chosen] = noisy
        return places

    def _kind_of_places(self, crowds: _Crowds, axis: int) -> type[np.int32 | np.int64]:
        """Return numbers of 32 bits for places if they are enough for the noise in the largest block."""
        same = self.blocks.same_size
        largest = int(self.blocks.size(crowds.blocks)[:, axis].max(initial=1)) if same is None else same[axis]
        strong = largest > 1 and self.moved_points.loss(largest, len(self.axes)) < SMALLEST_SHORT_EPSILON
        return np.int64 if strong or self.axes[axis] > MOST_SHORT_CELLS else np.int32

    def _shapes(self, crowds: _Crowds, axis: int) -> Iterator[tuple[int, int, slice | Whole]]:
        """Yield each shape of blocks: cells on this axis, axes with several cells, and its points."""
        if self.blocks.same_size is not None:
            yield self.blocks.same_size[axis], sum(size > 1 for size in self.blocks.same_size), slice(None)
            return
        sizes = self.blocks.size(crowds.blocks)
        shapes = sizes[:, axis] * (len(self.axes) + 1) + (sizes > 1).sum(axis=1)
        of_points = np.repeat(shapes, crowds.counts)
        for shape in np.unique(shapes).tolist():
            yield *divmod(shape, len(self.axes) + 1), np.flatnonzero(of_points == shape)


@dataclass(frozen=True)
class AxisNoise:
    """Discrete Laplace noise of some loss per cell; infinite loss is no noise."""

    loss: float

    side: float = math.inf
    """How many cells there are to move in; less noise than would fill them is hardly changed by being folded."""

    def within(self, side: int) -> AxisNoise:
        """The same noise on points that are folded back into a block of this many cells."""
        return AxisNoise(self.loss, float(side))

    @property
    def mean_distance(self) -> float:
        """The mean number of cells that a point moves; approximate where it is folded."""
        return min(mean_noise(self.loss), self.side / 3)

    @property
    def deviation(self) -> float:
        """The standard deviation, in cells; about, where it is folded."""
        a = math.exp(-self.loss)
        return min(math.sqrt(2 * a) / (1 - a), self.side / math.sqrt(6))

    def reach(self, failure: float) -> int:
        """Return the smallest r with P[|Y| > r] ≤ failure: P[|Y| > r] = 2a^{r+1}/(1 + a)."""
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


def _fold(noisy: Places, first: Places, size: int) -> Places:
    """Return places folded back into blocks of this many cells, which begin at `first`."""
    unfolded = (noisy - first) % (2 * size)
    folded: Places = first + np.minimum(unfolded, 2 * size - 1 - unfolded)
    return folded


def _number_rows(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Whole:
    """Rows as numbers from 0 that are equal exactly when the rows are; each column is below its size."""
    numbers = np.zeros(len(columns[0]), np.int64)
    most = 1
    for column, size in zip(columns, sizes, strict=True):
        if most * size > MOST_NUMBERS:  # close the gaps
            numbers = np.unique(numbers, return_inverse=True)[1].ravel()
            column = np.unique(column, return_inverse=True)[1].ravel()  # noqa: PLW2901
            most, size = int(numbers.max(initial=0)) + 1, int(column.max(initial=0)) + 1  # noqa: PLW2901
        numbers = numbers * size + column
        most *= size
    return numbers if most <= MOST_NUMBERS else np.unique(numbers, return_inverse=True)[1].ravel()


def _count_rows(columns: Sequence[Places]) -> tuple[Sequence[Whole], Whole]:
    """Return the different rows in sorted order, and how often each occurs; what is in the columns is lost.

    Where rows fit into one number that is quick, and by counting quicker still.
    """
    lowest = [int(column.min(initial=0)) for column in columns]
    spans = [int(column.max(initial=0)) - low + 1 for column, low in zip(columns, lowest, strict=True)]
    most, rows = math.prod(spans), len(columns[0])
    if most >= 2**63:
        order = np.lexsort(columns[::-1])
        return runs(tuple(column[order].astype(np.int64) for column in columns))
    if most <= max(MOST_NUMBERS, 4 * rows):
        counts = np.zeros(most, np.int64)
        for start in range(0, rows, PIECE):
            np.add.at(counts, _numbers([column[start : start + PIECE] for column in columns], lowest, spans), 1)
        numbers = np.flatnonzero(counts)
        times = counts[numbers]
    else:
        numbers = _numbers(columns, lowest, spans)
        numbers.sort()
        (numbers,), times = runs((numbers,))
    different = []
    for low, span in zip(reversed(lowest), reversed(spans), strict=True):
        before = numbers // span
        different.append(numbers - before * span + low)
        numbers = before
    return different[::-1], times


def _numbers(columns: Sequence[Places], lowest: Sequence[int], spans: Sequence[int]) -> Whole:
    """Rows as numbers in mixed radix; they take the place of a first column of 64 bits."""
    numbers = columns[0].astype(np.int64, copy=False)
    numbers -= lowest[0]
    for column, low, span in zip(columns[1:], lowest[1:], spans[1:], strict=True):
        numbers *= span
        numbers += column
        numbers -= low
    return numbers

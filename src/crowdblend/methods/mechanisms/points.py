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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs import Claims
from crowdblend.methods.estimates.laws import ExactCounts
from crowdblend.methods.mechanisms.histograms import mean_noise
from crowdblend.methods.mechanisms.mechanism import Crowd, Labels, Mechanism, SampledClasses, only_used
from crowdblend.methods.mechanisms.numbered_rows import RowCounter, number_rows
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.methods.recoding.blocks import Blocks
from crowdblend.methods.recoding.code_rows import repeat_rows
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms, programme, sampling
from crowdblend.trusted.randomness import LaplaceStream, ReleaseKey
from crowdblend.trusted.randomness.noise import BLOCK

Keep = Literal["none", "bounds", "block"]
Whole = NDArray[np.int64]
Codes = NDArray[np.int32]
# Points moved at once: what is made of them stays in the caches, and as many are drawn together.
PIECE = BLOCK
# With this probability a point goes further than is expected, and is counted more slowly.
FAR = 1e-12


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

    codes: Codes
    cells: Codes
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
        rows, times = self._count_moved(crowds, key)
        places = crowds.codes.shape[1]
        along = np.column_stack(rows[:places]) if places else np.empty((len(times), 0), np.int64)
        labels, codes = only_used(sample.labels[:places], along)
        shown = rows[places] if self.show_blocks else None
        return PublishedPoints(labels, codes, shown, tuple(rows[-len(self.axes) :]), times)

    def _count_moved(self, crowds: _Crowds, key: ReleaseKey) -> tuple[tuple[Whole, ...], Whole]:
        """Return the different rows of all points after noise, and how many points each stands for."""
        beside = [*crowds.codes.T, *([crowds.blocks] if self.show_blocks else [])]
        moves = [_Moves(self, crowds, axis, key) for axis in range(len(self.axes))]
        bounds = [(int(column.min(initial=0)), int(column.max(initial=0))) for column in beside]
        counter = RowCounter([*bounds, *(one.bounds() for one in moves)], int(crowds.counts.sum()))
        for rows, times in repeat_rows(crowds.counts, PIECE):
            along = (np.repeat(column[rows], times) for column in beside)
            counter.add([*along, *(one.move(rows, times) for one in moves)])
        return counter.counts()

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
        cells = sample.codes[:, places:]
        blocks = self._blocks_of(cells)
        kept = slice(None) if (blocks >= 0).all() else np.flatnonzero(blocks >= 0)
        sizes = [len(labels) for labels in sample.labels[:places]]
        crowd = number_rows([*sample.codes[kept, :places].T, blocks[kept]], [*sizes, self.blocks.count])
        large = (np.bincount(crowd, sample.counts[kept]) >= self.k)[crowd]
        if not large.all():
            kept = np.arange(len(cells))[kept][large]
        return _Crowds(sample.codes[kept, :places], cells[kept], blocks[kept], sample.counts[kept])

    def _blocks_of(self, cells: Codes) -> Whole:
        """Return the block of each row of cells, −1 for those of no block and beyond the end of an axis."""
        beyond = [at for at, size in enumerate(self.axes) if cells[:, at].max(initial=0) >= size]
        if not beyond:
            return self.blocks.of(cells)
        inside = (cells[:, beyond] < np.array(self.axes)[beyond]).all(axis=1)
        blocks = np.full(len(cells), -1, np.int64)
        blocks[inside] = self.blocks.of(cells[inside])
        return blocks


class _Moves:
    """Noise on one axis for the points of crowds, some of them at a time and all in order.

    Each axis and each shape of blocks has a stream of its own.
    """

    def __init__(self, mechanism: NoisyPoints, crowds: _Crowds, axis: int, key: ReleaseKey) -> None:
        blocks, several = mechanism.blocks, len(mechanism.axes) + 1
        self._keep, self._cells, self._on_axis = mechanism.keep_in, mechanism.axes[axis], crowds.cells[:, axis]
        self._first = blocks.first(crowds.blocks)[:, axis] if mechanism.keep_in == "block" else None
        # Of every crowd how many cells its block has on this axis, and on how many axes it has several.
        sizes = np.asarray([blocks.same_size] if blocks.same_size else blocks.size(crowds.blocks), np.int64)
        self._sizes, along = sizes[:, axis], (sizes > 1).sum(axis=1)
        self._shapes = self._sizes * several + along
        self._streams: dict[int, LaplaceStream] = {}
        self._losses: list[float] = []
        for shape in np.unique(self._shapes).tolist():
            size, moving = divmod(shape, several)
            if size > 1:
                loss = mechanism.moved_points.loss(size, moving)
                points = crowds.counts.sum(where=self._shapes == shape)
                source = key.source(b"points, axis %d, %d cells, %d axes" % (axis, size, moving))
                self._streams[shape] = LaplaceStream(int(points), loss, source)
                self._losses.append(float(loss))

    def bounds(self) -> tuple[int, int]:
        """Return the least and the largest place that is expected."""
        reach = 0
        if self._keep == "none" and self._losses:
            reach = AxisNoise(min(self._losses)).reach(FAR)
        return -reach, self._cells - 1 + reach

    def move(self, rows: slice, times: Whole) -> Whole:
        """Return the places of the next points after noise: those of some rows, each as often as it occurs."""
        places = np.repeat(self._on_axis[rows], times).astype(np.int64)
        if len(self._shapes) == 1:
            for stream in self._streams.values():
                places += stream.take(len(places))
        else:
            shapes = np.repeat(self._shapes[rows], times)
            for shape, stream in self._streams.items():
                chosen = np.flatnonzero(shapes == shape)
                places[chosen] += stream.take(len(chosen))
        if self._keep == "bounds":
            np.clip(places, 0, self._cells - 1, out=places)
        if self._first is not None:
            sizes = self._sizes if len(self._sizes) == 1 else np.repeat(self._sizes[rows], times)
            places = _fold(places, np.repeat(self._first[rows], times), sizes)
        return places


def _fold(noisy: Whole, first: Whole, sizes: Whole) -> Whole:
    """Return places folded back into blocks of this many cells, which begin at `first`."""
    unfolded = (noisy - first) % (2 * sizes)
    folded: Whole = first + np.minimum(unfolded, 2 * sizes - 1 - unfolded)
    return folded


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

"""Coordinates on a grid of declared resolution: cells numbered from 0, each of which stands for its midpoint.

A value goes to the cell that holds it, so rounding never leaves a block whose ends are ends of cells. The last cell is
closed: the value of `to` belongs to it. With `outside = "drop"` blanks, NaN, infinities and values out of bounds get a
class of their own, whose people are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.methods.recoding.reading import Number, exact, plain

# Values recoded at once, so that what is made of them stays in the caches.
_PIECE = 1 << 15


@dataclass(frozen=True)
class Axis(Intervals):
    """The cells of one coordinate.

    >>> lng = Axis(-8, 2, 0.5)
    >>> lng.cells, lng.code("-7.6"), lng.code("2"), lng.code("2.1"), lng.midpoints(np.array([0, 19])).tolist()
    (20, 0, 19, None, [-7.75, 1.75])
    """

    include_stop: bool = True

    unit: ClassVar[str] = "resolution"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self._steps

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The numbers of the cells, as text; they are never published."""
        return tuple(map(str, range(self._steps)))

    def place(self, name: str, value: Number) -> int:
        """Return the number of the cell that begins at a declared value, which must be an end of a cell."""
        start, _, step = self._declaration
        place = (Fraction(exact(name, value)) - start) / step
        if place.denominator != 1 or not 0 <= place <= self._steps:
            raise InvalidInput(
                f"{name} must lie between from and to, a whole number of resolutions from either, got {value} with "
                f"from {self.start}, to {self.stop}, resolution {self.width}. Move it, or refine the resolution.",
                where=name,
                code="recoding.step",
            )
        return int(place)

    def codes_of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells of many doubles at once, −1 for NaN and values out of bounds."""
        cells = np.empty(len(values), np.int64)
        low, high = self._ends[0], self._ends[-1]
        for start in range(0, len(values), _PIECE):
            some = values[start : start + _PIECE]
            if low <= some.min() and some.max() <= high:  # else NaN is among them, or a value out of bounds
                cells[start : start + _PIECE] = self._inside(some)
            else:
                inside = (some >= low) & (some <= high)
                cells[start : start + _PIECE] = np.where(inside, self._inside(np.where(inside, some, low)), -1)
        return cells

    def _inside(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells of values within the bounds."""
        last = self._steps - 1
        if self._scale == 1:  # a whole number below a value is on the same side of all ends
            cells: NDArray[np.int64] = np.floor(values).astype(np.int64) - self._first
            if self._step > 1:  # to divide by 1 takes as long as all the rest
                cells //= self._step
        else:
            cells = ((values - self._ends[0]) * (1 / self.step)).astype(np.int64)
            np.minimum(cells, last, out=cells)
            # A guess so far, put right by the exact ends beside it.
            cells -= values < self._ends.take(cells)
            cells += values >= self._ends.take(cells + 1)
        np.minimum(cells, last, out=cells)
        return cells

    @cached_property
    def _ends(self) -> NDArray[np.float64]:
        """The ends of all cells: whole numbers below 2^53, and one rounding in the division."""
        ends: NDArray[np.float64] = (np.arange(self._steps + 1.0) * self._step + self._first) / self._scale
        return ends

    def midpoints(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values that cells stand for, also beyond the ends; a whole number and one division.

        Strong noise on a fine grid goes beyond 64-bit numbers. Then doubles are near enough.
        """
        farthest = (2 * int(np.abs(cells).max(initial=0)) + 1) * self._step + 2 * abs(self._first)
        places = cells if farthest < 2**63 else cells.astype(np.float64)
        halves = (2 * places + 1) * self._step + 2 * self._first
        midpoints: NDArray[np.float64] = halves / float(2 * self._scale)
        return midpoints

    @property
    def step(self) -> float:
        """The resolution."""
        return self._step / self._scale

    def domain(self, most: int = 0) -> Domain:
        """Return the bounds and the resolution; the labels are numbers of cells, which nobody reads."""
        del most
        return Domain(
            recoding="coordinate",
            start=plain(self.start),
            to=plain(self.stop),
            resolution=plain(self.width),
            outside="refuse" if self.other is None else "drop",
        )

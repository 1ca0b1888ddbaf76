"""A tile for every pair of labels, which shows one quantity; what is not wholly published is hatched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.drawing import GROUND, INK, PADDING, PAGE, Drawing, text_width
from crowdblend.reading.figures.legends import LEGEND_HEIGHT, draw_legend
from crowdblend.reading.figures.quantity import Known, Measure, Quantity
from crowdblend.reading.figures.scales import Shade

# The least and the largest width of a tile, and its height with one line of text and with two.
NARROWEST, WIDEST, TALL, TALLER = 56, 110, 30, 40
MOST_NUMBERED_COLUMNS = 12
_GAP, _TEXT, _LINE = 8, 11.5, 14
_TILTED = -40
# Numbers that differ by more than this factor have shades by their logarithm.
_FAR_APART = 50


@dataclass(frozen=True)
class TileChart:
    """Numbers by two labels: those of `rows` down and those of `columns` across, each in its order.

    Every mark shows `quantity`. Pairs of which nothing is published stay blank.
    """

    quantity: Quantity
    numbers: Mapping[tuple[str, str], Known]
    rows: Sequence[str]
    columns: Sequence[str]

    def __post_init__(self) -> None:
        if not self.shown:
            raise InvalidInput("A chart of tiles needs at least one pair of labels with a number.")

    @cached_property
    def shown(self) -> Mapping[tuple[str, str], Known]:
        """The numbers that have a tile."""
        pairs = ((row, column) for row in self.rows for column in self.columns)
        return {pair: self.numbers[pair] for pair in pairs if pair in self.numbers and self.numbers[pair].published}

    @cached_property
    def shade(self) -> Shade:
        """The shades of numbers, on a logarithmic scale where they are far apart."""
        values = [self.quantity.value(one) for one in self.shown.values()]
        low, high = min(values), max(values)
        return Shade(low, high, log=low > 0 and high > _FAR_APART * low)

    def is_hatched(self, number: Known) -> bool:
        """True if the number is drawn as one that is known between two ends only."""
        return self.quantity.measure is Measure.INTERVAL and number.estimate is None

    @property
    def caption(self) -> str:
        """The meaning of tiles, shades and hatching; no shade is called darker, since the dark turns them round."""
        hatched = any(map(self.is_hatched, self.shown.values()))
        # Two numbers do not show how a scale runs between them.
        scale = ", on a logarithmic scale" if self.shade.log and len(self.shown) > 2 else ""
        shades = f"There are more where a tile stands out more: shades follow {self._follows}{scale}."
        tile = [] if self.is_wide else [f"A tile has {self.quantity.measure.value}."]
        return " ".join([*tile, *([_HATCHED] if hatched else []), shades, *([self._blank] if self._hidden else [])])

    @property
    def is_wide(self) -> bool:
        """True if there is no room for numbers, and a legend instead."""
        return len(self.columns) > MOST_NUMBERED_COLUMNS

    @property
    def _follows(self) -> str:
        measure = self.quantity.measure
        if measure is Measure.INTERVAL:
            return "the middle of the 95 % interval" if self.is_wide else "the middle of the interval"
        return measure.value if self.is_wide else "the number"

    @property
    def _hidden(self) -> list[Known | None]:
        """The numbers of the blank places, as far as they are known."""
        pairs = ((row, column) for row in self.rows for column in self.columns)
        return [self.numbers.get(pair) for pair in pairs if pair not in self.shown]

    @property
    def _blank(self) -> str:
        ends = [None if one is None or one.low is None else one.high for one in self._hidden]
        most = max((end for end in ends if end is not None), default=0)
        bound = "that does not mean zero"
        if None not in ends:
            bound += f", it may be up to {most:,}"
        return f"Where a place is blank, nothing is published; {bound}."

    def svg(self) -> str:
        """Return the text of an SVG element; tiles have their numbers while there is room, else there is a legend."""
        wide = self.is_wide
        left = PADDING + max(map(text_width, self.rows)) + _GAP
        # Tiles fill the page; labels that are wider than they are tilted so that they do not run into each other.
        title = self.quantity.noun
        room = (PAGE - left - (PADDING + 20 + text_width(title) if wide else PADDING)) / len(self.columns)
        across = min(WIDEST, max(TALL if wide else NARROWEST, math.floor(room)))
        written = {} if wide else self._texts(across - 6)
        tilted = any(text_width(label) > across - 4 for label in self.columns)
        top = PADDING + _GAP + (0.65 * max(map(text_width, self.columns)) if tilted else 14)
        tall = TALLER if any(len(lines) > 1 for lines in written.values()) else TALL
        grid = _Grid(left, top, self.rows, self.columns, (across, tall), tilted)
        picture = Drawing()
        edge = grid.draw_labels(picture)
        self._draw_tiles(picture, grid, written)
        bottom = grid.bottom
        if wide:
            edge = max(edge, draw_legend(picture, self.shade, grid.right + 20, grid.top, title))
            bottom = max(bottom, grid.top + LEGEND_HEIGHT)
        return picture.svg(edge + PADDING, bottom + PADDING)

    def _texts(self, room: float) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return the lines of every tile: whole numbers where all fit, on one line, on two, or in few characters."""
        full = {pair: self.quantity.texts(one) for pair, one in self.shown.items()}
        joined: dict[tuple[str, str], tuple[str, ...]] = {pair: ("".join(parts),) for pair, parts in full.items()}
        for found in (joined, full):
            if all(text_width(line, _TEXT) <= room for lines in found.values() for line in lines):
                return found
        return {pair: self.quantity.short_texts(one) for pair, one in self.shown.items()}

    def _draw_tiles(self, picture: Drawing, grid: _Grid, written: Mapping[tuple[str, str], Sequence[str]]) -> None:
        wide, tall = grid.tile
        down, across = ({label: at for at, label in enumerate(labels)} for labels in (grid.rows, grid.columns))
        picture.rectangle(grid.left, grid.top, grid.right - grid.left, grid.bottom - grid.top, fill=GROUND)
        for (row, column), number in self.shown.items():
            x, y = grid.left + across[column] * wide, grid.top + down[row] * tall
            value = self.quantity.value(number)
            dark = self.shade.share(value) > 0.5
            picture.rectangle(x, y, wide, tall, fill=self.shade.color(value), stroke="white", thickness=1.5, radius=2)
            if self.is_hatched(number):
                picture.hatch(x + 1, y + 1, wide - 2, tall - 2, stroke="white" if dark else INK, opacity=0.22)
            lines = written.get((row, column), ())
            for at, line in enumerate(lines):
                height = y + tall / 2 + (at - (len(lines) - 1) / 2) * _LINE
                picture.text(x + wide / 2, height, line, size=_TEXT, color="white" if dark else INK, anchor="middle")


_HATCHED = "A hatched tile has cells that are not published."


@dataclass(frozen=True)
class _Grid:
    """The places of the tiles: the upper left corner, the labels, and the size of a tile."""

    left: float
    top: float
    rows: Sequence[str]
    columns: Sequence[str]
    tile: tuple[float, float]
    tilted: bool

    @property
    def right(self) -> float:
        return self.left + self.tile[0] * len(self.columns)

    @property
    def bottom(self) -> float:
        return self.top + self.tile[1] * len(self.rows)

    def draw_labels(self, picture: Drawing) -> float:
        """Draw the labels of rows and columns, and return the right edge of whatever reaches furthest."""
        wide, tall = self.tile
        for at, label in enumerate(self.rows):
            picture.text(self.left - _GAP, self.top + (at + 0.5) * tall, label, anchor="end")
        edge = self.right
        for at, label in enumerate(self.columns):
            x = self.left + (at + 0.5) * wide
            if self.tilted:
                picture.text(x, self.top - _GAP, label, angle=_TILTED)
                edge = max(edge, x + 0.77 * text_width(label))
            else:
                picture.text(x, self.top - _GAP - 4, label, anchor="middle")
        return edge

"""Pictures of counts: bars beside their labels, and a map of two labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import Drawing, text_width
from crowdblend.figures.rows import STEP, Rows
from crowdblend.figures.scales import Linear, Shade
from crowdblend.figures.style import GROUND, INK, PADDING, PALETTE, QUIET

WIDTH, TILE = 500, (56, 30)
MOST_NUMBERED_COLUMNS = 12
_GAP = 8
_TILTED = -40
# Longer labels of columns are tilted so that they do not run into each other.
_LONGEST_LEVEL = 8
LEGEND_HEIGHT, _LEGEND_STEPS = 150, 32


def bar_chart(totals: Sequence[tuple[str, int]], *, narrow: bool = False) -> str:
    """The text of an SVG element: a horizontal bar for every label, in the order given, with its number at the end.

    A narrow chart fits a phone: labels and numbers stand above the bars.

    >>> bar_chart([("Female", 1200), ("Male", 98)]).count("1,200")
    1
    """
    _check(totals)
    counts = [count for _, count in totals]
    numbers = [f"{count:,}" for count in counts]
    rows = Rows([label for label, _ in totals], numbers, WIDTH, narrow)
    scale = Linear(min(0, *counts), max(0, *counts), rows.left, rows.right)
    zero = scale.place(0)
    picture = Drawing()
    for at, count in enumerate(counts):
        middle, end = rows.middle(at), scale.place(count)
        rows.write(picture, at)
        picture.rectangle(min(zero, end), middle - 0.35 * STEP, abs(end - zero), 0.7 * STEP, fill=PALETTE[0])
        if not narrow:
            picture.text(max(zero, end) + 6, middle, numbers[at], color=QUIET)
    right = rows.right if narrow else rows.right + 6 + max(map(text_width, numbers))
    return picture.svg(right + PADDING, rows.bottom + PADDING)


@dataclass(frozen=True)
class _Grid:
    """Where the tiles of a heatmap lie: the upper left corner, the labels, and the size of a tile."""

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


def heatmap(totals: Sequence[tuple[str, str, int]], *, rows: Sequence[str], columns: Sequence[str]) -> str:
    """The text of an SVG element: a tile for every pair of labels that has a number, darker for more.

    Labels keep the order of `rows` and `columns`; pairs without a number stay blank. Shades follow the logarithm where
    the numbers differ greatly. Tiles carry their numbers while there is room; otherwise a legend explains the shades.
    """
    known = [entry for entry in totals if entry[0] in rows and entry[1] in columns]
    if not known:
        raise InvalidInput("A heatmap needs at least one pair of labels with a number.")
    counts = [count for *_, count in known]
    low, high = min(counts), max(counts)
    shade = Shade(low, high, log=low > 0 and high > 50 * low)
    wide = len(columns) > MOST_NUMBERED_COLUMNS
    tilted = wide or any(len(label) > _LONGEST_LEVEL for label in columns)
    grid = _Grid(
        left=PADDING + max(map(text_width, rows)) + _GAP,
        top=PADDING + _GAP + (0.65 * max(map(text_width, columns)) if tilted else 14),
        rows=rows,
        columns=columns,
        tile=(TILE[1], TILE[1]) if wide else TILE,
        tilted=tilted,
    )
    picture = Drawing()
    edge = _draw_labels(picture, grid)
    _draw_tiles(picture, grid, known, shade, numbered=not wide)
    bottom = grid.bottom
    if wide:
        edge = max(edge, legend(picture, shade, grid.right + 20, grid.top, "people"))
        bottom = max(bottom, grid.top + LEGEND_HEIGHT)
    return picture.svg(edge + PADDING, bottom + PADDING)


def _draw_labels(picture: Drawing, grid: _Grid) -> float:
    """Draw the labels of rows and columns, and return the right edge of whatever reaches furthest."""
    wide, tall = grid.tile
    for at, label in enumerate(grid.rows):
        picture.text(grid.left - _GAP, grid.top + (at + 0.5) * tall, label, anchor="end")
    edge = grid.right
    for at, label in enumerate(grid.columns):
        x = grid.left + (at + 0.5) * wide
        if grid.tilted:
            picture.text(x, grid.top - _GAP, label, angle=_TILTED)
            edge = max(edge, x + 0.77 * text_width(label))
        else:
            picture.text(x, grid.top - _GAP - 4, label, anchor="middle")
    return edge


def _draw_tiles(
    picture: Drawing, grid: _Grid, known: Sequence[tuple[str, str, int]], shade: Shade, *, numbered: bool
) -> None:
    wide, tall = grid.tile
    down, across = ({label: at for at, label in enumerate(labels)} for labels in (grid.rows, grid.columns))
    picture.rectangle(grid.left, grid.top, grid.right - grid.left, grid.bottom - grid.top, fill=GROUND)
    for row, column, count in known:
        x, y = grid.left + across[column] * wide, grid.top + down[row] * tall
        picture.rectangle(x, y, wide, tall, fill=shade.color(count), stroke="white", thickness=1.5, radius=2)
        if numbered:
            color = "white" if shade.share(count) > 0.5 else INK
            picture.text(x + wide / 2, y + tall / 2, compact(count), size=11.5, color=color, anchor="middle")


def legend(picture: Drawing, shade: Shade, x: float, y: float, title: str) -> float:
    """Draw what the shades stand for, largest on top, and return its right edge."""
    picture.text(x, y + 6, title, weight=600)
    top, tall = y + 22, LEGEND_HEIGHT - 22
    for at in range(_LEGEND_STEPS):
        share = 1 - (at + 0.5) / _LEGEND_STEPS
        color = Shade(0, 1, log=False).color(share)
        picture.rectangle(x, top + at * tall / _LEGEND_STEPS, 14, tall / _LEGEND_STEPS + 0.5, fill=color)
    ends = [compact(round(shade.high)), compact(round(shade.low))]
    picture.text(x + 20, top + 6, ends[0])
    if shade.high > shade.low:
        picture.text(x + 20, top + tall - 6, ends[1])
    return x + max(text_width(title), 20 + max(map(text_width, ends)))


def compact(count: int) -> str:
    """A count in at most five characters.

    >>> compact(9999), compact(12345), compact(4_000_000)
    ('9,999', '12k', '4.0M')
    """
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**4, "k")):
        if abs(count) >= size:
            scaled = count / (1000 if unit == "k" else size)
            return f"{scaled:.1f}{unit}" if abs(scaled) < 10 else f"{scaled:.0f}{unit}"
    return f"{count:,}"


def _check(totals: Sequence[tuple[str, int]]) -> None:
    if not totals:
        raise InvalidInput("A chart of counts needs at least one label with a number.")
    if len({label for label, _ in totals}) < len(totals):
        raise InvalidInput("A chart of counts has a label twice. Add up or rename labels that occur twice.")

"""Maps: a tile for every pair of labels, and points on a plane with the blocks drawn over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import GROUND, INK, NARROW, PADDING, PAGE, QUIET, Drawing, text_width
from crowdblend.figures.scales import Scale, Shade, draw_ticks, round_numbers
from crowdblend.frozen import dataclass

# The least and the largest width of a tile, its height, and the largest height of a map.
NARROWEST, WIDEST, TALL, HIGHEST = 56, 110, 30, 560
MOST_NUMBERED_COLUMNS = 12
LEGEND_HEIGHT, _LEGEND_STEPS = 150, 32
_GAP = 8
_TILTED = -40
_LINE = "#aab0b8"

Rectangle = tuple[float, float, float, float]
# Where a number lies on a scale.
Place = Callable[[float], float]


@dataclass(frozen=True)
class _Grid:
    """The tiles of a heatmap: the upper left corner, the labels, and the size of a tile."""

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
    """Return the text of an SVG element: a tile for every pair of labels that has a number, darker for more.

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
    left = PADDING + max(map(text_width, rows)) + _GAP
    # Tiles fill the page; labels that are wider than they are tilted so that they do not run into each other.
    room = (PAGE - left - (PADDING + 20 + text_width("people") if wide else PADDING)) / len(columns)
    tile = min(WIDEST, max(TALL if wide else NARROWEST, math.floor(room)))
    tilted = any(text_width(label) > tile - 4 for label in columns)
    grid = _Grid(
        left=left,
        top=PADDING + _GAP + (0.65 * max(map(text_width, columns)) if tilted else 14),
        rows=rows,
        columns=columns,
        tile=(tile, TALL),
        tilted=tilted,
    )
    picture = Drawing()
    edge = _draw_labels(picture, grid)
    _draw_tiles(picture, grid, known, shade, numbered=not wide)
    bottom = grid.bottom
    if wide:
        edge = max(edge, _legend(picture, shade, grid.right + 20, grid.top, "people"))
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
    picture: Drawing, grid: _Grid, subject_and_pairs: Sequence[tuple[str, str, int]], shade: Shade, *, numbered: bool
) -> None:
    wide, tall = grid.tile
    down, across = ({label: at for at, label in enumerate(labels)} for labels in (grid.rows, grid.columns))
    picture.rectangle(grid.left, grid.top, grid.right - grid.left, grid.bottom - grid.top, fill=GROUND)
    for row, column, count in subject_and_pairs:
        x, y = grid.left + across[column] * wide, grid.top + down[row] * tall
        picture.rectangle(x, y, wide, tall, fill=shade.color(count), stroke="white", thickness=1.5, radius=2)
        if numbered:
            color = "white" if shade.share(count) > 0.5 else INK
            picture.text(x + wide / 2, y + tall / 2, compact(count), size=11.5, color=color, anchor="middle")


def _legend(picture: Drawing, shade: Shade, x: float, y: float, title: str) -> float:
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


def point_map(
    bins: Sequence[tuple[Rectangle, int]],
    blocks: Sequence[Rectangle],
    *,
    names: tuple[str, str],
    bounds: Rectangle,
    narrow: bool = False,
) -> str:
    """The text of an SVG element: bins as (left, bottom, right, top), darker for more points, and blocks as outlines.

    A narrow map fits a phone, with its legend below.

    >>> point_map([((0, 0, 1, 1), 5)], [(0, 0, 2, 2)], names=("x", "y"), bounds=(0, 0, 2, 2)).startswith("<svg")
    True
    """
    left, bottom, right, top = bounds
    # To scale, unless that would leave a strip: a map of degrees has shorter ones along its width.
    ratio = min(5.0, max(0.2, (top - bottom) / ((right - left) * _shortening(names, bounds))))
    ticks = round_numbers(bottom, top)
    margin = PADDING + 26 + max(text_width(_tick(tick)) for tick in ticks)
    side = PADDING + NARROW - margin if narrow else PAGE - margin - 110
    # A phone is scrolled anyway: what is up to twice as high as wide fills its width.
    wide = min(side, (2 * side if narrow else HIGHEST) / ratio)
    high = wide * ratio
    x, y = Scale(left, right, margin, margin + wide), Scale(bottom, top, PADDING + high, PADDING)
    picture = Drawing()
    picture.rectangle(margin, PADDING, wide, high, fill=GROUND)
    shade = Shade(1, max([2, *(count for _, count in bins)]), log=True)
    places = cache(x.place), cache(y.place)  # a side of one box is that of others
    for box, count in bins:
        _box(picture, box, *places, fill=shade.color(max(count, 1)))
    for box in blocks:
        _box(picture, box, *places, stroke=_LINE, thickness=0.35)
    for tick in ticks:
        picture.text(margin - 8, y.place(tick), _tick(tick), color=QUIET, anchor="end")
    across = [(tick, _tick(tick)) for tick in round_numbers(left, right)]
    draw_ticks(picture, x, across, PADDING + high, top=None, edge=margin + wide + PADDING)
    picture.text(margin + wide / 2, PADDING + high + 36, names[0], size=13, color=INK, anchor="middle")
    picture.text(PADDING + 4, PADDING + high / 2, names[1], size=13, color=INK, anchor="middle", angle=-90)
    if narrow:
        below = PADDING + high + 56
        _legend(picture, shade, margin, below, "points")
        return picture.svg(2 * PADDING + NARROW, below + LEGEND_HEIGHT + PADDING)
    edge = _legend(picture, shade, margin + wide + 20, PADDING, "points")
    return picture.svg(edge + PADDING, max(PADDING + high + 44, PADDING + LEGEND_HEIGHT) + PADDING)


def _shortening(names: tuple[str, str], bounds: Rectangle) -> float:
    """Return a degree of longitude over one of latitude in mid-map; 1 on other axes."""
    _, bottom, _, top = bounds
    geographic = names[0].lower().startswith(("lon", "lng")) and names[1].lower().startswith("lat")
    if not geographic or not -90 < bottom < top < 90:
        return 1.0
    return math.cos(math.radians((bottom + top) / 2))


def _box(picture: Drawing, box: Rectangle, x: Place, y: Place, **style: str | float) -> None:
    left, bottom, right, top = x(box[0]), y(box[1]), x(box[2]), y(box[3])
    picture.rectangle(left, top, right - left, bottom - top, **style)  # type: ignore[arg-type]


def _tick(value: float) -> str:
    return f"{value:,.10g}"

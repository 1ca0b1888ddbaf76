"""A map of points: how many fall into each bin, with the blocks drawn over it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdblend.figures.counts import LEGEND_HEIGHT, legend
from crowdblend.figures.drawing import Drawing, text_width
from crowdblend.figures.rows import NARROW
from crowdblend.figures.scales import Linear, Shade, round_numbers
from crowdblend.figures.style import GROUND, INK, PADDING, QUIET

SIDE = 520
Rectangle = tuple[float, float, float, float]
_LINE = "#aab0b8"


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
    side = PADDING + NARROW - margin if narrow else SIDE
    wide, high = (side, side * ratio) if ratio <= 1 else (side / ratio, side)
    x, y = Linear(left, right, margin, margin + wide), Linear(bottom, top, PADDING + high, PADDING)
    picture = Drawing()
    picture.rectangle(margin, PADDING, wide, high, fill=GROUND)
    shade = Shade(1, max([2, *(count for _, count in bins)]), log=True)
    for box, count in bins:
        _box(picture, box, x, y, fill=shade.color(max(count, 1)))
    for box in blocks:
        _box(picture, box, x, y, stroke=_LINE, thickness=0.35)
    for tick in ticks:
        picture.text(margin - 8, y.place(tick), _tick(tick), color=QUIET, anchor="end")
    for tick in round_numbers(left, right):
        picture.text(x.place(tick), PADDING + high + 14, _tick(tick), color=QUIET, anchor="middle")
    picture.text(margin + wide / 2, PADDING + high + 36, names[0], size=13, color=INK, anchor="middle")
    picture.text(PADDING + 4, PADDING + high / 2, names[1], size=13, color=INK, anchor="middle", angle=-90)
    if narrow:
        below = PADDING + high + 56
        legend(picture, shade, margin, below, "points")
        return picture.svg(2 * PADDING + NARROW, below + LEGEND_HEIGHT + PADDING)
    edge = legend(picture, shade, margin + wide + 20, PADDING, "points")
    return picture.svg(edge + PADDING, max(PADDING + high + 44, PADDING + LEGEND_HEIGHT) + PADDING)


def _shortening(names: tuple[str, str], bounds: Rectangle) -> float:
    """How much shorter a degree of longitude is than one of latitude in the middle of the map; 1 on other axes."""
    _, bottom, _, top = bounds
    geographic = names[0].lower().startswith(("lon", "lng")) and names[1].lower().startswith("lat")
    if not geographic or not -90 < bottom < top < 90:
        return 1.0
    return math.cos(math.radians((bottom + top) / 2))


def _box(picture: Drawing, box: Rectangle, x: Linear, y: Linear, **style: str | float) -> None:
    left, bottom, right, top = x.place(box[0]), y.place(box[1]), x.place(box[2]), y.place(box[3])
    picture.rectangle(left, top, right - left, bottom - top, **style)  # type: ignore[arg-type]


def _tick(value: float) -> str:
    return f"{value:,.10g}"

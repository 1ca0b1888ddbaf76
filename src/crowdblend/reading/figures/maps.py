"""Maps: points on a plane, counted by tiles, with the outlines of blocks, a scale bar and the size of the noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from crowdblend.reading.figures.drawing import GROUND, INK, NARROW, PADDING, PAGE, QUIET, Drawing, text_width
from crowdblend.reading.figures.legends import LEGEND_HEIGHT, draw_legend
from crowdblend.reading.figures.scales import Scale, Shade, draw_ticks, round_numbers

HIGHEST = 560
_LINE = "#aab0b8"
_KILOMETRES = 111.32  # of a degree of latitude
_BAR_ROW = 22

Rectangle = tuple[float, float, float, float]
# Where a number lies on a scale.
Place = Callable[[float], float]


@dataclass(frozen=True)
class PointMap:
    """Numbers of points by tiles, each of them (left, bottom, right, top), and blocks as outlines.

    `noise` is what a point moves by on each of the two axes at most, `sure` of the time.

    >>> drawn = PointMap([((0, 0, 1, 1), 5)], [(0, 0, 2, 2)], ("x", "y"), (0, 0, 2, 2), (0.5, 0.5), 0.95)
    >>> drawn.svg().startswith("<svg"), drawn.shades
    (True, 'points in a tile')
    """

    tiles: Sequence[tuple[Rectangle, int]]
    blocks: Sequence[Rectangle]
    names: tuple[str, str]
    bounds: Rectangle
    noise: tuple[float, float]
    sure: float

    @cached_property
    def _unit(self) -> Rectangle | None:
        """The tile whose area points are counted by, the smallest; None where all tiles have the same."""
        ordered = sorted((box for box, _ in self.tiles), key=_area)
        return ordered[0] if ordered and _area(ordered[-1]) > 1.001 * _area(ordered[0]) else None

    def value(self, box: Rectangle, count: int) -> float:
        """Return what the shade of a tile follows: its points, by area where tiles differ in size."""
        return float(count) if self._unit is None else count * _area(self._unit) / _area(box)

    @property
    def shades(self) -> str:
        """The number that shades follow, in words."""
        if self._unit is None:
            return "points in a tile"
        left, bottom, right, top = self._unit
        return f"points in an area of {_tick(_rounded(right - left))} × {_tick(_rounded(top - bottom))}"

    @cached_property
    def shade(self) -> Shade:
        """The shades of tiles, on a logarithmic scale where their numbers are far apart."""
        values = [self.value(*tile) for tile in self.tiles] or [1.0]
        low, high = min(values), max(values)
        return Shade(low, high, log=low > 0 and high > 10 * low)

    @property
    def scale_words(self) -> str:
        """Words for the scale of shades, to follow those for the number."""
        return ", on a logarithmic scale" if self.shade.log and len(self.tiles) > 2 else ""

    def svg(self, *, narrow: bool = False) -> str:
        """Return the text of an SVG element; a narrow map fits a phone, with its legend below."""
        left, bottom, right, top = self.bounds
        # To scale, unless that would leave a strip: a map of degrees has shorter ones along its width.
        ratio = min(5.0, max(0.2, (top - bottom) / ((right - left) * _shortening(self.names, self.bounds))))
        ticks = round_numbers(bottom, top)
        margin = PADDING + 26 + max(text_width(_tick(tick)) for tick in ticks)
        side = PADDING + NARROW - margin if narrow else PAGE - margin - 110
        # A phone is scrolled anyway: what is up to twice as high as wide fills its width.
        wide = min(side, (2 * side if narrow else HIGHEST) / ratio)
        high = wide * ratio
        x, y = Scale(left, right, margin, margin + wide), Scale(bottom, top, PADDING + high, PADDING)
        picture = Drawing()
        picture.rectangle(margin, PADDING, wide, high, fill=GROUND)
        self._draw_tiles(picture, x, y)
        for tick in ticks:
            picture.text(margin - 8, y.place(tick), _tick(tick), color=QUIET, anchor="end")
        across = [(tick, _tick(tick)) for tick in round_numbers(left, right)]
        draw_ticks(picture, x, across, PADDING + high, top=None, edge=margin + wide + PADDING)
        picture.text(margin + wide / 2, PADDING + high + 36, self.names[0], size=13, color=INK, anchor="middle")
        picture.text(PADDING + 4, PADDING + high / 2, self.names[1], size=13, color=INK, anchor="middle", angle=-90)
        edge, below = self._draw_sizes(picture, x, y, PADDING + high + 64, narrow=narrow)
        words = self.shades.split(" in ", 1)
        titles = [words[0], f"in {words[1]}"]
        if narrow:
            draw_legend(picture, self.shade, margin, below, *titles)
            return picture.svg(2 * PADDING + NARROW, below + LEGEND_HEIGHT + PADDING)
        edge = max(edge, draw_legend(picture, self.shade, margin + wide + 20, PADDING, *titles))
        return picture.svg(edge + PADDING, max(below, PADDING + LEGEND_HEIGHT) + PADDING)

    def _draw_tiles(self, picture: Drawing, x: Scale, y: Scale) -> None:
        places = cache(x.place), cache(y.place)  # a side of one box is that of others
        for box, count in self.tiles:
            _box(picture, box, *places, fill=self.shade.color(self.value(box, count)))
        for box in self.blocks:
            _box(picture, box, *places, stroke=_LINE, thickness=0.35)
        for box, count in self.tiles:
            left, low, right, high = places[0](box[0]), places[1](box[1]), places[0](box[2]), places[1](box[3])
            text = f"{count:,}"
            if text_width(text, 11) + 6 <= right - left and low - high >= 15:
                color = "white" if self.shade.share(self.value(box, count)) > 0.5 else INK
                picture.text((left + right) / 2, (low + high) / 2, text, size=11, color=color, anchor="middle")

    def _draw_sizes(self, picture: Drawing, x: Scale, y: Scale, top: float, *, narrow: bool) -> tuple[float, float]:
        """Draw a scale bar, and below it how far noise moves points on each axis; return the right edge and bottom."""
        length, said = self._round_length(0.3 * (x.high - x.low))
        bars = [(x.place(x.low + length) - x.start, said)]
        most = f"{100 * self.sure:g} % of points"
        for name, scale, moved in zip(self.names, (x, y), self.noise, strict=True):
            if moved > 0:
                drawn = abs(scale.place(scale.low + min(moved, scale.high - scale.low)) - scale.start)
                bars.append((drawn, f"noise along {name}: {most} moved by less"))
        edge = 0.0
        for at, (wide, text) in enumerate(bars):
            # A phone has no room beside a bar.
            height = top + at * _BAR_ROW * (2 if narrow else 1)
            beside = x.start if narrow else x.start + wide + 8
            for place in (x.start, x.start + wide):
                picture.line(place, height - 4, place, height + 4, stroke=INK)
            picture.line(x.start, height, x.start + wide, height, stroke=INK, thickness=2 if at == 0 else 1)
            picture.text(beside, height + (16 if narrow else 0), text, size=11, color=QUIET)
            edge = max(edge, beside + text_width(text, 11))
        return edge, top + len(bars) * _BAR_ROW * (2 if narrow else 1) - 8

    def _round_length(self, most: float) -> tuple[float, str]:
        """Return a round length along the first axis that is no longer than `most`, and what to call it."""
        if not _is_geographic(self.names, self.bounds):
            length = _round_down(most)
            return length, f"{_tick(length)} in {self.names[0]}"
        degree = _KILOMETRES * _shortening(self.names, self.bounds)
        kilometres = _round_down(most * degree)
        said = f"{_tick(kilometres)} km" if kilometres >= 1 else f"{_tick(1000 * kilometres)} m"
        return kilometres / degree, said


def _round_down(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is no larger.

    >>> _round_down(7.0), _round_down(0.03)
    (5.0, 0.02)
    """
    power = math.floor(math.log10(value))
    return max(number for digit in (0.5, 1, 2, 5) if (number := float(f"{digit}e{power}")) <= value)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _is_geographic(names: tuple[str, str], bounds: Rectangle) -> bool:
    """Return True if the axes are degrees of longitude and of latitude, by their names."""
    named = names[0].lower().startswith(("lon", "lng")) and names[1].lower().startswith("lat")
    return named and -90 < bounds[1] < bounds[3] < 90


def _shortening(names: tuple[str, str], bounds: Rectangle) -> float:
    """Return a degree of longitude over one of latitude in mid-map; 1 on other axes."""
    _, bottom, _, top = bounds
    return math.cos(math.radians((bottom + top) / 2)) if _is_geographic(names, bounds) else 1.0


def _box(picture: Drawing, box: Rectangle, x: Place, y: Place, **style: str | float) -> None:
    left, bottom, right, top = x(box[0]), y(box[1]), x(box[2]), y(box[3])
    picture.rectangle(left, top, right - left, bottom - top, **style)  # type: ignore[arg-type]


def _tick(value: float) -> str:
    return f"{value:,.10g}"

"""Charts that stand alone, with a title and a legend: lines over two axes, and chances in two worlds."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeGuard

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.drawing import (
    GRID,
    INK,
    LINE,
    NARROW,
    PADDING,
    PALETTE,
    QUIET,
    Drawing,
    text_width,
    wrap,
)
from crowdblend.reading.figures.scales import Scale, draw_ticks, log_ticks, round_numbers

_WIDTH, _HEIGHT, _NARROW_HEIGHT = 640, 340, 260
_TITLE, _SUBTITLE = 16, 12.5
_BAR = 16


@dataclass(frozen=True)
class Axis:
    """The label of an axis, and whether it is logarithmic, or counts whole things."""

    title: str
    log: bool = False
    whole: bool = False

    def shows(self, value: float | None) -> TypeGuard[float]:
        """Return whether the value has a place here: finite, and positive where the axis is logarithmic."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)


@dataclass(frozen=True)
class Line:
    """Points in their order; lines of one name share a colour, and published bounds are dashed beside exact ones."""

    name: str
    points: Sequence[tuple[float | None, float | None]]
    bound: Literal["exact", "published"] | None = None


@dataclass(frozen=True)
class LineChart:
    """Lines over a linear or logarithmic axis; `steps` draws them as stairs.

    Points that the axes cannot show (missing, infinite, or not positive on a logarithmic axis) are left out.

    >>> chart = LineChart([Line("k = 20", [(1, 1e-6), (2, None)])], Axis("ε"), Axis("δ", log=True), "Smaller is better")
    >>> chart.visible_lines[0][1]
    [(1, 1e-06)]
    """

    lines: Sequence[Line]
    x: Axis
    y: Axis
    title: str
    subtitle: str = ""
    steps: bool = False

    def __post_init__(self) -> None:
        if not self.visible_lines:
            raise InvalidInput(f"The chart has no point with finite {self.x.title} and {self.y.title}.")
        names = {line.name for line, _ in self.visible_lines}
        if len(names) > len(PALETTE):
            raise InvalidInput(f"A chart shows at most {len(PALETTE)} series, got {len(names)}. Plot fewer of them.")

    @property
    def visible_lines(self) -> list[tuple[Line, list[tuple[float, float]]]]:
        """The lines, each with those of its points that the axes can show."""
        known = [(line, [(x, y) for x, y in line.points if self.x.shows(x) and self.y.shows(y)]) for line in self.lines]
        return [(line, points) for line, points in known if points]

    def svg(self, *, narrow: bool = False) -> str:
        """Return the text of an SVG element; a narrow one fits a phone."""
        lines = self.visible_lines
        colors = dict(zip(dict.fromkeys(line.name for line, _ in lines), PALETTE, strict=False))
        bounds = {line.bound for line, _ in lines}
        legend = [_Key(name, color) for name, color in colors.items()] if len(colors) > 1 else []
        legend += [_Key(bound, INK, bound) for bound in ("exact", "published") if bound in bounds]
        picture = _Page(self.title, self.subtitle, legend, narrow)
        down = _ticks(self.y, [y for _, points in lines for _, y in points])
        left = PADDING + 24 + max(text_width(text) for _, text in down)
        top, bottom = picture.top, picture.top + (_NARROW_HEIGHT if narrow else _HEIGHT)
        across = _ticks(self.x, [x for _, points in lines for x, _ in points])
        x_scale = Scale(across[0][0], across[-1][0], left, picture.right, self.x.log)
        y_scale = Scale(down[0][0], down[-1][0], bottom, top, self.y.log)
        for value, text in down:
            y = y_scale.place(value)
            picture.line(left, y, picture.right, y, stroke=GRID)
            picture.text(left - 8, y, text, color=QUIET, anchor="end")
        picture.ticks(x_scale, across, top, bottom)
        picture.text((left + picture.right) / 2, bottom + 38, self.x.title, size=13, anchor="middle")
        picture.text(PADDING + 4, (top + bottom) / 2, self.y.title, size=13, anchor="middle", angle=-90)
        for line, points in lines:
            places = [(x_scale.place(x), y_scale.place(y)) for x, y in points]
            color, dashed = colors[line.name], line.bound == "published"
            picture.path(_stairs(places) if self.steps else places, stroke=color, thickness=2.2, dashed=dashed)
            if self.steps or len(places) == 1:
                for place in places:
                    picture.dot(*place, 3.5, fill=color)
        return picture.svg(picture.width, bottom + 48 + PADDING, ground="white")


@dataclass(frozen=True)
class Share:
    """The chance of one event in two worlds, and the largest that the first may be given the second, if any."""

    label: str
    first: float
    second: float
    most: float | None = None


@dataclass(frozen=True)
class ShareChart:
    """Two bars for every label, one for each of two worlds, and a mark for the most that is allowed.

    >>> chart = ShareChart([Share("ours", 0.25, 0.2, 0.5)], ("there", "not there"), "Who is there?")
    >>> chart.svg().count(">0.25<")
    1
    """

    shares: Sequence[Share]
    worlds: tuple[str, str]
    title: str
    subtitle: str = ""
    mark: str = "allowed"

    def __post_init__(self) -> None:
        if not self.shares:
            raise InvalidInput("A chart of chances needs at least one label, got none.")
        if len({share.label for share in self.shares}) < len(self.shares):
            raise InvalidInput("A chart of chances has a label twice. Rename labels that occur twice.")

    def svg(self, *, narrow: bool = False) -> str:
        """Return the text of an SVG element; a narrow one fits a phone."""
        fills = (PALETTE[1], PALETTE[0])
        legend = [_Key(world, fill, "bar") for world, fill in zip(self.worlds, fills, strict=True)]
        if any(share.most is not None for share in self.shares):
            legend.append(_Key(self.mark, INK, "mark"))
        picture = _Page(self.title, self.subtitle, legend, narrow)
        highest = max(value for share in self.shares for value in (share.first, share.second, share.most or 0.0))
        across = _ticks(Axis(""), [0.0, highest or 1.0])
        # The numbers stand behind the bars.
        scale = Scale(across[0][0], across[-1][0], PADDING, picture.right - text_width("0.0001"))
        rows = [wrap(share.label, picture.right - PADDING, _SUBTITLE) for share in self.shares]
        ends = [picture.top]
        for lines in rows:
            ends.append(ends[-1] + len(lines) * 17 + 2 * _BAR + 18)
        picture.ticks(scale, across, picture.top, ends[-1])
        for share, lines, top in zip(self.shares, rows, ends, strict=False):
            # Written over the grid, a label stays legible.
            picture.lines(PADDING, top + 10, lines, size=_SUBTITLE, color=INK)
            bars = top + len(lines) * 17 + 4
            for at, value in enumerate((share.first, share.second)):
                y, end = bars + at * _BAR, scale.place(value)
                picture.rectangle(PADDING, y, end - PADDING, _BAR - 2, fill=fills[at])
                picture.text(end + 6, y + _BAR / 2 - 1, f"{value:.3g}", size=11, color=QUIET)
            if share.most is not None:
                x = scale.place(share.most)
                picture.line(x, bars - 3, x, bars + 2 * _BAR + 1, stroke=INK, thickness=2.5)
        return picture.svg(picture.width, ends[-1] + 24 + PADDING, ground="white")


Chart = LineChart | ShareChart


@dataclass(frozen=True)
class _Key:
    """An entry of a legend."""

    name: str
    color: str
    sign: Literal["exact", "published", "bar", "mark"] = "exact"


class _Page(Drawing):
    """A white page with title, subtitle and legend; the chart begins at `top` and ends at `right`."""

    def __init__(self, title: str, subtitle: str, legend: Sequence[_Key], narrow: bool) -> None:
        super().__init__()
        self.width = 2 * PADDING + (NARROW if narrow else _WIDTH)
        self.right = self.width - PADDING
        width = self.right - PADDING
        y = float(PADDING)
        for text, size, color, weight in ((title, _TITLE, INK, 600), (subtitle, _SUBTITLE, QUIET, None)):
            texts = wrap(text, width, size)
            self.lines(PADDING, y + size / 2, texts, size=size, color=color, weight=weight)
            y += len(texts) * 1.45 * size
        x = float(PADDING)
        y += 10
        for key in legend:
            room = 30 + text_width(key.name)
            if x > PADDING and x + room > self.right:
                x, y = float(PADDING), y + 20
            self._sign(key, x, y)
            self.text(x + 30, y, key.name)
            x += room + 18
        self.top = y + (24 if legend else 4)

    def _sign(self, key: _Key, x: float, y: float) -> None:
        if key.sign == "bar":
            self.rectangle(x + 8, y - 7, 14, 14, fill=key.color)
        elif key.sign == "mark":
            self.line(x + 15, y - 8, x + 15, y + 8, stroke=key.color, thickness=2.5)
        else:
            self.path(((x, y), (x + 24, y)), stroke=key.color, thickness=2.5, dashed=key.sign == "published")

    def ticks(self, scale: Scale, ticks: Sequence[tuple[float, str]], top: float, bottom: float) -> None:
        """Draw upright lines with their numbers below, as many as do not touch."""
        draw_ticks(self, scale, ticks, bottom, top=top, edge=self.width, below=16)
        self.line(scale.start, bottom, scale.end, bottom, stroke=LINE)


def _ticks(axis: Axis, values: Sequence[float]) -> list[tuple[float, str]]:
    """Return round numbers from below the values to above them, with their texts."""
    low, high = min(values), max(values)
    if not axis.log:
        ticks = round_numbers(low, high, outward=True)
        return [(tick, f"{tick:.10g}") for tick in ticks if not axis.whole or tick == round(tick)]
    ticks = log_ticks(low, high)
    plain = ticks[0] >= 1e-3 and ticks[-1] <= 1e3
    return [(tick, f"{tick:g}" if plain else _power(tick)) for tick in ticks]


def _power(value: float) -> str:
    """Return 1e-6 for 0.000001."""
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}e{int(exponent)}" if int(exponent) else digit


def _stairs(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of stairs that rise at each place."""
    corners = [corner for (_, y), (x, y2) in pairwise(places) for corner in ((x, y), (x, y2))]
    return [places[0], *corners]


def save(chart: Chart, path: Path, *, force: bool = False) -> None:
    """Draw a chart to an .svg file."""
    if path.suffix.lower() != ".svg":
        raise InvalidInput(f"A figure is written as .svg, got {path.name!r}. Change the file's ending.")
    if path.exists() and not force:
        raise InvalidInput(f"The figure's file exists: {path}. Pass `--force` to replace it.")
    if not path.parent.is_dir():
        raise InvalidInput(f"The figure's folder does not exist: {path.parent}. Create it first.")
    write_whole(path, chart.svg().encode(), what="figure")


def write_whole(path: Path, content: bytes, *, what: str) -> None:
    """Write a file that appears whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as failure:
        part.unlink(missing_ok=True)
        raise InvalidInput(f"The {what} cannot be written to {path}: {failure.strerror}.") from failure

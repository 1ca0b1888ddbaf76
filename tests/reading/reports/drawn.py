"""What a report draws, taken from the page: the figures of every section with their captions, in numbers.

Lengths are turned back into numbers by the axis of their own picture, so that a mark in a wrong place is seen.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crowdblend.reading.figures.drawing import GRID, INK
from tests.reading.figures.pictures import Picture

NUMBER = re.compile(r"-?[\d,]+(\.\d+)?")


@dataclass(frozen=True)
class Drawn:
    """A figure: its caption, and its pictures for a wide and a narrow page."""

    section: str
    caption: str
    pictures: list[Picture]


@dataclass(frozen=True)
class Bar:
    """A bar of a chart in the numbers of its axis: the ends of the strong and of the faint part, and the line."""

    strong: float
    faint: float
    line: float | None


@dataclass(frozen=True)
class Tile:
    """A tile with its labels, what it says, its shade and whether it is hatched."""

    row: str
    column: str
    text: str
    shade: str
    hatched: bool


def figures_of(page: str) -> Iterator[Drawn]:
    """Yield every figure of a page; what is said to those who cannot see it is the caption."""
    for section, body in re.findall(r'<section id="([^"]*)">(.*?)</section>', page, re.DOTALL):
        for figure in re.findall(r"<figure>(.*?)</figure>", body, re.DOTALL):
            caption = _plain(found(r"<figcaption>(.*?)</figcaption>", figure))
            drawings = re.findall(r"<svg.*?</svg>", figure, re.DOTALL)
            for drawing in drawings:
                assert _plain(found(r'aria-label="([^"]*)"', drawing)) == caption
            named = (one.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) for one in drawings)
            yield Drawn(section, caption, [Picture.parse(one) for one in named])


def tables_of(page: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield every table of a page: its caption, its heads and its rows."""
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        caption = _plain(found(r"<caption>(.*?)</caption>", table))
        heads = [_plain(text) for text in re.findall(r"<th[^>]*>(.*?)</th>", table, re.DOTALL)]
        rows = [
            re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        ]
        yield caption, heads, [[_plain(cell) for cell in row] for row in rows if row]


def bars_of(picture: Picture, *, upright: bool) -> list[Bar]:
    """Return the bars of a chart, in their order; none where the axis has a single number."""
    ends = ("y1", "y2", "y", "height") if upright else ("x1", "x2", "x", "width")
    lines = [line for line in picture.of("line") if line["stroke"] == GRID and line[ends[0]] == line[ends[1]]]
    places = [float(line[ends[0]]) for line in lines]
    numbers = _axis_numbers(picture, upright=upright)
    step = next(step for step in range(1, len(places) + 1) if len(places[::step]) <= len(numbers))
    if len(numbers) < 2:
        return []
    zero, one = places[0], places[step]
    assert numbers[0] == 0

    def number(place: float) -> float:
        return (place - zero) / (one - zero) * numbers[1]

    bars = []
    rectangles = picture.of("rect")
    estimates = [line for line in picture.of("line") if line["stroke"] == INK]
    across = ("x", "width", "x1", "x2") if upright else ("y", "height", "y1", "y2")
    for faint, strong in zip(rectangles[::2], rectangles[1::2], strict=True):
        low, high = sorted(number(float(faint[ends[2]]) + part) for part in (0.0, float(faint[ends[3]])))
        middle = float(strong[across[0]]) + float(strong[across[1]]) / 2
        own = [
            float(line[ends[0]])
            for line in estimates
            if abs((float(line[across[2]]) + float(line[across[3]])) / 2 - middle) < 0.1
        ]
        strong_ends = [number(float(strong[ends[2]]) + part) for part in (0.0, float(strong[ends[3]]))]
        assert abs(min(strong_ends, key=abs)) <= 1e-3 * numbers[-1]
        assert abs(max(strong_ends, key=abs) - low) <= 1e-3 * numbers[-1]
        bars.append(Bar(low, high, number(own[0]) if own else None))
    return bars


def _axis_numbers(picture: Picture, *, upright: bool) -> list[float]:
    texts = [(at, text) for name, at, text in picture.shapes if name == "text" and NUMBER.fullmatch(text)]
    if upright:
        left = min(float(at["x"]) for at, _ in texts)
        return [_number(text) for at, text in texts if at.get("text-anchor") == "end" and float(at["x"]) == left]
    bottom = max(float(at["y"]) for at, _ in texts)
    return [_number(text) for at, text in texts if float(at["y"]) == bottom]


def tiles_of(picture: Picture, rows: Sequence[str], columns: Sequence[str]) -> list[Tile]:
    """Return the tiles of a chart with the labels beside and above them."""
    texts = [(at, text) for name, at, text in picture.shapes if name == "text"]
    down = {text: float(at["y"]) for at, text in texts if text in rows and at.get("text-anchor") == "end"}
    across = {text: _place(at) for at, text in texts if text in columns and at.get("text-anchor") != "end"}
    hatching = [tuple(map(float, re.findall(r"M([\d.]+) ([\d.]+)", path["d"])[0])) for path in picture.of("path")]
    tiles = []
    for tile in picture.of("rect"):
        if tile.get("stroke") != "white":
            continue
        x, y, wide, tall = (float(tile[key]) for key in ("x", "y", "width", "height"))
        inside = [
            text for at, text in texts if "x" in at and x < float(at["x"]) < x + wide and y < float(at["y"]) < y + tall
        ]
        row = min(down, key=lambda text: abs(down[text] - (y + tall / 2)))
        column = min(across, key=lambda text: abs(across[text] - (x + wide / 2)))
        hatched = any(x <= one <= x + wide and y <= other <= y + tall for one, other in hatching)
        tiles.append(Tile(row, column, "".join(inside), tile["fill"], hatched))
    return tiles


def dots_of(picture: Picture) -> list[tuple[float, float, float]]:
    """Return the dots of a chart with the ends of their lines, in the numbers of its axis."""
    lines = [line for line in picture.of("line") if line["stroke"] == GRID and line["x1"] == line["x2"]]
    places, numbers = [float(line["x1"]) for line in lines], _axis_numbers(picture, upright=False)
    step = next(step for step in range(1, len(places) + 1) if len(places[::step]) <= len(numbers))

    def number(place: str) -> float:
        return numbers[0] + (float(place) - places[0]) / (places[step] - places[0]) * (numbers[1] - numbers[0])

    drawn = [line for line in picture.of("line") if line["y1"] == line["y2"]]
    pairs = zip(picture.of("circle"), drawn, strict=True)
    return [(number(dot["cx"]), number(line["x1"]), number(line["x2"])) for dot, line in pairs]


def found(pattern: str, text: str) -> str:
    """Return the first group of a pattern, which is there."""
    match = re.search(pattern, text, re.DOTALL)
    assert match, (pattern, text)
    return match[1]


def _place(at: dict[str, str]) -> float:
    turned = re.match(r"translate\(([-\d.]+)", at.get("transform", ""))
    return float(turned[1] if turned else at["x"])


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", text))

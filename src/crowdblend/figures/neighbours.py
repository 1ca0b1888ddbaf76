"""A node and what lies one step to either side of it: boxes joined by lines, darker for a higher number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.figures.style import CONFIG, INK, NO_EDITOR, QUIET, SCHEMA, SHADES

Named = tuple[str, float]

WIDTH, ROW, BOX, TOP = 720, 36, 28, 30
# Left and right end of the boxes: before, in the middle, after.
_PLACES = ((0, 240), (285, 435), (480, 720))
_LINE = "#b6bec8"
# From this part of the shades on, writing is white.
_DARK = 0.6


def neighbours(
    middle: Named, before: Sequence[Named], after: Sequence[Named], *, headings: tuple[str, str, str]
) -> dict[str, Any]:
    """A Vega-Lite specification; `headings` stand above the three columns of boxes.

    >>> drawn = neighbours(("chosen", 90.0), [("age 5", 70.0)], [("age 20", 95.5)], headings=("finer", "", "coarser"))
    >>> [box["shown"] for box in drawn["data"]["values"]]
    ['90', '70', '96']
    """
    if not before and not after:
        raise InvalidInput("a node must have at least one neighbour to be drawn, got none.")
    rows = max(len(before), len(after))
    height = TOP + rows * ROW
    columns = ((before, _PLACES[0]), ([middle], _PLACES[1]), (after, _PLACES[2]))
    boxes = [
        _box(named, at, len(listed), height, place) for listed, place in columns for at, named in enumerate(listed)
    ]
    center = boxes.pop(len(before))
    values = [number for _, number in (middle, *before, *after)]
    low, high = min(values), max(values)
    for box in (center, *boxes):
        box["dark"] = high > low and box["number"] > low + _DARK * (high - low)
        box["near"], box["far"] = _line(box, center)
    scale = {"domain": [low, high if high > low else low + 1], "range": list(SHADES)}
    titles = [
        {"left": left, "y": TOP / 3, "name": text} for text, (left, _) in zip(headings, _PLACES, strict=True) if text
    ]
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": height,
        "data": {"values": [center, *boxes]},
        "layer": [
            _lines(height),
            _rectangles(height, scale),
            _text("left", "name", height, {"align": "left", "dx": 10}),
            _text("right", "shown", height, {"align": "right", "dx": -10, "fontWeight": 600}),
            _titles(titles, height),
        ],
        "config": {**CONFIG, "aria": False},
        "usermeta": NO_EDITOR,
    }


def _box(named: Named, at: int, among: int, height: int, place: tuple[int, int]) -> dict[str, Any]:
    """Boxes of one column stand in its middle, one below the other."""
    name, number = named
    center = TOP + (height - TOP) / 2 + (at - (among - 1) / 2) * ROW
    ends = {"left": place[0], "right": place[1], "top": center - BOX / 2, "bottom": center + BOX / 2, "y": center}
    return {"name": name, "number": number, "shown": f"{number:,.0f}", **ends}


def _line(box: dict[str, Any], center: dict[str, Any]) -> tuple[float, float]:
    """Where the line from a box begins, and where it ends at the middle box."""
    if box["right"] <= center["left"]:
        return box["right"], center["left"]
    return (box["left"], center["right"]) if box["left"] >= center["right"] else (box["left"], box["left"])


def _lines(height: int) -> dict[str, Any]:
    middle = TOP + (height - TOP) / 2
    ends = {"x": _x("near"), "x2": {"field": "far"}, "y": _y("y", height), "y2": {"datum": middle}}
    return {"mark": {"type": "rule", "color": _LINE, "strokeWidth": 1.2}, "encoding": ends}


def _rectangles(height: int, scale: dict[str, Any]) -> dict[str, Any]:
    ends = {"x": _x("left"), "x2": {"field": "right"}, "y": _y("top", height), "y2": {"field": "bottom"}}
    color = {"field": "number", "type": "quantitative", "scale": scale, "legend": None}
    return {"mark": {"type": "rect", "cornerRadius": 5}, "encoding": {**ends, "color": color}}


def _text(x: str, field: str, height: int, style: dict[str, Any]) -> dict[str, Any]:
    color = {"condition": {"test": "datum.dark", "value": "white"}, "value": INK}
    placed = {"x": _x(x), "y": _y("y", height), "text": {"field": field}, "color": color}
    return {"mark": {"type": "text", "baseline": "middle", "fontSize": 12.5, **style}, "encoding": placed}


def _titles(titles: list[dict[str, Any]], height: int) -> dict[str, Any]:
    mark = {"type": "text", "baseline": "middle", "align": "left", "color": QUIET, "fontSize": 12.5}
    placed = {"x": _x("left"), "y": _y("y", height), "text": {"field": "name"}}
    return {"data": {"values": titles}, "mark": mark, "encoding": placed}


def _x(field: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "scale": {"domain": [0, WIDTH], "nice": False}, "axis": None}


def _y(field: str, height: int) -> dict[str, Any]:
    down = {"domain": [0, height], "reverse": True, "nice": False}
    return {"field": field, "type": "quantitative", "scale": down, "axis": None}

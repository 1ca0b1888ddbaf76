"""A map of points: how many fall into each bin, with the blocks drawn over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdblend.figures.style import CONFIG, GROUND, NO_EDITOR, QUIET, SCHEMA, SHADES

SIDE = 520
Rectangle = tuple[float, float, float, float]


def point_map(
    bins: Sequence[tuple[Rectangle, int]],
    blocks: Sequence[Rectangle],
    *,
    names: tuple[str, str],
    bounds: Rectangle,
    title: str = "",
) -> dict[str, Any]:
    """Bins as (left, bottom, right, top) with their counts, darker for more; blocks as outlines.

    >>> chart = point_map([((0, 0, 1, 1), 5)], [(0, 0, 2, 2)], names=("x", "y"), bounds=(0, 0, 2, 2))
    >>> chart["layer"][0]["data"]["values"]
    [{'left': 0, 'bottom': 0, 'right': 1, 'top': 1, 'count': 5}]
    """
    left, bottom, right, top = bounds
    tall = min(2.0, max(0.5, (top - bottom) / (right - left)))
    counts = [count for _, count in bins]
    scale = {
        "type": "log",
        "range": list(SHADES),
        "domain": [1, max([2, *counts])],
    }
    shaded = {
        "data": {"values": [_rectangle(box, count=count) for box, count in bins]},
        "mark": {"type": "rect"},
        "encoding": {
            **_place(names, bounds),
            "color": {
                "field": "count",
                "type": "quantitative",
                "scale": scale,
                "legend": {"title": "points", "format": ".3~s", "gradientLength": 160},
            },
        },
    }
    outlines = {
        "data": {"values": [_rectangle(box) for box in blocks]},
        "mark": {"type": "rect", "filled": False, "stroke": QUIET, "strokeWidth": 0.35, "strokeOpacity": 0.55},
        "encoding": _place(names, bounds),
    }
    heading = {"title": title} if title else {}
    return {
        "$schema": SCHEMA,
        **heading,
        "width": SIDE if tall <= 1 else round(SIDE / tall),
        "height": round(SIDE * tall) if tall <= 1 else SIDE,
        "view": {"fill": GROUND},
        "layer": [shaded, outlines],
        "config": {**CONFIG, "aria": False},
        "usermeta": NO_EDITOR,
    }


def _rectangle(box: Rectangle, **more: Any) -> dict[str, Any]:
    return {"left": box[0], "bottom": box[1], "right": box[2], "top": box[3], **more}


def _place(names: tuple[str, str], bounds: Rectangle) -> dict[str, Any]:
    left, bottom, right, top = bounds
    axis = {"grid": False}
    return {
        "x": {
            "field": "left",
            "type": "quantitative",
            "title": names[0],
            "scale": {"domain": [left, right], "nice": False, "zero": False},
            "axis": axis,
        },
        "x2": {"field": "right"},
        "y": {
            "field": "bottom",
            "type": "quantitative",
            "title": names[1],
            "scale": {"domain": [bottom, top], "nice": False, "zero": False},
            "axis": axis,
        },
        "y2": {"field": "top"},
    }

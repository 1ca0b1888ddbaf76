"""Values with the range that each stays within."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.figures.style import CONFIG, INK, NO_EDITOR, PALETTE, SCHEMA

WIDTH, STEP = 520, 25


def interval_chart(rows: Sequence[tuple[str, float, float, float]], *, title: str = "") -> dict[str, Any]:
    """A point for every label at its value, on a line from its low to its high end, in the order given.

    >>> interval_chart([("[0, 10)", 850.0, 100.0, 1600.0)])["data"]["values"]
    [{'label': '[0, 10)', 'value': 850.0, 'low': 100.0, 'high': 1600.0}]
    """
    labels = [label for label, *_ in rows]
    if not rows or len(set(labels)) < len(labels):
        raise InvalidInput("a chart needs at least one label, and every label once. Merge equal ones.")
    drawn = [{"label": label, "value": value, "low": low, "high": high} for label, value, low, high in rows]
    axis = {"labelLimit": 300, "grid": False, "domain": False, "labelColor": INK}
    y = {"field": "label", "title": None, "sort": None, "type": "ordinal", "axis": axis}
    x = {"type": "quantitative", "title": None, "axis": {"tickCount": 6}}
    line = {
        "mark": {"type": "rule", "color": PALETTE[0], "strokeWidth": 2, "opacity": 0.5},
        "encoding": {"x": {"field": "low", **x}, "x2": {"field": "high"}},
    }
    point = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": PALETTE[0], "opacity": 1},
        "encoding": {"x": {"field": "value", **x}},
    }
    return {
        "$schema": SCHEMA,
        "config": CONFIG,
        "usermeta": NO_EDITOR,
        **({"title": {"text": title}} if title else {}),
        "width": WIDTH,
        "height": {"step": STEP},
        "data": {"values": drawn},
        "encoding": {"y": y},
        "layer": [line, point],
    }

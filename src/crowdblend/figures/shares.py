"""A chart of chances: two bars for every label, one for each of two worlds, and a mark for the most that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.figures.style import CONFIG, INK, NO_EDITOR, PALETTE, QUIET, SCHEMA

WIDTH, STEP = 440, 19


@dataclass(frozen=True)
class Share:
    """The chance of one event in two worlds, and the largest that the first may be given the second, if any."""

    label: str
    first: float
    second: float
    most: float | None = None


def share_chart(
    shares: Sequence[Share], *, worlds: tuple[str, str], title: str, subtitle: str = "", mark: str = "allowed"
) -> dict[str, Any]:
    """Two horizontal bars for every label, in the order given, and a mark for what is allowed.

    >>> spec = share_chart([Share("ours", 0.25, 0.2, 0.5)], worlds=("there", "not there"), title="Who is there?")
    >>> spec["data"]["values"][0]
    {'label': 'ours', 'world': 'there', 'share': 0.25, 'shown': '0.25', 'most': 0.5}
    """
    if not shares:
        raise InvalidInput("a chart of chances needs at least one label, got none.")
    if len({share.label for share in shares}) < len(shares):
        raise InvalidInput("a chart of chances must have every label once. Rename those that occur twice.")
    rows = [row for share in shares for row in _rows(share, worlds)]
    # Names as long as these are told apart only if each has a line of its own.
    y = {
        "field": "label",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 330, "domain": False, "grid": False, "labelColor": INK},
        "scale": {"paddingInner": 0.35, "paddingOuter": 0.15},
    }
    x: dict[str, Any] = {"type": "quantitative", "title": None, "axis": {"tickCount": 6, "labelExpr": _PLAIN}}
    world = {"field": "world", "type": "nominal", "sort": None, "scale": {"domain": list(worlds)}}
    color = {
        "field": "world",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(worlds), "range": [PALETTE[1], PALETTE[0]]},
        "legend": {"orient": "top", "symbolType": "square", "labelLimit": 400},
    }
    bars = {
        "mark": {"type": "bar", "height": {"band": 0.85}},
        "encoding": {"x": {"field": "share", **x}, "yOffset": world, "color": color},
    }
    numbers = {
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 11, "color": QUIET},
        "encoding": {"x": {"field": "share", **x}, "yOffset": world, "text": {"field": "shown"}},
    }
    layers: list[dict[str, Any]] = [bars, numbers]
    if any(share.most is not None for share in shares):
        layers.append(_marks(x, mark))
    return {
        "$schema": SCHEMA,
        "title": {"text": title, **({"subtitle": subtitle} if subtitle else {})},
        "data": {"values": rows},
        "width": WIDTH,
        "height": {"step": STEP, "for": "offset"},
        "encoding": {"y": y},
        "layer": layers,
        "config": CONFIG,
        "usermeta": NO_EDITOR,
    }


_PLAIN = "format(datum.value, '~g')"


def _rows(share: Share, worlds: tuple[str, str]) -> list[dict[str, Any]]:
    both = zip(worlds, (share.first, share.second), strict=True)
    rows: list[dict[str, Any]] = [
        {"label": share.label, "world": world, "share": value, "shown": f"{value:.3g}"} for world, value in both
    ]
    if share.most is not None:
        rows[0]["most"] = share.most
    return rows


def _marks(x: dict[str, Any], name: str) -> dict[str, Any]:
    """A line across both bars of a label where the first must end."""
    return {
        "transform": [{"filter": "isValid(datum.most)"}, {"calculate": f"'{name}'", "as": "mark"}],
        "mark": {"type": "tick", "fill": INK, "thickness": 2.5, "size": 2.2 * STEP, "opacity": 1},
        "encoding": {
            "x": {"field": "most", **x},
            "stroke": {
                "field": "mark",
                "type": "nominal",
                "title": None,
                "scale": {"domain": [name], "range": [INK]},
                "legend": {"orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3},
            },
        },
    }

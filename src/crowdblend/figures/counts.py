"""Charts of counts: bars beside their labels, and a map of two labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.figures.style import CONFIG, GROUND, INK, NO_EDITOR, PALETTE, QUIET, SCHEMA, SHADES

WIDTH, BAR, TILE = 520, 25, (56, 30)
MOST_NUMBERED_COLUMNS = 12
_LABEL = {"title": None, "sort": None, "type": "ordinal"}
_AXIS = {"labelLimit": 300, "grid": False, "domain": False, "labelColor": INK}


def bar_chart(totals: Sequence[tuple[str, int]], *, title: str = "") -> dict[str, Any]:
    """A horizontal bar for every label, in the order given, with its number at the end.

    >>> bar_chart([("Female", 120), ("Male", 98)])["data"]["values"][0]
    {'label': 'Female', 'count': 120, 'shown': '120', 'end': 120}
    """
    rows = [_counted(label, count) for label, count in _distinct(totals)]
    y = {"field": "label", **_LABEL, "axis": _AXIS}
    x = {"type": "quantitative", "title": None, "axis": None}
    bars = {
        "mark": {"type": "bar", "color": PALETTE[0], "height": {"band": 0.7}},
        "encoding": {"x": {"field": "count", **x}},
    }
    numbers = {
        "mark": {"type": "text", "align": "left", "dx": 6, "color": QUIET, "fontSize": 12},
        "encoding": {"x": {"field": "end", **x}, "text": {"field": "shown"}},
    }
    return _chart(
        rows, title, {"width": WIDTH, "height": {"step": BAR}, "encoding": {"y": y}, "layer": [bars, numbers]}
    )


def heatmap(
    totals: Sequence[tuple[str, str, int]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str = "",
) -> dict[str, Any]:
    """A tile for every pair of labels that has a number, darker for more; pairs without one stay blank.

    Labels keep the order of `rows` and `columns`. Shades follow the logarithm where the numbers differ greatly.
    """
    known = [entry for entry in totals if entry[0] in rows and entry[1] in columns]
    if not known:
        raise InvalidInput("a heatmap needs at least one pair of labels with a number, got none.")
    counts = [count for _, _, count in known]
    low, high = min(counts), max(counts)
    log = low > 0 and high > 50 * low
    middle = (low * high) ** 0.5 if log else (low + high) / 2
    drawn = [
        {"row": row, "column": column, "count": count, "shown": compact(count), "dark": count > middle}
        for row, column, count in known
    ]
    scale = {
        "type": "log" if log else "linear",
        "range": list(SHADES),
        "domain": [low, high if high > low else low + 1],
    }
    wide = len(columns) > MOST_NUMBERED_COLUMNS
    position: dict[str, Any] = {
        "x": {
            "field": "column",
            **_LABEL,
            "scale": {"domain": list(columns)},
            "axis": {**_AXIS, "orient": "top", "labelAngle": -40 if _crowded(columns) else 0, "labelLimit": 170},
        },
        "y": {
            "field": "row",
            **_LABEL,
            "scale": {"domain": list(rows)},
            "axis": _AXIS,
        },
    }
    color = {"field": "count", "type": "quantitative", "scale": scale, "legend": _legend(low, high) if wide else None}
    tiles = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1.5, "cornerRadius": 2},
        "encoding": {"color": color},
    }
    numbers = {
        "mark": {"type": "text", "fontSize": 11.5},
        "encoding": {
            "text": {"field": "shown"},
            "color": {"condition": {"test": "datum.dark", "value": "white"}, "value": INK},
        },
    }
    step = TILE[1] if wide else TILE[0]
    return _chart(
        drawn,
        title,
        {
            "width": {"step": step},
            "height": {"step": TILE[1]},
            "view": {"fill": GROUND},
            "encoding": position,
            "layer": [tiles] if wide else [tiles, numbers],
        },
    )


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


def _counted(label: str, count: int) -> dict[str, Any]:
    return {"label": label, "count": count, "shown": f"{count:,}", "end": max(count, 0)}


def _distinct(totals: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
    if not totals:
        raise InvalidInput("a chart needs at least one label with a number, got none.")
    if len({label for label, _ in totals}) < len(totals):
        raise InvalidInput("a chart of counts must have every label once. Add up or rename those that occur twice.")
    return totals


def _crowded(labels: Sequence[str]) -> bool:
    return any(len(label) > 8 for label in labels) or len(labels) > MOST_NUMBERED_COLUMNS


def _legend(low: int, high: int) -> dict[str, Any]:
    return {"title": "people", "format": ".3~s", "values": sorted({low, high}), "gradientLength": 160}


def _chart(rows: list[dict[str, Any]], title: str, body: dict[str, Any]) -> dict[str, Any]:
    heading = {"title": title} if title else {}
    return {
        "$schema": SCHEMA,
        **heading,
        "data": {"values": rows},
        **body,
        "config": {**CONFIG, "aria": False},
        "usermeta": NO_EDITOR,
    }

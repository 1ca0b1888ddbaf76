"""One kind of chart, drawn well: lines over a linear or logarithmic axis, one colour per series."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.figures.style import CONFIG, DASHES, MOST_TICKS, NO_EDITOR, PALETTE, SCHEMA, SIZE

BOUND = "bound"
"""Rows with this field say whether they are 'exact' (drawn solid) or 'published' (drawn dashed)."""

PLAIN_LABEL = "format(datum.value, '~g')"
LEAST_POWER = -300
POWER_LABEL = "replace(format(datum.value, '.0e'), 'e+', 'e')"


@dataclass(frozen=True)
class Axis:
    """Which field of the rows runs along an axis, what the reader calls it, and whether it is logarithmic."""

    field: str
    title: str
    log: bool = False

    def shows(self, value: Any) -> bool:
        """Whether the value has a place on this axis: finite, and positive where the axis is logarithmic."""
        return isinstance(value, int | float) and math.isfinite(value) and (value > 0 or not self.log)


def line_chart(
    rows: list[dict[str, Any]], *, x: Axis, y: Axis, series: str, title: str, subtitle: str = ""
) -> dict[str, Any]:
    """A Vega-Lite specification with one coloured line for each value of the field `series`.

    Series keep the order of the rows. Values that the axes cannot show (missing, infinite, or not positive on a
    logarithmic axis) are left out.

    >>> spec = line_chart([{"epsilon": 1, "delta": 1e-6, "k": "k = 20"}], x=Axis("epsilon", "ε"),
    ...                   y=Axis("delta", "δ", log=True), series="k", title="Smaller is better")
    >>> spec["data"]["values"]
    [{'epsilon': 1, 'delta': 1e-06, 'k': 'k = 20'}]
    """
    points = [row for row in rows if x.shows(row.get(x.field)) and y.shows(row.get(y.field))]
    if not points:
        raise InvalidInput(f"a chart needs at least one point with finite {x.title} and {y.title}, got none.")
    names = _distinct(row[series] for row in points)
    if len(names) > len(PALETTE):
        raise InvalidInput(f"a chart shows at most {len(PALETTE)} series, got {len(names)}. Plot fewer of them.")
    encoding: dict[str, Any] = {
        "x": _position(x, points, whole=False),
        "y": _position(y, points, whole=True),
        "color": _color(series, names),
        "tooltip": [{"field": series, "title": " "}, *(_tooltip(axis) for axis in (x, y))],
    }
    if any(BOUND in row for row in points):
        encoding["strokeDash"] = _dashes(_distinct(row[BOUND] for row in points))
        encoding["tooltip"].append({"field": BOUND, "title": "bound"})
    heading = {"text": title, **({"subtitle": subtitle} if subtitle else {})}
    return {
        "$schema": SCHEMA,
        "title": heading,
        **SIZE,
        "data": {"values": points},
        "mark": {"type": "line"},
        "encoding": encoding,
        "config": CONFIG,
        "usermeta": NO_EDITOR,
    }


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _position(axis: Axis, rows: list[dict[str, Any]], *, whole: bool) -> dict[str, Any]:
    """Where an axis puts its values, with ticks at round powers of ten when it is logarithmic."""
    encoded: dict[str, Any] = {"field": axis.field, "type": "quantitative", "title": axis.title}
    if not axis.log:
        return {**encoded, "scale": {"zero": False, "nice": True}}
    values = [row[axis.field] for row in rows]
    low, high = min(values), max(values)
    ticks = log_ticks(low, high)
    plain = ticks[0] >= 1e-3 and ticks[-1] <= 1e3
    return {
        **encoded,
        "scale": {"type": "log", "domain": [min(low, ticks[0]), max(high, ticks[-1])] if whole else [low, high]},
        "axis": {"values": ticks, "labelExpr": PLAIN_LABEL if plain else POWER_LABEL},
    }


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers that enclose [low, high], evenly spaced in ratio and few enough to read.

    >>> log_ticks(2e-7, 0.3)
    [1e-07, 1e-06, 1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0]
    >>> log_ticks(0.03, 1.7)
    [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    """
    # The slack keeps 1.0000001e6 from claiming a whole step above 1e6.
    low, high = low * 1.02, max(high / 1.02, low * 1.05)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if high <= 300 * low:
        fine = [_literal(digit, power) for power in range(first, last + 1) for digit in (1, 2, 5)]
        below, above = [tick for tick in fine if tick <= low], [tick for tick in fine if tick >= high]
        return [tick for tick in fine if below[-1] <= tick <= above[0]]
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (last - first) / step <= MOST_TICKS)
    start = max(step * math.floor(first / step), LEAST_POWER)
    return [_literal(1, power) for power in range(start, last + step, step)]


def _literal(digit: int, power: int) -> float:
    """The double that prints as digit·10^power; a power of 10.0 may be its neighbour."""
    return float(f"{digit}e{power}")


def _color(series: str, names: list[Any]) -> dict[str, Any]:
    return {
        "field": series,
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": list(PALETTE[: len(names)])},
        "legend": None
        if len(names) == 1
        else {"symbolType": "stroke", "symbolStrokeWidth": 3, "symbolSize": 300, "labelLimit": 320},
    }


def _dashes(bounds: list[str]) -> dict[str, Any]:
    known = [bound for bound in DASHES if bound in bounds]
    return {
        "field": BOUND,
        "type": "nominal",
        "title": None,
        "scale": {"domain": known, "range": [DASHES[bound] for bound in known]},
        "legend": {"symbolType": "stroke", "symbolSize": 700, "symbolStrokeColor": "#333333"},
    }


def _tooltip(axis: Axis) -> dict[str, Any]:
    return {"field": axis.field, "type": "quantitative", "title": axis.title, "format": ".3~e" if axis.log else ".4~g"}

"""Totals over time as stairs: each release is a step up."""

from __future__ import annotations

from typing import Any

from crowdblend.figures.chart import Axis, line_chart


def stairs_chart(rows: list[dict[str, Any]], *, title: str) -> dict[str, Any]:
    """A Vega-Lite specification with one staircase for each `series` of rows with `release` and `epsilon`.

    >>> stairs_chart([{"release": 1, "epsilon": 0.5, "series": "added up"}], title="town")["mark"]["interpolate"]
    'step-after'
    """
    spec = line_chart(
        rows, x=Axis("release", "releases so far"), y=Axis("epsilon", "ε of all releases"), series="series", title=title
    )
    spec["mark"] = {"type": "line", "interpolate": "step-after", "point": True}
    return spec

"""How every chart looks."""

from __future__ import annotations

from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

# Okabe and Ito's colours, told apart by readers of every colour vision; their yellow vanishes on white and gave way.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#333333")
DASHES = {"exact": [1, 0], "published": [6, 4]}
MOST_TICKS = 9
SIZE: dict[str, Any] = {"width": 560, "height": 340}

FONT = "Inter, Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, QUIET, GROUND, GRID = "#1f2328", "#57606a", "#f3f4f6", "#e6e8eb"
PADDING = 16
SHADES = ("#dbeaf5", "#8fbfe0", "#2f86c1", "#08406e")

CONFIG: dict[str, Any] = {
    "background": "white",
    "padding": PADDING,
    "font": FONT,
    "view": {"stroke": None},
    "line": {"strokeWidth": 2.2, "strokeCap": "round", "strokeJoin": "round"},
    "title": {
        "anchor": "start",
        "frame": "group",
        "offset": 16,
        "fontSize": 16,
        "fontWeight": 600,
        "color": INK,
        "subtitleFontSize": 12.5,
        "subtitleColor": QUIET,
        "subtitlePadding": 6,
    },
    "axis": {
        "grid": True,
        "gridColor": GRID,
        "domainColor": "#8c959f",
        "ticks": False,
        "labelFlush": False,
        "labelPadding": 8,
        "labelFontSize": 12,
        "labelColor": QUIET,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "titleColor": INK,
        "titlePadding": 12,
    },
    "legend": {"labelFontSize": 12.5, "labelColor": INK, "rowPadding": 5, "offset": 20},
}

# The page that opens in a browser can export the picture, and links to no outside editor.
NO_EDITOR: dict[str, Any] = {
    "embedOptions": {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
}

"""The tables of docs/compared.md, from the figures that bench/peers/run.py measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
FIGURES = DOCS.parent / "bench" / "peers" / "figures.json"
NAMES = {
    "crowdblend": "crowdblend",
    "opendp": "OpenDP",
    "smartnoise": "SmartNoise SQL",
    "diffprivlib": "diffprivlib",
    "dp_accounting": "dp_accounting",
    "dpmm": "dpmm",
}
WAYS = {
    ("crowdblend", "survey"): "exact counts of crowds of 35 or more",
    ("crowdblend", "survey_noise"): "exact from k on, noise below",
    ("opendp", "survey"): "noise, and a threshold",
    ("opendp", "survey_noise"): "noise on every cell",
    ("crowdblend", "tables"): "equal parts of ε, by `weight`",
    ("crowdblend", "tables_weighted"): "as planned, ε by the root of the cells",
    ("crowdblend", "tables_consistent"): "the same, with `estimates(consistent=True)`",
    ("crowdblend", "pairs"): "the tables, noise as planned",
    ("crowdblend", "rows"): "rows from them",
    ("opendp", "pairs"): "the tables, discrete Gaussian noise",
    ("opendp", "rows_aim"): "rows by AIM",
    ("dpmm", "rows_aim"): "rows by AIM",
    ("dpmm", "rows_mst"): "rows by MST",
    ("opendp", "tables"): "Laplace noise, ε by the root of the cells",
    ("opendp", "tables_gaussian"): "discrete Gaussian noise at δ = 1e-6, ρ by the 2/3 power of the cells",
}
DATA = {
    "adult": "Adult",
    "census": "census, ten columns",
    "sample": "the same, of a sample at 0.1",
    "others": "census, eight other columns",
}
PLACE = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def page() -> str:
    """The page with its tables made again; everything else stays as it is."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    text = (DOCS / "compared.md").read_text(encoding="utf-8")
    return PLACE.sub(lambda place: f"{place[1]}\n{TABLES[place[2]](figures)}\n\n{place[3]}", text)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _of(figures: dict[str, Any], *work: str) -> list[dict[str, Any]]:
    return [row for row in figures["measured"] if row["work"] in work]


def _cost(row: dict[str, Any]) -> list[str]:
    return [f"{row['cpu']:.1f}\N{NO-BREAK SPACE}s", f"{row['memory']:,.0f}\N{NO-BREAK SPACE}MB"]


def _when(figures: dict[str, Any]) -> str:
    versions = ", ".join(f"{NAMES[name]} {version}" for name, version in figures["versions"].items())
    return f"Measured on {figures['date']} ({figures['machine']}, Python {figures['python']}): {versions}."


def _register(figures: dict[str, Any]) -> str:
    rows = [
        [NAMES[row["package"]], f"{row['error']:.2f}", f"{row['cells']:.0f} of {figures['cells']}", *_cost(row)]
        for row in _of(figures, "register")
    ]
    return _table(["", "mean error of a cell", "cells shown", "CPU", "memory"], rows)


def _tables(figures: dict[str, Any]) -> str:
    rows = [
        [
            f"{NAMES[row['package']]}: {WAYS[row['package'], row['work']]}",
            f"{row['error']:.2f}",
            f"{row['planned']:.2f}" if "planned" in row else "–",
            f"{row['square']:.2f}",
        ]
        for row in sorted(figures["measured"], key=lambda row: str(row["package"]))
        if row["work"].startswith("tables")
    ]
    return _table(["", "mean error of a cell", "planned", "standard error"], rows)


def _survey(figures: dict[str, Any]) -> str:
    rows = [
        [
            f"{NAMES[row['package']]}: {WAYS[row['package'], row['work']]}",
            f"{row['error']:.2f}",
            f"{row['cells']:.0f} of {figures['cells']}",
            f"{row['people in missing cells']:,.0f}",
            *_cost(row),
        ]
        for row in _of(figures, "survey", "survey_noise")
    ]
    heads = ["", "mean error of a shown cell", "cells shown", "people in cells that are not", "CPU", "memory"]
    return _table(heads, rows)


def _share(value: float) -> str:
    """Return a share of people without its leading zero, in three digits."""
    return f"{value:.4f}"[1:] if value < 0.1 else f"{value:.3f}"[1:]


def _rows(figures: dict[str, Any]) -> str:
    ours = figures["synthesis"]["adult"]
    made = [
        {"package": "crowdblend", "work": "pairs", "rows": ours["raw"], "cpu": ours["plan"] + ours["release"]},
        {**ours, "package": "crowdblend", "work": "rows"},
        *_of(figures, "pairs", "rows_aim", "rows_mst"),
    ]
    rows = [
        [
            f"{NAMES[row['package']]}: {WAYS[row['package'], row['work']]}",
            *(_share(row[name]) if name in row else "–" for name in ("rows", "three", "auc")),
            f"{row['cpu']:.1f}\N{NO-BREAK SPACE}s",
        ]
        for row in made
    ]
    rows.append(["the people themselves", "0", "0", _share(ours["auc of the people"]), "–"])
    return _table(["", "tables of two", "of three", "AUC", "CPU"], rows)


def _synthesis(figures: dict[str, Any]) -> str:
    rows = []
    for name in (name for name in DATA if name in figures["synthesis"]):
        one = figures["synthesis"][name]
        worse = one["margins"]["worse in single runs"]
        shares = _share(one["raw"]), _share(one["rows"])
        rows.append([DATA[name], str(one["margins"]["tables"]), *shares, ", ".join(map(str, worse)), one["date"]])
    return _table(["", "tables", "as published", "in the rows", "rows more than 5 % worse, in each run", "date"], rows)


def _open(figures: dict[str, Any]) -> str:
    one = figures["synthesis"]["open"]
    shown = [
        f"{one[f'{way} cells']:.0f} cells with {100 * one[f'{way} people']:.2g}\N{NO-BREAK SPACE}% of the people"
        for way in ("threshold", "crowds")
    ]
    return f"Open labels of four columns of Adult: a threshold shows {shown[0]}, crowds of a sample at 0.2 {shown[1]}."


def _numbers(figures: dict[str, Any]) -> str:
    rows = []
    for package in dict.fromkeys(row["package"] for row in _of(figures, "sum")):
        found = {row["work"]: row for row in figures["measured"] if row["package"] == package}
        errors = [f"{found[work]['error']:,.4g}" if work in found else "–" for work in ("average", "sum", "median")]
        errors[1] = f"{found['sum']['error']:,.0f}"
        rows.append([NAMES[package], *errors])
    return _table(["", "error of the average", "of the sum", "of the median"], rows)


def _accounting(figures: dict[str, Any]) -> str:
    def shown(value: float | None) -> str:
        return "not known" if value is None else f"{value:.4g}"

    def seconds(value: float | None) -> str:
        return "–" if value is None else f"{1000 * value:.0f}\N{NO-BREAK SPACE}ms"

    rows = [
        [
            row["what"],
            "–" if row["added up"] is None else f"{row['added up']:.4g}",
            shown(row["crowdblend"]),
            shown(row["dp_accounting"]),
            seconds(row["crowdblend seconds"]),
            seconds(row["dp_accounting seconds"]),
        ]
        for row in figures["accounting"]
    ]
    return _table(["releases", "ε added up", "crowdblend", "dp_accounting", "our CPU", "its CPU"], rows)


def _crowds(figures: dict[str, Any]) -> str:
    rows = [[f"{row['rate']:g}", str(row["exact"]), str(row["published"] or "–")] for row in figures["crowds"]]
    return _table(["sampling rate", "smallest true k", "k by the published theorem"], rows)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "when": _when,
    "register": _register,
    "tables": _tables,
    "survey": _survey,
    "rows": _rows,
    "synthesis": _synthesis,
    "open": _open,
    "numbers": _numbers,
    "accounting": _accounting,
    "crowds": _crowds,
}

"""The figures of bench/release.py, kept in a file beside it: in docs/speed.md a table for each machine, a picture."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.release_work import ON_SPARK, WORK
from bench.release_work import growth as growing
from crowdblend.reading.figures.charts import Axis, Line, LineChart

KEPT = Path(__file__).with_name("release.json")
PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
PICTURE = PAGE.parent / "images" / "speed-growth.svg"
BEGIN, END = "<!-- bench/release.py: begin -->", "<!-- bench/release.py: end -->"
HEAD = """
| work | CPU, times the bare query | wall, times | CPU seconds, release / bare | wall seconds | MB | wanted | date |
|---|---|---|---|---|---|---|---|
"""


def read() -> dict[str, dict[str, Any]]:
    """The figures that are kept, by machine and by the work that they are of."""
    kept: dict[str, dict[str, Any]] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return kept


def recorded(name: str, figures: dict[str, Any]) -> None:
    """Keep the figures of one piece of work on this machine, and write the tables anew."""
    kept = read()
    own = kept.setdefault(f"{os.cpu_count()} cores, {platform.machine()}", {})
    own[name] = {**figures, "date": datetime.now(UTC).date().isoformat()}
    kept = {machine: {each: found[each] for each in WORK if each in found} for machine, found in sorted(kept.items())}
    KEPT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    show(kept)
    PICTURE.write_text(growth(kept).svg(), encoding="utf-8")


def show(kept: dict[str, dict[str, Any]]) -> None:
    """Write the tables into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{tables(kept)}{END}{after}", encoding="utf-8")


def tables(kept: dict[str, dict[str, Any]]) -> str:
    """The figures as a table for each machine."""
    if not kept:
        return "\nNo figures are recorded yet.\n"
    return "".join(
        f"\nOn {machine}:\n{HEAD}{''.join(_row(name, figures) for name, figures in found.items())}"
        for machine, found in kept.items()
    )


def growth(kept: dict[str, dict[str, Any]]) -> LineChart:
    """What a row takes in one table of more and more rows: CPU time beside that of the bare query, and memory.

    The machine is the one that ran the most of them.
    """
    found = max(kept.values(), key=lambda own: sum(name in own for on in ((), ON_SPARK) for name in growing(on)))
    lines = [
        line
        for where, on in (("", ()), (" on Spark", ON_SPARK))
        for line in _lines([(WORK[name].rows, found[name]) for name in growing(on) if name in found], where)
    ]
    title, subtitle = "What a row takes", "A table of 60,000 cells at rate 0.5, the whole command"
    return LineChart(lines, Axis("rows", log=True), Axis("per row", log=True), title, subtitle)


def _lines(grown: list[tuple[int, dict[str, Any]]], where: str) -> list[Line]:
    """What a row takes with one engine; of memory, that of the process that was started."""
    lines = {
        f"release{where}, microseconds of CPU": [(rows, one["release"]["cpu"] * 1e6 / rows) for rows, one in grown],
        f"bare query{where}, microseconds of CPU": [(rows, one["bare"]["cpu"] * 1e6 / rows) for rows, one in grown],
        f"release{where}, bytes of memory": [(rows, one["release"]["peak_mb"] * 2**20 / rows) for rows, one in grown],
    }
    return [Line(name, points) for name, points in lines.items() if points]


def _row(name: str, figures: dict[str, Any]) -> str:
    ratio, mine, theirs, wanted = (figures[part] for part in ("ratio", "release", "bare", "wanted"))
    said = f"{wanted['cpu']:g} / {wanted['wall']:g}" if "cpu" in wanted else "–"
    said = f"{wanted['cpu seconds']:g} CPU seconds" if "cpu seconds" in wanted else said
    cells = [
        name,
        f"{ratio['cpu']:.2f}",
        f"{ratio['wall']:.2f}",
        f"{mine['cpu']:.2f} / {theirs['cpu']:.2f}",
        f"{mine['wall']:.1f} / {theirs['wall']:.1f}",
        f"{mine['peak_mb']:.0f}",
        said,
        figures["date"],
    ]
    return f"| {' | '.join(cells)} |\n"

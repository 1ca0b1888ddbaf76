"""The figures of `make audit`: kept in a file beside this one, and shown as tables in docs/measured.md.

    python -m bench.audit_page FILE...

reads what bench/audit_power.py, bench/audit.py and bench/audit_outlook.py printed, one JSON object in a line. Audits of
the same family in several files are added up. A family that is in none of the files keeps the figures that it has.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("audit.json")
# Of an audit that is not said to have fewer.
RUNS = 100_000
PAGE = Path(__file__).parent.parent / "docs" / "measured.md"

WHAT = {
    "suppressed table": "k = 10, rate 0.8",
    "thinned table": "the same, rows thinned",
    "microdata": "k = 10, rate 0.8",
    "noise below k, hidden": "k = 8, rate 0.5",
    "noise below k, flagged": "k = 8, rate 0.5",
    "threshold": "everybody, noise of loss 1, shown from 6 on",
    "recoding by the population": "k = 10, rate 0.5",
    "recoding by a part": "k = 15, rate 0.85",
    "points": "k = 10, rate 0.8, hardly any place in a block told apart",
    "statistics of a sample": "a histogram of 12 out of 24 people",
    "statistics of everybody": "a count of all of 24 people",
    "counts in groups": "all of 24 people in two groups",
    "sum": "all of 24 people, values 0 and 1",
    "sum in groups": "all of 24 people, values −1 to 1",
    "average in groups": "all of 24 people, values 0 and 1",
    "median": "all of 24 people, two steps",
    "median in groups": "all of 24 people in two groups",
    "quantile": "at 0.75, all of 24 people",
    "stratified table": "rates 0.8 and 0.4, k = 10 and 3",
    "parts of one sample": "rate 0.7, shares 0.9 and 0.05, k = 6 and 3",
    "fresh samples": "two tables, k = 10, rate 0.7",
    "Gaussian noise": "two tables of everybody, σ = 1.1 and 32",
    "noise on one sample": "two tables at rate 0.5",
    "synopsis, fitted": "rows fitted to noisy counts, 22 out of 24 people",
    "synopsis, chosen": "a row chosen for all of 24 people",
    "network": "connectivity and average degree, 24 people with up to 4 links",
}

Figures = dict[str, dict[str, dict[str, Any]]]


def collected(files: Iterable[Path]) -> Figures:
    """The figures in some files, by section and by family."""
    found: Figures = {}
    for file in files:
        date = datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()
        for line in file.read_text(encoding="utf-8").splitlines():
            made = json.loads(line)
            if "families" in made:
                for row in made["families"]:
                    _add(found.setdefault(_section(made, row), {}), {**row, "date": date}, made["understated"])
            elif "stated" in made:
                found.setdefault("outlook", {})[f"{made['family']}, {made['runs']}"] = {**made, "date": date}
            elif "load" in made:
                times = {name: figures for name, figures in made.items() if isinstance(figures, dict)}
                found["microseconds"] = {name: {**figures, "date": date} for name, figures in times.items()}
    return found


def _section(made: dict[str, Any], row: dict[str, Any]) -> str:
    if "mistake" in row:
        return "injected" if made.get("most_runs", RUNS) >= RUNS else "in a minute"
    return "power" if made["understated"] > 1 else "false alarms"


def _add(known: dict[str, dict[str, Any]], row: dict[str, Any], understated: float) -> None:
    before = known.get(row["family"], {"audits": 0, "findings": 0, "runs": 0, "date": ""})
    sums = {name: before[name] + row[name] for name in ("audits", "findings", "runs")}
    more = {"mistake": row["mistake"]} if "mistake" in row else {}
    date = max(before["date"], row["date"])
    guarantee = {"epsilon": understated * row["epsilon"], "delta": row["delta"]}
    known[row["family"]] = {**guarantee, **sums, "date": date, **more}


def tables(kept: Figures) -> dict[str, str]:
    """The tables of the page, by name."""
    power, alarms = kept.get("power", {}), kept.get("false alarms", {})
    families = [
        [name, WHAT.get(name, ""), _guarantee(power.get(name) or alarms[name]), _share(power.get(name)),
         _mean(power.get(name)), _share(alarms.get(name)), _dates(power.get(name), alarms.get(name))]
        for name in [*WHAT, *sorted({*power, *alarms} - {*WHAT})]
        if name in power or name in alarms
    ]  # fmt: skip
    injected = [
        [row["mistake"], name, _share(row), _mean(row), row["date"]] for name, row in kept.get("injected", {}).items()
    ]
    outlook = [
        [row["family"], f"{row['runs']:,}", _percent(row["stated"]), _percent(row["most"]), _share(row), row["date"]]
        for row in sorted(kept.get("outlook", {}).values(), key=lambda row: (row["family"], row["runs"]))
    ]
    releases = [
        [name, f"{row['one_at_a_time']:,.0f}", f"{row['in_batches']:,.0f}", row["date"]]
        for name, row in kept.get("microseconds", {}).items()
    ]
    minute = [[row["mistake"], _share(row), _mean(row), row["date"]] for row in kept.get("in a minute", {}).values()]
    return {
        "minute": _table("injected bug|caught|after runs, mean|date", minute),
        "families": _table("family|what|ε, δ|half refuted|after runs, mean|false alarms|date", families),
        "injected": _table("injected bug|name|caught|after runs, mean|date", injected),
        "outlook": _table("family|runs|stated at least, mean|largest|findings|date", outlook),
        "releases": _table("family|one at a time|in a batch|date", releases),
    }


def _guarantee(row: dict[str, Any]) -> str:
    return f"{row['epsilon']:.3g}, {row['delta']:.2g}"


def _share(row: dict[str, Any] | None) -> str:
    return "–" if row is None else f"{row['findings']:,} of {row['audits']:,}"


def _mean(row: dict[str, Any] | None) -> str:
    return "–" if row is None else f"{round(row['runs'] / row['audits'], -2):,.0f}"


def _percent(share: float) -> str:
    return f"{min(99, 100 * share):.0f} %"


def _dates(*rows: dict[str, Any] | None) -> str:
    return ", ".join(sorted({row["date"] for row in rows if row is not None}))


def _table(head: str, rows: list[list[str]]) -> str:
    names = head.split("|")
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def shown(page: str, kept: Figures) -> str:
    """The page with its tables written anew."""
    for name, table in tables(kept).items():
        begin, end = f"<!-- bench/audit_page.py, {name}: begin -->", f"<!-- bench/audit_page.py, {name}: end -->"
        before, marked, rest = page.partition(begin)
        after = rest.partition(end)[2]
        page = f"{before}{begin}\n\n{table}\n{end}{after}" if marked else page
    return page


def main() -> None:
    kept: Figures = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for section, rows in collected(map(Path, sys.argv[1:])).items():
        kept.setdefault(section, {}).update(rows)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(shown(PAGE.read_text(encoding="utf-8"), kept), encoding="utf-8")


if __name__ == "__main__":
    main()

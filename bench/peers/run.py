"""The same work with crowdblend and with others: error, time and memory, written to bench/peers/figures.json.

    python -m bench.peers.run opendp=PYTHON smartnoise=PYTHON diffprivlib=PYTHON dpmm=PYTHON [only=WORK,WORK]

Each PYTHON is that of an environment with the package (requirements/peers-*.txt); `make peers` makes them. Packages
that are not named are left out; with `only`, all other figures stay as they are. Rows are of Adult, which lies beside
the repository or is left out; ours are measured by bench/synthesis.py. Memory is read from /proc, so this
runs on Linux. docs/compared.md shows the figures: `python -m docs.generate` writes its tables again.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import crowdblend as cb
from bench.peers.accounting import rows
from bench.peers.data import write_adult, write_people
from bench.peers.with_crowdblend import service_policy
from bench.peers.work import CELLS, DOMAIN, PAIR_CELLS, PAIRS
from bench.synthesis import DATA, FIGURES, Codes, errors_of, shares

HERE = Path(__file__).parent
REPEATS = {"register": 5, "survey": 5, "survey_noise": 5, "average": 60, "sum": 60, "median": 60}
REPEATS |= {"tables": 300, "tables_weighted": 300, "tables_gaussian": 300, "tables_consistent": 30}
REPEATS |= {"pairs": 5, "rows_aim": 1, "rows_mst": 1}
DISTRIBUTIONS = {"dpmm": "dpmm", "opendp": "opendp", "smartnoise": "smartnoise-sql", "diffprivlib": "diffprivlib"}
ADULT = ("pairs", "rows_aim", "rows_mst")
DOES = {
    "crowdblend": (
        *("register", "survey", "survey_noise", "average", "sum", "median"),
        *("tables", "tables_weighted", "tables_consistent"),
    ),
    "opendp": (
        "register",
        "survey",
        "survey_noise",
        "average",
        "sum",
        "median",
        "tables",
        "tables_gaussian",
        *ADULT[:2],
    ),
    "smartnoise": ("register", "average", "sum"),
    "diffprivlib": ("register", "average", "sum", "median"),
    "dpmm": ADULT[1:],
}
RATES = (0.05, 0.1, 0.2, 0.5)


def job(python: str, package: str, work: str, folder: Path, repeats: int) -> tuple[list[Any], dict[str, float]]:
    """What a process of its own prints, and its CPU seconds, wall seconds and largest memory in MB."""
    with tempfile.TemporaryFile() as out:
        command = [python, "-m", f"bench.peers.with_{package}", work, str(folder), str(repeats)]
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, cwd=HERE.parents[1])
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
        wall = time.perf_counter() - began
        out.seek(0)
        told = json.load(out)
        cost = {"cpu": used.ru_utime + used.ru_stime, "wall": wall, "memory": told["memory"]}
        return told["released"], {name: round(value, 2) for name, value in cost.items()}


def truth(folder: Path, name: str) -> dict[tuple[str, ...], int]:
    """The true counts of a file, by all columns."""
    columns = ", ".join(DOMAIN)
    asked = f"SELECT {columns}, count(*) FROM '{folder / name}.parquet' GROUP BY {columns}"
    found = duckdb.connect().sql(asked).fetchall()
    return {tuple(row[:-1]): row[-1] for row in found}


def service_truth(folder: Path) -> dict[tuple[str, ...], int]:
    """The true counts of every table of two columns of the soldiers."""
    true: dict[tuple[str, ...], int] = {}
    for name, (one, other) in PAIRS.items():
        asked = f"SELECT {one}, {other}, count(*) FROM '{folder / 'soldiers.parquet'}' GROUP BY ALL"
        true |= {(name, *row[:-1]): row[-1] for row in duckdb.connect().sql(asked).fetchall()}
    return true


def service_errors(released: list[list[list[Any]]], true: dict[tuple[str, ...], int]) -> dict[str, float]:
    """Mean absolute error of a cell of several tables, and the root of the mean square."""
    off = np.array([row[-1] - true[tuple(row[:-1])] for one in released for row in one], dtype=float)
    return {"error": round(float(np.abs(off).mean()), 3), "square": round(float(np.sqrt(np.square(off).mean())), 3)}


def service_planned() -> dict[str, float]:
    """What our plan says of the same mean error, by the kind of work."""
    found = {}
    for work, weighted in (("tables", False), ("tables_weighted", True)):
        planned = service_policy(weighted=weighted).plan().summary()["publications"]
        errors = [PAIR_CELLS[name] * one["mean_error_of_100"] for name, one in planned.items()]
        found[work] = round(sum(errors) / sum(PAIR_CELLS.values()), 3)
    return found


def table_errors(released: list[list[list[Any]]], true: dict[tuple[str, ...], int]) -> dict[str, float]:
    """Mean absolute error of the cells that are shown, how many are, and the people in those that are not."""
    errors, shown, lost = [], [], []
    for rows_of_one in released:
        cells = {tuple(row[:-1]): row[-1] for row in rows_of_one}
        errors.append(np.mean([abs(count - true.get(cell, 0)) for cell, count in cells.items()]))
        shown.append(len(cells))
        lost.append(sum(count for cell, count in true.items() if cell not in cells))
    return {
        "error": round(float(np.mean(errors)), 3),
        "cells": round(float(np.mean(shown)), 1),
        "people in missing cells": round(float(np.mean(lost)), 1),
    }


def adult_errors(released: list[Any], work: str, true: Codes, sizes: list[int]) -> dict[str, float]:
    """How far tables of two columns are off, and of rows those of three and what can be learned, in the mean."""
    if work != "pairs":
        each = [errors_of(np.array(rows), true, sizes) for rows in released]
        return {name: float(f"{np.mean([one[name] for one in each]):.3g}") for name in each[0]}
    exact = [shares(true, sizes, pair) for pair in combinations(range(len(sizes)), 2)]
    off = [
        0.5 * np.abs(np.array(found) / len(true) - right).sum()
        for tables in released
        for found, right in zip(tables, exact, strict=True)
    ]
    return {"rows": float(f"{np.mean(off):.3g}")}


def measured(pythons: dict[str, str], folder: Path, only: Collection[str]) -> Iterator[dict[str, Any]]:
    """One row for each package and kind of work."""
    trues = {"register": truth(folder, "register"), "survey": truth(folder, "survey")}
    trues["survey_noise"] = trues["survey"]
    service, planned = service_truth(folder), service_planned()
    (income,) = duckdb.connect().sql(f"SELECT income FROM '{folder / 'earners.parquet'}'").fetchnumpy().values()
    numbers = {"average": income.mean(), "sum": income.sum(), "median": np.median(income)}
    adult = write_adult(folder) if DATA.exists() else None
    for package, python in pythons.items():
        for work in (work for work in DOES[package] if work in only and (adult or work not in ADULT)):
            released, cost = job(python, package, work, folder, 1)
            if REPEATS[work] > 1:
                released, _ = job(python, package, work, folder, REPEATS[work])
            error: dict[str, float]
            if work in trues:
                error = table_errors(released, trues[work])
            elif adult and work in ADULT:
                error = adult_errors(released, work, *adult)
            elif work.startswith("tables"):
                error = service_errors(released, service)
                error |= {"planned": planned[work]} if package == "crowdblend" and work in planned else {}
            else:
                error = {"error": float(f"{np.mean(np.abs(np.array(released) - numbers[work])):.4g}")}
            print(package, work, cost, error, file=sys.stderr)
            yield {"package": package, "work": work, **cost, **error}


def crowd_sizes() -> list[dict[str, Any]]:
    """The smallest k under (1, 1e-6): by our theorem, and by the published one that ARX's model goes by."""
    made = []
    for rate in (*RATES, 1 - float(np.exp(-1))):
        planned = cb.plan(rate=rate, epsilon=1.0, delta=1e-6)
        made.append({"rate": round(rate, 4), "exact": planned.k, "published": planned.bounds.get("published")})
    return made


def versions(pythons: dict[str, str]) -> dict[str, str]:
    """The version of every package that was measured."""
    known = {"crowdblend": version("crowdblend"), "dp_accounting": version("dp-accounting")}
    for package, python in pythons.items():
        if package in DISTRIBUTIONS:
            asked = f"from importlib.metadata import version; print(version({DISTRIBUTIONS[package]!r}))"
            known[package] = subprocess.run(
                [python, "-c", asked], capture_output=True, text=True, check=True
            ).stdout.strip()
    return known


def main() -> None:
    """Measure everything and write the figures."""
    named = dict(given.split("=", 1) for given in sys.argv[1:])
    only = named.pop("only", ",".join(REPEATS)).split(",")
    pythons = {"crowdblend": sys.executable, **named}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_people(folder)
        found = list(measured(pythons, folder, only))
    before = json.loads(FIGURES.read_text(encoding="utf-8"))
    done = {(row["package"], row["work"]) for row in found}
    kept = [row for row in before["measured"] if (row["package"], row["work"]) not in done]
    if set(only) < set(REPEATS):
        known = {**before["versions"], **versions(pythons)}
        figures = {**before, "versions": known, "repeats": REPEATS, "measured": kept + found}
    else:
        figures = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores",
            "python": platform.python_version(),
            "versions": versions(pythons),
            "cells": CELLS,
            "repeats": REPEATS,
            "measured": found,
            "synthesis": before.get("synthesis", {}),
            "accounting": list(rows()),
            "crowds": crowd_sizes(),
        }
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

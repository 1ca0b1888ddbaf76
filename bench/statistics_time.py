"""Statistics from a sample against a bare scan of their columns, as JSON: python -m bench.statistics_time [rows]

Each runs in a child process of its own; told are seconds of the clock and of all CPUs together. The bare scan hands
the person and every column to Python in batches, as DuckDB does it, and drops them; "in the engine" hashes
every value of each column without handing anything over. Where people have names, everybody's is looked at and checked
to come once; where rows are people, the engine looks up the rows that are drawn.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import pyarrow

from crowdblend.kinds import plan
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.randomness import ReleaseKey, new_key

REGIONS = [f"Region {i:02d}" for i in range(20)]
LEVELS = [f"Education level {i}" for i in range(10)]
COLUMNS = ("sex", "region", "education", "age", "income")
HEAD = """
[data]
source = "people.parquet"
{who}
[sampling]
design = "survey"
people = {sample}
of = {rows}
[privacy]
epsilon = 1.0
[columns]
sex = {{ values = ["Female", "Male"] }}
region = {{ values = {regions} }}
education = {{ values = {levels} }}
age = {{ from = 0, to = 100, width = 10 }}
income = {{ from = 0, to = 200000, resolution = 10, outside = "clamp" }}
[[publish]]
kind = "statistics"
"""
AVERAGES = [("average", '"income"'), ("average", '"age"')]
HISTOGRAMS = [("histogram", f'"{name}"') for name in ("sex", "region", "education", "age")]
FRACTIONS = [
    ("fraction", f'{{ sex = "{sex}", region = "{region}" }}') for sex in ("Female", "Male") for region in REGIONS
]
COUNTS = [("count", f'{{ education = "{level}", age = "[20, 30)" }}') for level in LEVELS[:4]]
ALL = [*AVERAGES, *HISTOGRAMS, *FRACTIONS, *COUNTS]
FEW = [AVERAGES[0], HISTOGRAMS[0], HISTOGRAMS[1], HISTOGRAMS[2], HISTOGRAMS[3]]
NAMED, ROWS = 'person = "person_id"', "rows_are_people = true"
POLICIES = {"statistics_50": (ALL, NAMED), "statistics_5": (FEW, NAMED), "statistics_50_of_rows": (ALL, ROWS)}


def policy(rows: int, statistics: list[tuple[str, str]], who: str) -> str:
    """A policy with these statistics; all policies of the bench need the same columns."""
    lists = {"regions": json.dumps(REGIONS), "levels": json.dumps(LEVELS)}
    head = HEAD.format(who=who, rows=rows, sample=max(1, rows // 100), **lists)
    listed = [f'[[publish.statistics]]\nname = "s{at}"\n{what} = {of}\n' for at, (what, of) in enumerate(statistics)]
    return head + "".join(listed)


def generate(folder: Path, rows: int) -> None:
    """People with scattered numbers for names."""
    duckdb.sql(f"""COPY (SELECT (i * 2654435761) % 4294967291 AS person_id,
        CASE WHEN hash(i) % 2 = 0 THEN 'Female' ELSE 'Male' END AS sex,
        'Region ' || lpad(CAST(hash(i + 1) % 20 AS VARCHAR), 2, '0') AS region,
        'Education level ' || CAST(hash(i + 2) % 10 AS VARCHAR) AS education,
        CAST(hash(i + 3) % 100 AS INTEGER) AS age,
        round(CAST(hash(i + 4) % 20000000 AS DOUBLE) / 100, 2) AS income
        FROM range({rows}) AS people(i)) TO '{folder / "people.parquet"}' (FORMAT parquet)""")
    for name, (statistics, who) in POLICIES.items():
        (folder / f"{name}.toml").write_text(policy(rows, statistics, who), encoding="utf-8")


def bare(folder: Path) -> None:
    """Every column in batches."""
    connection = duckdb.connect(config={"preserve_insertion_order": False})
    found = connection.sql(f"SELECT person_id, {', '.join(COLUMNS)} FROM '{folder / 'people.parquet'}'")
    streamed = found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_record_batch
    for _ in streamed(1 << 17):
        pass


def in_the_engine(folder: Path) -> None:
    """Every column looked at, nothing handed over."""
    looked = ", ".join(f"bit_xor(hash({name}))" for name in ("person_id", *COLUMNS))
    duckdb.connect().sql(f"SELECT {looked} FROM '{folder / 'people.parquet'}'").fetchall()


def statistics(folder: Path, name: str) -> None:
    """A release up to what is published, without writing it."""
    planned = plan(load_policy(folder / f"{name}.toml"))
    key = ReleaseKey(new_key())
    planned.publish(planned.read(default_engine(), key), key)


WORK: dict[str, Callable[[Path], None]] = {
    "bare": bare,
    "in_the_engine": in_the_engine,
    **{name: partial(statistics, name=name) for name in POLICIES},
}


def measured(work: str, folder: Path) -> dict[str, float]:
    """One piece of work in a child process."""
    done = subprocess.run(
        [sys.executable, __file__, "--work", work, str(folder)], check=True, capture_output=True, text=True
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        pyarrow.array([0])  # loads what Arrow loads on first use, which is no part of either work
        before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        WORK[sys.argv[2]](Path(sys.argv[3]))
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(
            json.dumps(
                {
                    "seconds": round(time.perf_counter() - started, 2),
                    "cpu_seconds": round(used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, 2),
                    "peak_mb": used.ru_maxrss // 1024,
                }
            )
        )
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, rows)
        measured("bare", folder)  # once for the file cache
        told = {work: measured(work, folder) for work in WORK}
    ratios = {
        f"{name} / {base}, {unit}": round(told[name][unit] / told[base][unit], 2)
        for unit in ("seconds", "cpu_seconds")
        for name in POLICIES
        for base in ("bare", "in_the_engine")
    }
    print(json.dumps({"rows": rows, "sample": max(1, rows // 100), **told, "ratios": ratios}, indent=2))


if __name__ == "__main__":
    main()

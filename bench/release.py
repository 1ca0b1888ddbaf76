"""Whole releases as a user runs them, against a bare query of the same recoding: python -m bench.release [rows …]

Both are commands: the start of Python, imports, planning, reading, the ledger, writing, hashing and the report are
included on our side, the start of Python and of DuckDB on the other. They run in turns, each in a process of its own,
and the least of each figure counts, since other work on the machine can only add to it. CPU is that of all threads and
of all processes that are started. Rows say which of the works are run, such as 1000 10000000; by default those of up to
ten million; with --spark those on two cores of Spark, whose bare query is Spark's own. With --record the figures are
kept in bench/release.json, shown in docs/speed.md and drawn in docs/images/speed-growth.svg. BENCH_DATA names a folder
in which the data stay.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import psutil

from bench.release_page import recorded
from bench.release_work import WORK, Work
from crowdblend.ledger import Ledger

# How often works of up to so many rows run; longer ones run once.
REPEATS = {10**7: 7, 10**8: 3}
BARE = """
import sys, duckdb
connection = duckdb.connect(config={"preserve_insertion_order": False})
connection.execute(open(sys.argv[1]).read()).fetchall()
"""
BARE_ON_SPARK = """
import sys
from pyspark.sql import SparkSession
SparkSession.builder.getOrCreate().sql(open(sys.argv[1]).read()).toArrow()
"""
# For both sides alike.
SPARK = "--master local[2] --driver-memory 3g --conf spark.ui.enabled=false pyspark-shell"
# What makes orphans of a process that ended this one's children (Linux).
PR_SET_CHILD_SUBREAPER = 36
PREPARE = """
import sys, duckdb
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bench.release_work import WORK
folder, work = Path(sys.argv[2]), WORK[sys.argv[3]]
if not (folder / work.file).exists():
    duckdb.connect(config={"preserve_insertion_order": False}).execute(work.generate(folder))
(folder / "policy.toml").write_text(work.policy())
(folder / "bare.sql").write_text(work.bare(folder))
"""
Figures = dict[str, float]


@contextmanager
def workers_cpu() -> Iterator[dict[int, float]]:
    """Note the CPU seconds of Spark's Python workers, which the process that starts them does not count."""
    ended, found = threading.Event(), dict[int, float]()

    def watch() -> None:
        while not ended.wait(0.1):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    # Workers are forked, and so are called as that process is.
                    if all("pyspark.daemon" in one.cmdline() for one in (process, process.parent() or process)):
                        times = process.cpu_times()
                        found[process.pid] = times.user + times.system

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield found
    finally:
        ended.set()
        watching.join()


def measured(command: list[str], folder: Path, *, on_spark: bool = False) -> Figures:
    """CPU and wall seconds of a command, and its own peak of memory; its ledger and whatever else it keeps are new."""
    environment = {**os.environ, "XDG_DATA_HOME": str(folder / "home"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment |= {"PYSPARK_SUBMIT_ARGS": SPARK, "PYSPARK_PYTHON": sys.executable}
    for name in ("CROWDBLEND_LEDGER", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    for left in ("published", "home"):
        shutil.rmtree(folder / left, ignore_errors=True)
    Ledger.create(folder / "home" / "crowdblend" / "ledger.sqlite")
    with workers_cpu() if on_spark else nullcontext(dict[int, float]()) as workers:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        with suppress(ChildProcessError):  # Java ends after the command that started it
            while True:
                _, _, used = os.wait4(-1, 0)
                cpu += used.ru_utime + used.ru_stime
    return {"cpu": cpu + sum(workers.values()), "wall": wall, "peak_mb": peak}


def least(runs: list[Figures]) -> Figures:
    """The least of each figure."""
    return {name: round(min(run[name] for run in runs), 2) for name in runs[0]}


def compared(name: str, work: Work, folder: Path, repeats: int) -> dict[str, object]:
    """One piece of work in turns with its bare query, and how they compare."""
    root = str(Path(__file__).parents[1])
    # In a process of its own: on Linux a child's peak memory begins at that of its parent.
    prepare = [sys.executable, "-c", PREPARE, root, str(folder), name]
    subprocess.run(prepare, check=True, stdout=subprocess.DEVNULL)  # DuckDB shows its progress
    bare = [sys.executable, "-c", BARE_ON_SPARK if work.on_spark else BARE, "bare.sql"]
    # The installed command, as a user calls it.
    ours = [str(Path(sys.executable).with_name("crowdblend")), "release", "policy.toml", "--out", "published"]
    ours += ["--yes", "--json"]
    ours += work.options
    if repeats > 1:  # once for the file cache, and for the compiled modules
        measured(bare, folder)
        measured(ours, folder)
    runs = [tuple(measured(one, folder, on_spark=work.on_spark) for one in (bare, ours)) for _ in range(repeats)]
    theirs, mine = least([run[0] for run in runs]), least([run[1] for run in runs])
    ratios = {unit: round(mine[unit] / theirs[unit], 2) for unit in ("cpu", "wall")}
    wanted = {"cpu": work.cpu, "wall": work.wall, "cpu seconds": work.seconds}
    said = {unit: most for unit, most in wanted.items() if most is not None}
    return {"ratio": ratios, "wanted": said, "release": mine, "bare": theirs}


def main(rows: list[int], *, record: bool, on_spark: bool) -> None:
    """Measure the works of so many rows."""
    few = min(REPEATS)
    works = {name: work for name, work in WORK.items() if work.on_spark == on_spark}
    chosen = {name: work for name, work in works.items() if work.rows in rows or (not rows and work.rows <= few)}
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    kept = os.environ.get("BENCH_DATA")
    found = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(kept or made)
        for name, work in chosen.items():
            repeats = next((often for most, often in REPEATS.items() if work.rows <= most), 1)
            repeats = max(1, repeats // 2) if on_spark else repeats
            found[name] = compared(name, work, folder, repeats)
            print(json.dumps({name: found[name]}), file=sys.stderr)
            if record:
                recorded(name, found[name])
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main(
        [int(rows) for rows in sys.argv[1:] if rows.isdigit()],
        record="--record" in sys.argv,
        on_spark="--spark" in sys.argv,
    )

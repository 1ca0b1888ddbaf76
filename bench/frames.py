"""The same release from a Parquet file and from frames in memory, as JSON: python -m bench.frames [rows]

CPU seconds of a release with a new ledger, in a process of its own each; the frame is loaded before the clock starts.
`over_frame_mb` is the largest resident memory during the release beyond what the process had before, with the frame.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import crowdblend as cb
from bench.engine import POLICY
from crowdblend.policies.load import parse_policy

HOLDERS = ("parquet", "arrow", "polars", "pandas", "reader")


def held(holder: str, path: Path) -> Any:
    """The rows as this library holds them."""
    if holder == "parquet":
        return path
    table = parquet.read_table(path)
    if holder == "polars":
        import polars  # noqa: PLC0415

        return polars.from_arrow(table)
    if holder == "pandas":
        return table.to_pandas()
    return table.to_reader() if holder == "reader" else table


def resident() -> float:
    """Resident memory in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def child(holder: str, folder: Path) -> None:
    """One release in a process of its own."""
    warnings.simplefilter("ignore")
    data = held(holder, folder / "people.parquet")
    pa.default_memory_pool().release_unused()
    policy = parse_policy(POLICY.replace("k = 20\n", ""), folder)
    before, peak, done = resident(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    cb.release(data, policy, ledger=cb.Ledger(Path(tempfile.mkdtemp(dir=folder)) / "ledger.db"))
    after = resource.getrusage(resource.RUSAGE_SELF)
    done.set()
    watcher.join()
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    wall = time.perf_counter() - started
    print(json.dumps({"cpu": cpu, "wall": wall, "before_mb": before, "over_frame_mb": peak[0] - before}))


def main(rows: int) -> None:
    """Measure every holder of the same rows."""
    results = {}
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-m", "bench.engine", "--child", "generate", name, str(rows)], check=True)
        for holder in HOLDERS:
            command = [sys.executable, "-m", "bench.frames", "--child", holder, name]
            said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            results[holder] = {key: round(value, 2) for key, value in said.items()}
    ratios = {holder: round(results[holder]["cpu"] / results["parquet"]["cpu"], 2) for holder in HOLDERS}
    print(json.dumps({"rows": rows, "ratio of CPU time to Parquet": ratios, **results}, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)

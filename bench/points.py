"""Points against a bare group-by of the same blocks, as one JSON object: python -m bench.points [points [work …]]

CPU seconds of a child process each, so that nothing is warm and peak memory is its own. The bare query finds every
point's block with the same SQL and counts the blocks; it neither draws, nor looks at persons, nor adds noise.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crowdblend.kinds import plan
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.randomness import ReleaseKey, new_key

POLICY = """
[data]
source = "points.parquet"
person = "person_id"
[sampling]
design = "poisson"
rate = 0.1
[privacy]
epsilon = 1.0
delta = 1e-6
[columns]
x = { from = 0, to = 1000, width = 10, resolution = 1 }
y = { from = 0, to = 1000, width = 10, resolution = 1 }
[[publish]]
kind = "points"
k = 20
noise_epsilon = 1.5
"""
REPEATS = 3
DRAWN = POLICY.replace('"poisson"', '"coins"')


def generate(folder: Path, points: int) -> None:
    """Points around a thousand centres, with shuffled persons, in pieces."""
    rng = np.random.default_rng(1)
    persons, centres = rng.permutation(points), rng.uniform(50, 950, (1000, 2))
    writer = None
    for start in range(0, points, 1 << 20):
        piece = persons[start : start + (1 << 20)]
        places = centres[rng.integers(0, len(centres), len(piece))] + rng.normal(0, 15, (len(piece), 2))
        x, y = places.clip(0, 1000).T
        table = pa.table({"person_id": piece, "x": x, "y": y})
        writer = writer or parquet.ParquetWriter(folder / "points.parquet", table.schema)
        writer.write_table(table, row_group_size=1 << 17)
    assert writer is not None
    writer.close()
    (folder / "points.toml").write_text(POLICY)
    (folder / "drawn.toml").write_text(DRAWN)


def bare(folder: Path) -> int:
    """Count all points by block."""
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    block = Intervals(0, 1000, 10, include_stop=True)
    chosen = f"{block.sql('x', typed=True)} AS a, {block.sql('y', typed=True)} AS b"
    query = f"SELECT {chosen}, count(*) AS n FROM read_parquet('{folder / 'points.parquet'}') GROUP BY ALL"
    return connection.sql(query).to_arrow_table().num_rows


def ours(folder: Path, policy: str, *, written: bool = False) -> int:
    """Draw, round, drop small blocks and move everybody else; one row per person is checked."""
    made = plan(load_policy(folder / f"{policy}.toml"))
    key = ReleaseKey(new_key())
    published = made.publish(made.read(default_engine(), key), key)
    if written:
        published.write(folder)
    return int(published.internal["points_published"])


WORK = {
    "bare": bare,
    "a tenth drawn": lambda folder: ours(folder, "points"),
    "all, already drawn": lambda folder: ours(folder, "drawn"),
    "all, already drawn, written": lambda folder: ours(folder, "drawn", written=True),
}


def child(name: str, folder: Path) -> None:
    """Do one piece of work and print what it took."""
    if name == "generate":
        generate(folder, int(sys.argv[4]))
        return
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    found = WORK[name](folder)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu, "wall": wall, "found": found, "peak_mb": after.ru_maxrss / 1024}))


def measured(name: str, folder: Path) -> dict[str, float]:
    """The best of three runs, each in its own process."""
    command = [sys.executable, __file__, "--child", name, str(folder)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(REPEATS)
    ]
    best: dict[str, float] = min(runs, key=lambda run: run["cpu"])
    return {key: round(value, 2) for key, value in best.items()}


def main(points: int, works: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Also a child: on Linux a child's peak memory begins at that of its parent.
        subprocess.run([sys.executable, __file__, "--child", "generate", str(folder), str(points)], check=True)
        results = {work: measured(work, folder) for work in works}
    bare_cpu = results.get("bare", {}).get("cpu", float("nan"))
    ratios = {f"{work} / bare": round(results[work]["cpu"] / bare_cpu, 2) for work in works}
    print(json.dumps({"points": points, "ratios of CPU time": ratios, **results}, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000, sys.argv[2:] or list(WORK))

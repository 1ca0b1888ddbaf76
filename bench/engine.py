"""The engine against a bare group-by of the whole table, as one JSON object: python -m bench.engine [rows [work …]]

CPU seconds of a child process each, so that nothing is warm and peak memory is its own. The bare query recodes with
the same SQL and groups by the codes; it neither draws nor looks at persons.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from crowdblend.methods.designs.draw import Coin
from crowdblend.methods.recoding.classes import ComputedRecoding, Lookup
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.duckdb.engine import DuckDBEngine
from crowdblend.trusted.randomness import DrawKey, new_key

REGIONS = [f"Region {i:02d}" for i in range(20)]
LEVELS = [f"Education level {i}" for i in range(10)]
POLICY = f"""
[data]
source = "people.parquet"
person = "person_id"
[sampling]
design = "poisson"
rate = 0.5
[privacy]
epsilon = 1.0
delta = 1e-6
[columns]
sex = {{ values = ["Female", "Male"] }}
region = {{ values = {json.dumps(REGIONS)} }}
education = {{ values = {json.dumps(LEVELS)} }}
age = {{ from = 0, to = 100, width = 10 }}
income = {{ breaks = [0, 15000, 30000, 50000, 80000, 200000] }}
born = {{ date = "year", from = 2000-01-01, to = 2003-01-01 }}
[[publish]]
kind = "table"
k = 20
"""
TEXTS = POLICY.replace('"person_id"', '"person_text"')
FINE = POLICY.replace("width = 10", "width = 1").replace('"year"', '"day"')
FINE = FINE.replace("breaks = [0, 15000, 30000, 50000, 80000, 200000]", "from = 0, to = 200000, width = 1")


def generate(folder: Path, rows: int) -> None:
    """People with shuffled numbers, and texts such as P00012345-X, for names and six columns, in pieces."""
    rng = np.random.default_rng(1)
    persons = rng.permutation(np.arange(1_000_000, 1_000_000 + rows))
    writer = None
    for start in range(0, rows, 1 << 20):
        piece = persons[start : start + (1 << 20)]
        n = len(piece)

        def some(names: list[str], n: int = n) -> pa.Array:
            return pa.array(names).take(pa.array(rng.integers(0, len(names), n)))

        spelled = compute.utf8_lpad(pa.array(piece).cast(pa.string()), 8, "0")
        table = pa.table(
            {
                "person_id": piece,
                "person_text": compute.binary_join_element_wise("P", spelled, "-X", ""),
                "sex": some(["Female", "Male"]),
                "region": some(REGIONS),
                "education": some(LEVELS),
                "age": rng.integers(0, 100, n).astype(np.int32),
                "income": np.round(rng.gamma(2, 20000, n).clip(0, 199999), 2),
                "born": (np.datetime64("2000-01-01") + rng.integers(0, 1096, n)).astype("datetime64[D]"),
            }
        )
        writer = writer or parquet.ParquetWriter(folder / "people.parquet", table.schema)
        writer.write_table(table, row_group_size=1 << 17)
    assert writer is not None
    writer.close()
    (folder / "policy.toml").write_text(POLICY)
    (folder / "texts.toml").write_text(TEXTS)
    (folder / "fine.toml").write_text(FINE)


def bare(folder: Path) -> int:
    """Recode and group the whole table, without persons and without a draw."""
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    codes, joins = [], []
    for i, column in enumerate(load_policy(folder / "policy.toml").columns):
        recoding = column.recoding
        if isinstance(recoding, Lookup):
            given = {"value": list(recoding.lookup), "code": pa.array(recoding.lookup.values(), pa.int32())}
            connection.register(f"given{i}", pa.table(given))
            codes.append(f"given{i}.code")
            joins.append(f"LEFT JOIN given{i} ON people.{column.name} = given{i}.value")
        elif isinstance(recoding, ComputedRecoding):
            codes.append(recoding.sql(column.name, typed=True))
    chosen = ", ".join(f"{code} AS c{i}" for i, code in enumerate(codes))
    source = f"read_parquet('{folder / 'people.parquet'}') AS people"
    query = f"SELECT {chosen}, count(*) AS n FROM {source} {' '.join(joins)} GROUP BY ALL"
    return connection.sql(query).to_arrow_table().num_rows


def ours(folder: Path, rate: float, policy: str = "policy") -> int:
    """The same classes of a sample, one row per person checked."""
    about: Any = load_policy(folder / f"{policy}.toml")
    return len(count_classes(about, Coin(DrawKey(new_key()), rate), DuckDBEngine()).classes.counts)


WORK = {
    "bare": bare,
    "half": lambda folder: ours(folder, 0.5),
    "tenth": lambda folder: ours(folder, 0.1),
    "half, texts": lambda folder: ours(folder, 0.5, "texts"),
    "tenth, texts": lambda folder: ours(folder, 0.1, "texts"),
    "fine": lambda folder: ours(folder, 0.5, "fine"),
}


def child(name: str, folder: Path) -> None:
    """Do one piece of work and print what it took."""
    if name == "generate":
        generate(folder, int(sys.argv[4]))
        return
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    classes = WORK[name](folder)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu, "wall": wall, "classes": classes, "peak_mb": after.ru_maxrss / 1024}))


def measured(name: str, folder: Path, repeats: int) -> dict[str, float]:
    """The best of a few runs, each in its own process."""
    command = [sys.executable, __file__, "--child", name, str(folder)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(repeats)
    ]
    best: dict[str, float] = min(runs, key=lambda run: run["cpu"])
    return {key: round(value, 2) for key, value in best.items()}


def main(rows: int, works: list[str]) -> None:
    repeats = 3 if rows <= 20_000_000 else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Also a child: on Linux a child's peak memory begins at that of its parent.
        subprocess.run([sys.executable, __file__, "--child", "generate", str(folder), str(rows)], check=True)
        results = {work: measured(work, folder, repeats) for work in works}
    bare_cpu = results.get("bare", {}).get("cpu", float("nan"))
    ratios = {f"{work} / bare": round(results[work]["cpu"] / bare_cpu, 2) for work in works}
    print(json.dumps({"rows": rows, "ratios of CPU time": ratios, **results}, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000, sys.argv[2:] or list(WORK))

"""The Spark engine against plain Spark SQL on the same files, as one JSON object: python -m bench.spark [rows [work …]]

CPU seconds of driver, Java and Python workers together, in a session on two cores and a process of its own, from when
the session is there. Plain Spark recodes and groups by the same 60,000 cells; it neither draws nor looks at persons.

    plain         group by in Spark SQL
    half          the class counts of a table at rate 0.5, integer ids, one row per person checked
    texts         the same with text ids
    release       a whole release with a ledger: the source is also hashed, to be known again
    skew          90 % of the rows in one partition
    files         10,000 files
    plain skew, plain files
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from pyarrow import parquet

from bench.engine import generate
from bench.release_work import BARE_ON_SPARK
from crowdblend.methods.designs.draw import Coin
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.session import session
from crowdblend.trusted.randomness import DrawKey, new_key

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {"spark.ui.enabled": "false", "spark.driver.memory": "3g"}
FILES = 10_000


def write_layouts(folder: Path, rows: int, works: list[str]) -> None:
    """The people in one file, and where it is asked for in skewed and in many files."""
    generate(folder, rows)
    table = folder / "people.parquet"
    if any("skew" in work for work in works):
        (folder / "skew").mkdir()
        people = parquet.read_table(table)
        large = rows * 9 // 10
        parquet.write_table(people.slice(0, large), folder / "skew" / "large.parquet", row_group_size=large)
        for part in range(9):
            small = people.slice(large + part * (rows // 90), rows // 90 + (rows if part == 8 else 0))
            parquet.write_table(small, folder / "skew" / f"small{part}.parquet")
    if any("files" in work for work in works):
        (folder / "files").mkdir()
        people, size = parquet.read_table(table), -(-rows // FILES)
        for part in range(FILES):
            parquet.write_table(people.slice(part * size, size), folder / "files" / f"{part:05d}.parquet")


def plain(spark: SparkSession, folder: Path, source: str = "people.parquet") -> int:
    """Recode and group the whole table in Spark SQL."""
    return int(spark.sql(BARE_ON_SPARK.format(file=folder / source)).toArrow().num_rows)


def ours(spark: SparkSession, folder: Path, source: str = "people.parquet", policy: str = "policy") -> int:
    """The same classes of a sample, one row per person checked."""
    text = (folder / f"{policy}.toml").read_text()
    (folder / "now.toml").write_text(text.replace('"people.parquet"', f'"{source}"\nformat = "parquet"'))
    about: Any = load_policy(folder / "now.toml")
    return len(count_classes(about, Coin(DrawKey(new_key()), 0.5), SparkEngine(spark)).classes.counts)


def whole(_: SparkSession, folder: Path) -> int:
    """A whole release, recorded in a ledger."""
    import crowdblend as cb  # noqa: PLC0415

    text = (folder / "policy.toml").read_text().replace("k = 20\n", "")
    (folder / "now.toml").write_text(text)
    done = cb.release(None, folder / "now.toml", ledger=folder / "ledger.db", engine="spark")
    return len(done.data)


WORK: dict[str, Callable[[Any, Path], int]] = {
    "plain": plain,
    "half": ours,
    "texts": lambda spark, folder: ours(spark, folder, policy="texts"),
    "release": whole,
    "skew": lambda spark, folder: ours(spark, folder, "skew"),
    "files": lambda spark, folder: ours(spark, folder, "files"),
    "plain skew": lambda spark, folder: plain(spark, folder, "skew"),
    "plain files": lambda spark, folder: plain(spark, folder, "files"),
}


def cpu_by_process() -> dict[str, float]:
    """CPU seconds so far, of this process, of Java, and of the Python workers with those that have ended."""
    found = {"driver": 0.0, "java": 0.0, "workers": 0.0}
    me = psutil.Process()
    for process in [me, *me.children(recursive=True)]:
        try:
            times, name = process.cpu_times(), process.name()
        except psutil.Error:
            continue
        spent = times.user + times.system
        if process == me:
            found["driver"] += spent
        else:
            found["java" if "java" in name else "workers"] += spent + times.children_user + times.children_system
    return found


def child(name: str, folder: Path) -> None:
    """Do one piece of work and print what it took."""
    peak, over = {"driver": 0, "java": 0}, threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not over.wait(0.2):
            peak["driver"] = max(peak["driver"], me.memory_info().rss)
            for process in me.children(recursive=True):
                if "java" in process.name():
                    peak["java"] = max(peak["java"], process.memory_info().rss)

    with session("local[2]", SETTINGS) as spark:
        before, start = cpu_by_process(), time.perf_counter()
        threading.Thread(target=watch, daemon=True).start()
        classes = WORK[name](spark, folder)
        wall, after = time.perf_counter() - start, cpu_by_process()
        over.set()
    spent = {part: round(after[part] - before[part], 1) for part in after}
    memory = {f"{part}_peak_mb": round(size / 1e6) for part, size in peak.items()}
    print(
        json.dumps(
            {"cpu": round(sum(spent.values()), 1), "wall": round(wall, 1), "classes": classes, **spent, **memory}
        )
    )


def main(rows: int, works: list[str]) -> None:
    """Measure, each piece of work in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_layouts(folder, rows, works)
        found = {}
        for work in works:
            command = [sys.executable, "-W", "ignore", "-m", "bench.spark", "--child", work, name]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            found[work] = json.loads(done.stdout)
        if "plain" in found and "half" in found:
            found["ratio"] = round(found["half"]["cpu"] / found["plain"]["cpu"], 2)
        for layout in ("skew", "files"):
            if layout in found and "half" in found:
                found[f"{layout} ratio"] = round(found[layout]["cpu"] / found["half"]["cpu"], 2)
        print(json.dumps({"rows": rows, **found}, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 10_000_000, sys.argv[2:] or ["plain", "half", "skew", "files"])

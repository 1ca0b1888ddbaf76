"""CPU and wall seconds of commands, the start of Python included, as JSON: python -m bench.startup [rows]

Each command runs several times in a process of its own and the least of each figure counts: other work on the machine
can only add to it. The first run compiles, as the first run after an installation does. The limits are for CPU time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crowdblend.lab.demo import write_population
from crowdblend.ledger import Ledger

REPEATS = 5
POLICY = """
[data]
source = "people.parquet"
person = "person_id"
population = "residents"

[sampling]
design = "poisson"
rate = 0.5

[privacy]
epsilon = 1.0
delta = 1e-6

[columns]
sex = { values = ["female", "male"] }
age = { from = 0, to = 110, width = 10 }
district = { values = ["Harbour", "Old Town", "Riverside", "Hillside"], other = "elsewhere" }
education = { values = ["none", "school", "vocational", "bachelor", "master", "doctorate"] }

[[publish]]
kind = "table"
below_k = "suppress"
"""
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "plan": (["plan", "--rate", "0.5", "--epsilon", "1", "--delta", "1e-6"], 0.4),
    "init": (["init", "people.parquet", "--design", "poisson", "--out", "-"], 0.5),
    "release --dry-run": (["release", "policy.toml", "--dry-run"], 0.6),
    "release": (["release", "policy.toml", "--out", "published", "--yes", "--force"], 1.2),
    "verify": (["verify", "published"], None),
    "report": (["report", "published", "--out", "-"], None),
}


def run(arguments: list[str], folder: Path) -> tuple[float, float]:
    """CPU and wall seconds of one run."""
    environment = {**os.environ, "XDG_DATA_HOME": str(folder / "home"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    for name in ("CROWDBLEND_LEDGER", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    started, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, "-m", "crowdblend", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, time.perf_counter() - started


def measure(arguments: list[str], folder: Path) -> dict[str, float]:
    """The least of each figure over several runs, each from the same start."""
    runs = []
    for _ in range(REPEATS):
        if arguments[0] == "release":
            shutil.rmtree(folder / "published", ignore_errors=True)
            shutil.rmtree(folder / "home", ignore_errors=True)
            Ledger.create(folder / "home" / "crowdblend" / "ledger.sqlite")
        runs.append(run(arguments, folder))
    cpu, wall = zip(*runs, strict=True)
    return {"cpu": round(min(cpu), 2), "wall": round(min(wall), 2)}


def main(rows: int) -> None:
    """Measure every command on a generated town of so many rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_population(folder / "people.parquet", rows)
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        figures = {
            command: {**measure(arguments, folder), **({"limit_cpu": limit} if limit else {})}
            for command, (arguments, limit) in COMMANDS.items()
        }
    print(json.dumps({"rows": rows, "seconds": figures}, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000)

"""Whole releases against a bare group-by of the whole table, as JSON: python bench/release.py [rows]

CPU seconds of a child process each: planning, sampling, sanitizing, writing, hashing and the report, all included.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine import POLICY, bare

from crowdblend.policies import parse_policy
from crowdblend.publishing.release import release

TENTH = POLICY.replace("rate = 0.5", "rate = 0.1")
POLICIES = {
    "table at rate 0.5": POLICY.replace("k = 20\n", ""),
    "table at rate 0.1": TENTH.replace("k = 20\n", ""),
    "microdata at rate 0.5": POLICY.replace("k = 20\n", "").replace('"table"', '"microdata"'),
    "microdata at rate 0.1": TENTH.replace("k = 20\n", "").replace('"table"', '"microdata"'),
}
WORK = ["bare", *POLICIES]


def child(name: str, folder: Path) -> None:
    """One piece of work in a process of its own."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    if name == "bare":
        bare(folder)
    else:
        out = Path(tempfile.mkdtemp(dir=folder)) / "published"
        release(parse_policy(POLICIES[name], folder), out)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - started, "peak_mb": after.ru_maxrss / 1024}))


def measured(name: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", name, str(folder)]
    done: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {key: round(value, 2) for key, value in done.items()}


def main(rows: int) -> None:
    engine = str(Path(__file__).with_name("engine.py"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, engine, "--child", "generate", str(folder), str(rows)], check=True)
        results = {work: measured(work, folder) for work in WORK}
    ratios = {work: round(results[work]["cpu"] / results["bare"]["cpu"], 2) for work in POLICIES}
    print(json.dumps({"rows": rows, "ratio of CPU time to the bare group-by": ratios, **results}, indent=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)

"""Releases that are audited a minute, as one JSON object: python bench/audit.py [runs [processes]]

Every run is a whole release of 1,000 made-up people with a fresh key: the coin, the classes, the mechanism, the files
written and read again. `stacked` runs many releases as one, which is how the audit measures its own power.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from crowdblend.auditing.statistical import hard_sizes
from crowdblend.policies import parse_policy
from crowdblend.rehearsal import FAMILIES, subject_of

PEOPLE = 1_000


def seconds(name: str, runs: int, stacked: bool) -> tuple[float, float]:
    """Wall and CPU seconds of so many runs, without what is done once."""
    # Statistics have as many people as their policy says.
    policy = parse_policy(FAMILIES[name].policy.replace("people = 24", f"people = {PEOPLE}"))
    subject = subject_of(policy, hard_sizes, name=name, people=PEOPLE if not stacked else 100, stacked=stacked)
    population = subject.pairs()[2].more
    subject.observe(population, 10)
    wall, cpu = time.perf_counter(), time.process_time()
    subject.observe(population, runs)
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(name: str, runs: int, processes: int, stacked: bool) -> dict[str, float]:
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(seconds, [name] * processes, [runs] * processes, [stacked] * processes))
    slowest, cpu = max(wall for wall, _ in found), sum(cpu for _, cpu in found)
    return {
        "releases_per_minute": round(60 * runs * processes / slowest),
        "releases_per_minute_of_cpu": round(60 * runs * processes / cpu),
    }


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    found = {"people": PEOPLE, "processes": processes, "load": os.getloadavg()[0]}
    found |= {name: measure(name, runs, processes, stacked=False) for name in FAMILIES}
    found["stacked suppressed table of 100"] = measure("suppressed table", 10 * runs, processes, stacked=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

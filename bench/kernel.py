"""How fast the kernel answers, as JSON: each figure in milliseconds, next to the limit it should stay under."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from crowdblend import plan, verify


def milliseconds(action: Callable[[], Any], repeats: int = 15) -> float:
    """The median time of a call, once everything is loaded."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def cold_start() -> float:
    """The median time of the command line from nothing."""
    command = [sys.executable, "-m", "crowdblend", "plan", "--rate", "0.1", "--k", "20", "--epsilon", "1", "--json"]
    return milliseconds(lambda: subprocess.run(command, check=True, capture_output=True), repeats=5)


def main() -> None:
    planned = plan(rate=0.1, k=20, epsilon=0.5)
    text = planned.certificate().to_json()
    figures = {
        "delta at k=20, rate=0.1": (milliseconds(lambda: plan(rate=0.1, k=20, epsilon=0.5)), 2),
        "delta at k=1000, rate=0.01, epsilon=0.1": (milliseconds(lambda: plan(rate=0.01, k=1000, epsilon=0.1)), 50),
        "smallest k for delta=1e-9 at rate=0.01, epsilon=0.1": (
            milliseconds(lambda: plan(rate=0.01, epsilon=0.1, delta=1e-9)),
            500,
        ),
        "certificate": (milliseconds(lambda: planned.certificate().to_json()), 1000),
        "verify": (milliseconds(lambda: verify(text)), 1000),
        "crowdblend plan from a cold start": (cold_start(), 1000),
    }
    report = {name: {"ms": round(ms, 3), "limit_ms": limit} for name, (ms, limit) in figures.items()}
    print(json.dumps({"kernel": report}, indent=2))


main()

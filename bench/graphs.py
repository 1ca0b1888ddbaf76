"""How long networks take, as JSON lines: exact statistics against building the adjacency.

    python -m bench.graphs LINKS …     random links among LINKS/5 people: no two neighbours lie close in memory

"pass" is one pass of scipy that turns the list of links into adjacency rows. "network" is our own: it sorts, drops
repeats and keeps every link once. Each size runs in a process of its own, so that the largest memory is its own.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.csgraph  # noqa: F401  loaded beforehand: its time is nobody's
from scipy.sparse import coo_array

from crowdblend.methods.networks import Structure, network
from crowdblend.methods.networks.exact import (
    average_degree,
    edits_to_connected,
    edits_to_cycle_free,
    edits_to_euler_path,
)

FOUR = (edits_to_connected, edits_to_cycle_free, edits_to_euler_path, average_degree)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def random_links(links: int) -> tuple[int, np.ndarray, np.ndarray]:
    rng, people = np.random.default_rng(1), links // 5
    return people, rng.integers(0, people, links, dtype=np.int32), rng.integers(0, people, links, dtype=np.int32)


def exact(links: int) -> None:
    people, source, target = random_links(links)
    told = ours(people, source, target)
    passed = one_pass(people, source, target)
    ratio = told["four statistics"] / passed
    emit({"links": links, "people": people, **told, "pass": passed, "ratio": ratio, "largest GB with pass": memory()})


def ours(people: int, source: np.ndarray, target: np.ndarray) -> dict[str, float]:
    built, found = timed(lambda: Structure(network(people, source, target, self_loops="drop", duplicates="drop")))
    took, _ = timed(lambda: [step(found) for step in FOUR])
    return {"network": built, "four statistics": took, "largest GB": memory()}


def one_pass(people: int, source: np.ndarray, target: np.ndarray) -> float:
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(2 * len(source), np.int8)
    return timed(lambda: coo_array((ones, ends), shape=(people, people)).tocsr())[0]


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def emit(told: dict[str, Any]) -> None:
    print(json.dumps({name: round(value, 4) if isinstance(value, float) else value for name, value in told.items()}))


def main() -> None:
    for size in sys.argv[1:] or ["1000000"]:
        process = multiprocessing.get_context("spawn").Process(target=exact, args=(int(float(size)),))
        process.start()
        process.join()


if __name__ == "__main__":
    main()

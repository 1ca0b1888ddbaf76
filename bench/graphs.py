"""How long networks take, as JSON lines: exact statistics against building the adjacency, and samplers against n.

    python -m bench.graphs exact LINKS …     random links among LINKS/5 people: no two neighbours lie close in memory
    python -m bench.graphs samplers PEOPLE … the same number of samples in ever larger networks

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

from crowdblend.networks import Structure, network
from crowdblend.networks.exact import average_degree, edits_to_connected, edits_to_cycle_free, edits_to_euler_path
from crowdblend.randomness import SeededSource
from tests.networks import samplers

FOUR = (edits_to_connected, edits_to_cycle_free, edits_to_euler_path, average_degree)
DEGREE_BOUND, SAMPLES, EXPLORED = 50, 2_000, 60


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


def sampling(people: int) -> None:
    # people/2 links: most components are small, one is large
    rng = np.random.default_rng(2)
    source, target = (rng.integers(0, people, people // 2, dtype=np.int32) for _ in range(2))
    view = samplers.Adjacency.of(network(people, source, target, self_loops="drop", duplicates="drop"))
    told: dict[str, Any] = {"people": people, "samples": SAMPLES, "explored": EXPLORED}
    for name in ("sampled_connected", "sampled_cycle_free", "sampled_euler_path"):
        walk = getattr(samplers, name)
        told[name] = best(lambda: walk(view, DEGREE_BOUND, SAMPLES, EXPLORED, SeededSource(1)))  # noqa: B023
    for name in ("sampled_degree", "sampled_light_ends"):
        ask = getattr(samplers, name)
        told[name] = best(lambda: ask(view, SAMPLES, SeededSource(1)))  # noqa: B023
    emit(told)


def best(work: Callable[[], Any]) -> float:
    return min(timed(work)[0] for _ in range(5))


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def emit(told: dict[str, Any]) -> None:
    print(json.dumps({name: round(value, 4) if isinstance(value, float) else value for name, value in told.items()}))


def main() -> None:
    what, *sizes = sys.argv[1:] or ["exact"]
    work = {"exact": exact, "samplers": sampling}[what]
    for size in sizes or (["1000000"] if what == "exact" else ["100000", "1000000", "10000000"]):
        process = multiprocessing.get_context("spawn").Process(target=work, args=(int(float(size)),))
        process.start()
        process.join()


if __name__ == "__main__":
    main()

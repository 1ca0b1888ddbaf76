"""A synopsis of the census extract against independent Laplace answers, as JSON.

Eight categorical columns, all conjunctions of up to three of them, the sample and epsilon of the example policy. For a
number of runs: the largest error about the sample of the synthetic rows, the planned one, and the largest error of
answering every cell of every table of three columns with Laplace noise of its own, at the same epsilon (tables of fewer
columns are left out of that, which favours it). Times are wall-clock and CPU seconds from counts to rows.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.kinds.synopsis.plan import SynopsisPlan, method
from crowdblend.methods.designs.draw import Everybody
from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions
from crowdblend.methods.mechanisms.synopsis.rows import count_rows, random_rows, shares
from crowdblend.methods.mechanisms.synopsis.synopses import FittedSynopsis
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import SystemSource, discrete_laplace

EXAMPLE = Path(__file__).parents[1] / "examples" / "census_synopsis.toml"


def main(runs: int) -> None:
    policy: Any = load_policy(EXAMPLE)
    release_plan = method(policy).plan()
    assert isinstance(release_plan, SynopsisPlan)
    planned, source = release_plan.parameters, SystemSource()
    mechanism, queries = planned.mechanism, planned.mechanism.queries
    assert isinstance(mechanism, FittedSynopsis)
    assert isinstance(queries, Conjunctions)
    everybody = count_classes(release_plan.policy, Everybody()).classes
    cells = np.ravel_multi_index(list(everybody.codes[:, release_plan.order].T), queries.shape)
    results = []
    for _ in range(runs):
        sample = count_rows(random_rows(cells, everybody.counts, planned.samples, source), queries.shape)
        truth = queries.ask(sample) / planned.samples
        wall, cpu = time.perf_counter(), time.process_time()
        made = mechanism.publish(sample, planned.samples, source)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        error = np.abs(queries.ask(shares(made.cells, queries.shape)) - truth).max()
        results.append(
            {
                "error": float(error),
                "laplace": laplace_error(planned.mechanism.claim().conclusion.epsilon, planned.samples, queries),
                "seconds": wall,
                "cpu_seconds": cpu,
            }
        )
    print(
        json.dumps(
            {
                "queries": queries.size,
                "different_rows": queries.universe,
                "epsilon": planned.derivations()[0].conclusion.epsilon,
                "sanitizer_epsilon": planned.mechanism.claim().conclusion.epsilon,
                "planned_error_about_sample": planned.about_sample.accuracy,
                "planned_error_about_everybody": planned.about_everybody.accuracy,
                "largest_error": max(result["error"] for result in results),
                "smallest_laplace_error": min(result["laplace"] for result in results),
                "runs": results,
            },
            indent=2,
        )
    )


def laplace_error(epsilon: float, people: int, queries: Conjunctions) -> float:
    """The largest noise on the cells of all widest tables, each person in one cell of each, two moved by replacing."""
    widest = [kept for kept in queries.tables if len(kept) == queries.order]
    cells = sum(int(np.prod([queries.shape[c] for c in kept])) for kept in widest)
    return float(np.abs(discrete_laplace(cells, epsilon / (2 * len(widest)), SystemSource())).max()) / people


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)

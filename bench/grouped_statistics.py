"""Averages and medians of groups against OpenDP's at the same ε, and how often stated errors are kept.

    python bench/grouped_statistics.py [RUNS]

Plain differential privacy with one person's data replaced; 4,000 made-up people in three groups, incomes from 0 to
100,000 in steps of 500, a fifth of them 0. Errors are mean absolute ones over all groups, ranks shares of the group.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kinds.grouped import GROUPS, Town, rank_holds
from tests.kinds.opendp_statistics import OpenDPGroups


def rank_error(values: np.ndarray, found: float) -> float:
    """How far the wanted rank lies outside those of a value."""
    return max(0.0, (values < found).mean() - 0.5, 0.5 - (values <= found).mean())


def compare(epsilon: float, runs: int, *, grouped: bool, average: bool) -> None:
    """Print one line."""
    theirs = OpenDPGroups(0, 100_000, 500)
    by = '\nby = ["group"]' if grouped else ""
    town = Town(f'{"average" if average else "median"} = "income"{by}', epsilon=epsilon)
    values = {g: town.of("income", group=g) for g in GROUPS} if grouped else {None: town.of("income")}
    size = None if grouped else len(values[None])
    queries = [theirs.average(epsilon), theirs.average(epsilon, centred=True)] if average else []
    queries = queries or [theirs.quantile(epsilon, 0.5, size)]
    true = {g: some.mean() if average else np.median(some) for g, some in values.items()}
    kept, errors, ranks = 0, [], []
    for _ in range(runs):
        fine = True
        for row in town.publish().to_pylist():
            g = row["bin"]
            errors.append(abs(row["value"] - true[g]))
            ranks.append(rank_error(values[g], row["value"]))
            fine &= (
                errors[-1] <= row["error"] if average else rank_holds(values[g], 0.5, row["value"], row["rank_error"])
            )
        kept += fine
    what = f"{'average' if average else 'median':<8}{'of groups' if grouped else 'of all':<10} ε {epsilon:<5}"
    line = f"{what} kept {kept / runs:7.2%}   error {np.mean(errors):8.1f}"
    for query, name in zip(queries, ("OpenDP", "OpenDP, centred"), strict=False):
        found = [(g, query(some)) for _ in range(runs) for g, some in values.items()]
        other = np.mean([abs(value - true[g]) for g, value in found])
        line += f"   {name} {other:8.1f}, ratio {np.mean(errors) / max(other, 1e-9):.3f}"
        if not average:
            line += f"   ranks {np.mean(ranks):.5f}"
            theirs_rank = np.mean([rank_error(values[g], value) for g, value in found])
            line += f", OpenDP {theirs_rank:.5f}, ratio {np.mean(ranks) / max(theirs_rank, 1e-9):.3f}"
    print(line)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    for loss in (0.05, 0.2, 1.0):
        compare(loss, times, grouped=True, average=True)
        compare(loss, times, grouped=True, average=False)
        compare(loss, times, grouped=False, average=False)

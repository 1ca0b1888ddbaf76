"""Averages and medians of groups against OpenDP's at the same ε, and how often stated errors are kept.

    python -m bench.grouped_statistics [RUNS]

Plain differential privacy with one person's data replaced; 4,000 made-up people in three groups, incomes from 0 to
100,000 in steps of 500, a fifth of them 0. Errors are mean absolute ones over all groups, ranks shares of a group.
Errors of medians are the expected ones of both laws, computed exactly; those of averages are over all runs.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from bench.opendp_statistics import OpenDPGroups, permuted_and_flipped
from crowdblend.methods.mechanisms.statistics import quantile_losses
from tests.kinds.grouped import GROUPS, Town, rank_holds

GRID = np.arange(0, 100_001, 500)


def medians(epsilon: float, runs: int, *, grouped: bool) -> str:
    """Expected errors of both laws, and how often the stated one was kept."""
    theirs = OpenDPGroups(0, 100_000, 500)
    by = '\nby = ["group"]' if grouped else ""
    town = Town(f'median = "income"{by}', epsilon=epsilon)
    rate = town.plan.parameters.noise_epsilon(0) / 2
    values = {g: town.of("income", group=g) for g in GROUPS} if grouped else {None: town.of("income")}
    errors = np.zeros((2, 2))
    for some in values.values():
        counts = np.bincount(some // 500, minlength=len(GRID))
        upto = np.cumsum(counts) / len(some)
        off = np.maximum(0, np.maximum(upto - counts / len(some) - 0.5, 0.5 - upto))
        ours = permuted_and_flipped(quantile_losses(counts, Fraction(1, 2), len(some)), rate)
        other = theirs.quantile_law(some, epsilon, 0.5, None if grouped else len(some))
        for at, law in enumerate((ours, other)):
            errors[at] += np.array([law @ abs(GRID - np.median(some)), law @ off]) / len(values)
    kept = np.mean(
        [
            all(
                rank_holds(values[row["group"]], 0.5, row["value"], row["rank_error"])
                for row in town.publish().to_pylist()
            )
            for _ in range(runs)
        ]
    )
    ratio = errors[0] / np.maximum(errors[1], 1e-12)
    return (
        f"kept {kept:7.2%}   error {errors[0][0]:8.1f}, OpenDP {errors[1][0]:8.1f}, ratio {ratio[0]:.3f}   "
        f"ranks {errors[0][1]:.5f}, OpenDP {errors[1][1]:.5f}, ratio {ratio[1]:.3f}"
    )


def averages(epsilon: float, runs: int) -> str:
    """Mean errors over the runs."""
    theirs, town = OpenDPGroups(0, 100_000, 500), Town('average = "income"\nby = ["group"]', epsilon=epsilon)
    values = {g: town.of("income", group=g) for g in GROUPS}
    kept, errors = 0, []
    for _ in range(runs):
        rows = town.publish().to_pylist()
        off = [abs(row["value"] - values[row["group"]].mean()) for row in rows]
        kept += all(one <= row["error"] for one, row in zip(off, rows, strict=True))
        errors += off
    line = f"kept {kept / runs:7.2%}   error {np.mean(errors):8.1f}"
    for name, centred in (("OpenDP", False), ("OpenDP with bounds around 0", True)):
        query = theirs.average(epsilon, centred=centred)
        other = np.mean([abs(query(some) - some.mean()) for _ in range(runs) for some in values.values()])
        line += f", {name} {other:8.1f}, ratio {np.mean(errors) / other:.3f}"
    return line


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    for loss in (0.05, 0.2, 1.0):
        print(f"average of groups  ε {loss:<5} {averages(loss, times)}")
        print(f"median of groups   ε {loss:<5} {medians(loss, times, grouped=True)}")
        print(f"median of all      ε {loss:<5} {medians(loss, times, grouped=False)}")

"""Synthetic rows from all tables of two columns of Adult and of a census, as JSON: errors, CPU seconds, margins.

    python -m bench.synthesis [adult|census|sample|others …] [--runs 5] [--epsilon 1]

The settings of the fit were chosen on Adult and on the ten columns of `census`; `others` are other columns of that
census, on which nothing was chosen. A run takes half a CPU minute of Adult and one and a half of a census, most of it
for `auc` and `three`, which are about all people; stderr says when one ends.

Each run plans, releases and synthesizes as many rows as there are people, in a process of its own. `rows` and `raw`
are the shares of people in wrong cells, in the mean of all tables of two columns; `three` that of tables of three,
which nobody published. `margins` has how many tables of two columns are more than 5 % worse in the rows than as they
were published: in the median run of each table, and in every single run, where a table of few cells may by luck be
nearly right; `unmet` how many tables the rows say not to replace. `auc` is that of a logistic regression that
learns from the rows and is tried on the people. The data are those of shared/data, beside the repository.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import crowdblend as cb
from crowdblend.synthesis.facts import TableMet

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
DATA = Path(__file__).parents[2] / "shared" / "data"
CENSUS = (
    "sex", "race", "education", "marital_status", "class_of_worker", "citizenship", "employment", "household_summary",
    "tax_filer", "income",
)  # fmt: skip
OTHERS = (
    "age", "hispanic_origin", "major_industry", "major_occupation", "self_country", "veterans_benefits", "weeks_worked",
    "year",
)  # fmt: skip
SAMPLINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "adult": (cb.Everybody(), {}),
    "census": (cb.Everybody(), {}),
    "sample": (cb.Poisson(0.1), {"below_k": "noise"}),
    "others": (cb.Everybody(), {}),
}


def people(name: str) -> pd.DataFrame:
    """The people, with columns of labels alone; ages of Adult are by tens."""
    if name == "adult":
        found = pd.read_csv(DATA / "adult" / "adult.csv", sep=";", dtype=str)
        return found.assign(age=found["age"].str[:-1] + "0")
    if name == "others":
        found = pd.read_parquet(DATA / "census_income.parquet", columns=list(OTHERS)).fillna("unknown")
        return found.assign(age=found["age"] // 10, weeks_worked=found["weeks_worked"] // 10).astype(str)
    return pd.read_parquet(DATA / "census_income.parquet", columns=list(CENSUS)).astype(str)


def cpu() -> float:
    """CPU seconds of this process and of those that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def shares(codes: Codes, sizes: Sequence[int], places: Sequence[int]) -> Numbers:
    """The shares of rows in the cells of a table by some columns."""
    shape = [sizes[place] for place in places]
    cells = np.ravel_multi_index([codes[:, place] for place in places], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))) / len(codes)


def auc(rows: Codes, true: Codes, sizes: Sequence[int]) -> float:
    """The chance that people with the last label of the last column score higher, by a regression on the rows."""

    def indicators(codes: Codes) -> Numbers:
        columns = [np.eye(size)[codes[:, at]] for at, size in enumerate(sizes[:-1])]
        return np.hstack([*columns, np.ones((len(codes), 1))])

    x, y = indicators(rows), (rows[:, -1] == sizes[-1] - 1).astype(float)
    weights = np.zeros(x.shape[1])
    for _ in range(12):  # Newton's steps
        chance = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + np.eye(len(weights))
        weights += np.linalg.solve(curvature, x.T @ (y - chance) - weights)
    ranks = pd.Series(indicators(true) @ weights).rank().to_numpy()
    positive = true[:, -1] == sizes[-1] - 1
    ones = int(positive.sum())
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * (len(true) - ones)))


def measure(name: str, epsilon: float) -> dict[str, Any]:
    """One run: what it took, and how far the rows and the published tables are off."""
    everybody = people(name)
    names, pairs = list(everybody), list(combinations(everybody, 2))
    labels = {column: sorted(everybody[column].unique()) for column in names}
    sizes = [len(labels[column]) for column in names]
    data = everybody.assign(person_id=np.arange(len(everybody)))
    sampling, options = SAMPLINGS[name]
    began = cpu()
    policy = cb.Policy(
        person="person_id", sampling=sampling, epsilon=epsilon, delta=1e-6, split="budget",
        columns={column: cb.values(*labels[column]) for column in names},
        publish=[cb.Table(*pair, name="-".join(pair), **options) for pair in pairs],
    )  # fmt: skip
    policy.plan()
    planned = cpu()
    with tempfile.TemporaryDirectory() as folder:
        cb.release(data, policy, out=f"{folder}/published", ledger=None, figures=False)
        released = cpu()
        done = cb.synthesize(f"{folder}/published", rows=len(data))
        made = done.data.to_pandas()
        ended = cpu()
        published = cb.read(f"{folder}/published")
        raw = {}
        for pair in pairs:
            table = published.estimates(table="-".join(pair)).to_pandas()
            cells = [pd.Categorical(table[column], labels[column]).codes for column in pair]
            order = np.argsort(cells[0].astype(np.int64) * len(labels[pair[1]]) + cells[1])
            raw[pair] = table["estimate"].to_numpy()[order] / len(data)
    true, rows = (
        np.stack([pd.Categorical(one[column], labels[column]).codes for column in names], 1).astype(np.int64)
        for one in (everybody, made)
    )

    def off(places: Sequence[int]) -> float:
        return 0.5 * float(np.abs(shares(rows, sizes, places) - shares(true, sizes, places)).sum())

    places = list(combinations(range(len(names)), 2))
    own = [off(pair) for pair in places]
    published_off = [
        0.5 * float(np.abs(raw[pair] - shares(true, sizes, place)).sum())
        for pair, place in zip(pairs, places, strict=True)
    ]
    return {
        "plan": planned - began,
        "release": released - planned,
        "synthesize": ended - released,
        "cpu": ended - began,
        "raw": float(np.mean(published_off)),
        "rows": float(np.mean(own)),
        "three": float(np.mean([off(triple) for triple in combinations(range(len(names)), 3)])),
        "auc": auc(rows, true, sizes),
        "auc of the people": auc(true, true, sizes),
        "unmet": sum(TableMet(**one).is_missed(len(data)) for one in done.certificate.facts["met"]),
        "ratios": [one / other for one, other in zip(own, published_off, strict=True)],
    }


def summary(name: str, epsilon: float, runs: int) -> dict[str, Any]:
    """The medians of some runs."""
    command = [sys.executable, "-m", "bench.synthesis", name, "--epsilon", str(epsilon), "--one"]
    each = []
    for run in range(runs):
        each.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        print(f"{name}: run {run + 1} of {runs}", file=sys.stderr, flush=True)
    ratios = np.array([one.pop("ratios") for one in each])
    found = {key: float(f"{np.median([one[key] for one in each]):.3g}") for key in each[0]}
    middle = np.median(ratios, axis=0)
    margins = {
        "tables": len(middle),
        "worse in the median run": int((middle > 1.05).sum()),
        "largest ratio in the median run": round(float(middle.max()), 3),
        "worse in single runs": [int((one > 1.05).sum()) for one in ratios],
    }
    return {"data": name, "epsilon": epsilon, "runs": runs, **found, "margins": margins}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--one", action="store_true", help="one run, in this process")
    given = parser.parse_args()
    for name in given.names or SAMPLINGS:
        result = measure(name, given.epsilon) if given.one else summary(name, given.epsilon, given.runs)
        print(json.dumps(result), flush=True)

"""Synthetic rows from all tables of two columns of Adult and of a census, as JSON: errors, CPU seconds, margins.

    python -m bench.synthesis [adult|census|sample|others|open …] [--runs 5] [--epsilon 1] [--write]

The settings of the fit were chosen on Adult and on the ten columns of `census`; `others` are other columns of that
census, on which nothing was chosen; stderr says when a run ends. `--write` keeps the figures for docs/compared.md.

Each run plans, releases and synthesizes as many rows as there are people, in a process of its own. `rows` and `raw`
are the shares of people in wrong cells, in the mean of all tables of two columns; `three` that of tables of three,
which nobody published. `margins` has how many tables of two columns are more than 5 % worse in the rows than as they
were published: in the median run of each table, and in every single run, where a table of few cells may by luck be
nearly right; `unmet` how many tables the rows say not to replace. `auc` is that of a logistic regression that
learns from the rows and is tried on the people. `open` is a table of four columns of Adult whose labels are not known
before: cells that are shown, and the share of people in them. The data are those of shared/data, beside the repository.
"""

from __future__ import annotations

import argparse
import datetime
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import crowdblend as cb
from crowdblend.publishing.synthesis.facts import TableMet

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
OPEN = ("age", "education", "native-country", "occupation")
FIGURES = Path(__file__).parent / "peers" / "figures.json"
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


def codes_of(frame: pd.DataFrame, labels: Mapping[str, Sequence[str]]) -> Codes:
    """Every row as the places of its labels."""
    return np.stack([pd.Categorical(frame[name], each).codes for name, each in labels.items()], 1).astype(np.int64)


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
    """The chance that people with the last label of the last column score higher, by a regression on the rows.

    Rows that are alike are one row with a weight: of a census that is a tenth of the work.
    """

    def distinct(codes: Codes) -> tuple[Numbers, NDArray[np.bool_], Numbers]:
        found = pd.DataFrame(codes).value_counts(sort=False)
        different = np.array(found.index.to_list())
        columns = [np.eye(size)[different[:, at]] for at, size in enumerate(sizes[:-1])]
        indicators = np.hstack([*columns, np.ones((len(different), 1))])
        return indicators, different[:, -1] == sizes[-1] - 1, found.to_numpy(np.float64)

    x, y, people = distinct(rows)
    weights = np.zeros(x.shape[1])
    for _ in range(12):  # Newton's steps
        chance = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (people * chance * (1 - chance))[:, None]).T @ x + np.eye(len(weights))
        weights += np.linalg.solve(curvature, x.T @ (people * (y - chance)) - weights)
    tried, positive, count = distinct(true)
    scores = pd.DataFrame({"score": (tried @ weights).round(12), "ones": count * positive, "others": count * ~positive})
    by_score = scores.groupby("score").sum()
    below = by_score["others"].cumsum() - by_score["others"] / 2
    return float((by_score["ones"] * below).sum() / (by_score["ones"].sum() * by_score["others"].sum()))


def errors_of(rows: Codes, true: Codes, sizes: Sequence[int]) -> dict[str, float]:
    """How far rows are off in tables of two and three columns, and what can be learned from them."""

    def off(number: int) -> float:
        each = combinations(range(len(sizes)), number)
        return float(np.mean([0.5 * np.abs(shares(rows, sizes, at) - shares(true, sizes, at)).sum() for at in each]))

    return {"rows": off(2), "three": off(3), "auc": auc(rows, true, sizes)}


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
    true, rows = codes_of(everybody, labels), codes_of(made, labels)
    places = list(combinations(range(len(names)), 2))
    own, published_off = (
        [0.5 * float(np.abs(one - shares(true, sizes, place)).sum()) for one, place in zip(each, places, strict=True)]
        for each in ([shares(rows, sizes, place) for place in places], [raw[pair] for pair in pairs])
    )
    return {
        "plan": planned - began,
        "release": released - planned,
        "synthesize": ended - released,
        "cpu": ended - began,
        "raw": float(np.mean(published_off)),
        **errors_of(rows, true, sizes),
        "auc of the people": auc(true, true, sizes),
        "unmet": sum(TableMet(**one).is_missed(len(data)) for one in done.certificate.facts["met"]),
        "ratios": [one / other for one, other in zip(own, published_off, strict=True)],
    }


def measure_open(epsilon: float) -> dict[str, float]:
    """Cells of open labels that are shown, and the share of people in them, by a threshold and as crowds."""
    everybody = pd.read_csv(DATA / "adult" / "adult.csv", sep=";", dtype=str)[list(OPEN)]
    people_in = everybody.value_counts()
    ways = {
        "threshold": (cb.Everybody(), cb.Table(*OPEN, below_k="threshold")),
        "crowds": (cb.Poisson(0.2), cb.Table(*OPEN)),
    }
    found: dict[str, float] = {}
    for way, (sampling, table) in ways.items():
        policy = cb.Policy(
            person="person_id", sampling=sampling, epsilon=epsilon, delta=1e-6,
            columns={column: cb.prefix(40) for column in OPEN}, publish=[table],
        )  # fmt: skip
        released = cb.release(everybody.assign(person_id=range(len(everybody))), policy, ledger=None, figures=False)
        cells = [tuple(row) for row in released.data[list(OPEN)].itertuples(index=False)]
        found |= {f"{way} cells": len(cells), f"{way} people": float(people_in[cells].sum() / len(everybody))}
    return found


def summary(name: str, epsilon: float, runs: int) -> dict[str, Any]:
    """The medians of some runs."""
    command = [sys.executable, "-m", "bench.synthesis", name, "--epsilon", str(epsilon), "--one"]
    each = []
    for run in range(runs):
        each.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
        print(f"{name}: run {run + 1} of {runs}", file=sys.stderr, flush=True)
    ratios = np.array([one.pop("ratios", ()) for one in each])
    found = {key: float(f"{np.median([one[key] for one in each]):.3g}") for key in each[0]}
    if not ratios.size:
        return {"data": name, "epsilon": epsilon, "runs": runs, **found}
    middle = np.median(ratios, axis=0)
    margins = {
        "tables": len(middle),
        "worse in the median run": int((middle > 1.05).sum()),
        "largest ratio in the median run": round(float(middle.max()), 3),
        "worse in single runs": [int((one > 1.05).sum()) for one in ratios],
    }
    return {"data": name, "epsilon": epsilon, "runs": runs, **found, "margins": margins}


def write(figures: dict[str, Any]) -> None:
    """Keep the figures of some data, with the day, beside those of other packages."""
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    kept.setdefault("synthesis", {})[figures["data"]] = {**figures, "date": today}
    FIGURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--one", action="store_true", help="one run, in this process")
    parser.add_argument("--write", action="store_true", help="for docs/compared.md")
    given = parser.parse_args()
    if not DATA.exists():
        print(f"The data are not in {DATA}: nothing is measured of them.", file=sys.stderr)
        return
    for name in given.names or (*SAMPLINGS, "open"):
        if given.one:
            result = measure_open(given.epsilon) if name == "open" else measure(name, given.epsilon)
        else:
            result = summary(name, given.epsilon, given.runs)
        print(json.dumps(result), flush=True)
        if given.write:
            write(result)


if __name__ == "__main__":
    main()

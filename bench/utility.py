"""How far published tables are from the truth, at one guarantee (epsilon = 1, delta = 1e-6), as JSON.

below k: 1,000 cells whose sizes fall like 1/r². Compared with the sample's own table: exact counts from k on with noise
below (flag hidden), Laplace noise of the same guarantee on every cell, both clamped at 0, and suppression, which loses
whole cells.
margins: the demo town's one-way margins, from one fine table and from parts of the sample.
register: 1.4 million people in 3,696 cells, against the population: noise on every cell, and samples.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from crowdblend import plan
from crowdblend.kinds import plan as release_plan
from crowdblend.kinds.shared.outputs import CountsOutput
from crowdblend.lab.demo import write_population
from crowdblend.methods.designs.draw import Everybody
from crowdblend.methods.mechanisms import NoisyHistogram, SampledClasses
from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes, default_engine
from crowdblend.trusted.randomness import ReleaseKey, SystemSource, discrete_laplace, thin

CELLS = 1_000
RUNS = 200
MARGIN_RUNS = 100


def sample_of(people: int, run: int) -> SampledClasses:
    """A sample of about so many people whose cells fall like 1/r², each count with the spread of sampling."""
    sizes = 1 / np.arange(1, CELLS + 1) ** 2
    counts = np.random.default_rng(run).poisson(sizes / sizes.sum() * people).astype(np.int64)
    seen = np.flatnonzero(counts)
    labels = (tuple(map(str, range(CELLS))),)
    return SampledClasses(("cell",), labels, seen.astype(np.int32).reshape(-1, 1), counts[seen])


def table(sample: SampledClasses) -> np.ndarray:
    """The sample's own table, empty cells included."""
    cells = np.zeros(CELLS, np.int64)
    cells[sample.codes[:, 0]] = sample.counts
    return cells


def below_k_error(sample: SampledClasses, k: int, noise_epsilon: float) -> float:
    published = NoisyHistogram(k, noise_epsilon).publish(sample, ReleaseKey(secrets.token_bytes(32)))
    shown = np.zeros(CELLS, np.int64)
    shown[np.array(published.labels[0], np.int64)[published.codes[:, 0]]] = published.counts
    return float(np.abs(shown - table(sample)).sum())


def everywhere_error(sample: SampledClasses, noise_epsilon: float) -> float:
    shown = np.maximum(table(sample) + discrete_laplace(CELLS, noise_epsilon, SystemSource()), 0)
    return float(np.abs(shown - table(sample)).sum())


def below_k() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    people = 10_000_000
    samples = [sample_of(people, run) for run in range(RUNS)]
    for rate in (0.5, 0.2, 0.1, 0.05):
        noisy = plan(rate=rate, epsilon=1.0, delta=1e-6, below_k="noise")
        exact, noise_epsilon = plan(rate=rate, epsilon=1.0, delta=1e-6), noisy.noise_epsilon
        assert noise_epsilon is not None
        ours = np.mean([below_k_error(sample, noisy.k, noise_epsilon) for sample in samples])
        everywhere = np.mean([everywhere_error(sample, noise_epsilon) for sample in samples])
        lost = samples[0].counts[samples[0].counts < exact.k]
        rows.append(
            {
                "people": people,
                "smallest cell": int(np.median([sample.counts.min() for sample in samples])),
                "rate": rate,
                "k with noise below": noisy.k,
                "error with noise below k": round(float(ours), 1),
                "error with noise everywhere": round(float(everywhere), 1),
                "ratio": round(float(everywhere / ours), 1) if ours else None,
                "k with suppression": exact.k,
                "cells lost to suppression": len(lost),
                "people lost to suppression": int(lost.sum()),
            }
        )
    return rows


TOWN = """[data]
source = "town.parquet"
person = "person_id"
[sampling]
design = "poisson"
rate = 0.5
[privacy]
epsilon = 1.0
delta = 1e-6
[columns]
sex = { values = ["female", "male"] }
age = { from = 0, to = 90, width = 10, top = true }
district = { values = ["Harbour", "Old Town", "Riverside", "Hillside",
  "Station", "Garden City", "University", "Mills"] }
education = { values = ["none", "school", "vocational", "bachelor", "master", "doctorate"] }
"""
COLUMNS = ("sex", "age", "district", "education")
# Shares that fit what is known of a town beforehand: few people have a doctorate, or are 90; half of them are women.
FITTED = {"fine": 0.2, "sex": 0.03, "age": 0.25, "district": 0.12, "education": 0.4}
EQUAL = {"fine": 0.2, "sex": 0.2, "age": 0.2, "district": 0.2, "education": 0.2}
# A table by two columns has the margins of both, so that each margin gets the share of two; its cells are all above k.
PAIRS = {"fine": 0.15, "age, district": 0.345, "education, sex": 0.505}


def columns_of(name: str) -> list[str]:
    """The columns of a table by its name."""
    return list(COLUMNS) if name == "fine" else name.split(", ")


def tables(shares: dict[str, float]) -> str:
    """The fine table and the tables that have the one-way margins, each with its share; without shares one table."""
    named = (
        f'name = "{name.replace(", ", "_")}"\ncolumns = {json.dumps(columns_of(name))}\nshare = {share}\n'
        for name, share in shares.items()
    )
    return "".join(f'[[publish]]\nkind = "table"\n{one}' for one in (named if shares else [""]))


def margin_errors(folder: Path, text: str, shares: dict[str, float], truth: dict[str, dict[str, int]]) -> list[float]:
    """The relative error of the estimate of every one-way margin, in each of several releases."""
    planned, engine = release_plan(parse_policy(text, folder)), default_engine()
    largest = []
    for _ in range(MARGIN_RUNS):
        key = ReleaseKey(secrets.token_bytes(32))
        outputs = {
            output.file.split(".")[0]: output.published
            for output in planned.publish(planned.read(engine, key), key).outputs
            if isinstance(output, CountsOutput)
        }
        errors = []
        for name in COLUMNS:
            table = next((one for one in shares if one != "fine" and name in columns_of(one)), "data")
            published = outputs[table.replace(", ", "_")].narrow([name])
            labels = [published.labels[0][code] for code in published.codes[:, 0]]
            found = dict(zip(labels, published.counts.tolist(), strict=True))
            rate = 0.5 * shares.get(table, 1.0)
            errors += [abs(found.get(label, 0) / rate - people) / people for label, people in truth[name].items()]
        largest.append(max(errors))
    return largest


def margins() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with TemporaryDirectory() as made:
        folder = Path(made)
        write_population(folder / "town.parquet")
        policy: Any = parse_policy(TOWN + tables({}), folder)
        counted = count_classes(policy, Everybody()).classes
        truth = {}
        for name in COLUMNS:
            margin = counted.narrow([name])
            truth[name] = dict(zip(margin.labels[0], margin.counts.tolist(), strict=True))
        ways = {"one fine table": {}, "parts, equal": EQUAL, "parts, fitted": FITTED, "parts by two columns": PAIRS}
        for what, shares in ways.items():
            largest = margin_errors(folder, TOWN + tables(shares), shares, truth)
            rows.append(
                {
                    "tables": what,
                    "shares": shares,
                    "largest error of a one-way margin, median": round(float(np.median(largest)), 4),
                    "releases with every margin within 10 %": round(float(np.mean(np.array(largest) <= 0.1)), 3),
                }
            )
    return rows


def register() -> dict[str, object]:
    """Total absolute error against the population, on average over releases."""
    cells, rate = 3_696, 0.5
    sizes = 1 / np.arange(1, cells + 1)
    people = np.random.default_rng(1).poisson(sizes / sizes.sum() * 1_400_000).astype(np.int64)
    codes = np.flatnonzero(people).astype(np.int32).reshape(-1, 1)
    everybody = SampledClasses(("cell",), (tuple(map(str, range(cells))),), codes, people[people > 0])
    k, source = plan(rate=rate, epsilon=1.0, delta=1e-6).k, SystemSource()

    def ours() -> float:
        published = NoiseEverywhere(1.0).publish(everybody, ReleaseKey(secrets.token_bytes(32)))
        return float(np.abs(published.counts - people).sum())

    def plain() -> float:
        return float(np.abs(discrete_laplace(cells, 1.0, source)).sum())

    def sampled(threshold: int) -> float:
        kept = thin(people, rate, source)
        return float(np.abs(np.where(kept >= threshold, kept, 0) / rate - people).sum())

    errors = {
        name: float(np.mean([measure() for _ in range(RUNS)])) for name, measure in (("ours", ours), ("plain", plain))
    }
    return {
        "people": int(people.sum()),
        "cells": cells,
        "noise on every cell": round(errors["ours"], 1),
        "plain discrete Laplace": round(errors["plain"], 1),
        "ratio": round(errors["ours"] / errors["plain"], 4),
        "sampling alone at rate 0.5": round(float(np.mean([sampled(0) for _ in range(20)])), 1),
        f"suppression below {k} at rate 0.5": round(float(np.mean([sampled(k) for _ in range(20)])), 1),
    }


print(json.dumps({"utility": below_k(), "margins": margins(), "register": register()}, indent=2))

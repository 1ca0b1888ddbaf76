"""The people that every job of bench/peers is about: a made-up town, as Parquet files that every package can read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from bench.peers.work import SERVICE, SOLDIERS
from bench.synthesis import Codes, codes_of, people
from crowdblend.lab.demo import town

REGISTER, SURVEY_RATE, EARNERS = 1_000_000, 0.5, 100_000
STEP, HIGHEST = 500, 150_000
# About how many of a hundred soldiers have each label, in the order of SERVICE; branches differ in the others.
_SERVICE_SHARES = {
    "branch": (38, 23, 25, 14),
    "grade": (82, 16, 2),
    "gender": (15, 85),
    "race": (1.5, 4, 17, 2.5, 1, 69, 5),
    "hispanic": (89, 11),
}


def write_people(folder: Path) -> None:
    """Write register.parquet, survey.parquet (half of them, by a fair coin), earners.parquet, soldiers.parquet."""
    made_up = town(REGISTER)
    bands = np.minimum(made_up["age"].to_numpy() // 10, 9)
    table = pa.table(
        {
            "person_id": made_up["person_id"],
            "sex": made_up["sex"],
            "band": pa.array([f"{10 * band}s" for band in range(10)]).take(pa.array(bands)),
            "district": made_up["district"],
            "education": made_up["education"],
        }
    )
    parquet.write_table(table, folder / "register.parquet")
    kept = np.random.default_rng(1).random(REGISTER) < SURVEY_RATE
    parquet.write_table(table.filter(pa.array(kept)), folder / "survey.parquet")
    income = np.clip(town(EARNERS)["income"].to_numpy() // STEP * STEP, 0, HIGHEST)
    parquet.write_table(pa.table({"person_id": np.arange(EARNERS), "income": income}), folder / "earners.parquet")
    _write_soldiers(folder / "soldiers.parquet")


def write_adult(folder: Path) -> tuple[Codes, list[int]]:
    """Write adult.npy, the places of people's labels, and adult.json, how many each column has; return both."""
    everybody = people("adult")
    labels = {name: sorted(everybody[name].unique()) for name in everybody}
    codes, sizes = codes_of(everybody, labels), [len(each) for each in labels.values()]
    np.save(folder / "adult.npy", codes.astype(np.int32))
    (folder / "adult.json").write_text(json.dumps(dict(zip(labels, sizes, strict=True))), encoding="utf-8")
    return codes, sizes


def _write_soldiers(path: Path) -> None:
    rng = np.random.default_rng(2)
    columns: dict[str, pa.Array] = {"person_id": pa.array(np.arange(SOLDIERS))}
    branch = np.zeros(SOLDIERS, np.int64)
    for name, labels in SERVICE.items():
        codes = np.empty(SOLDIERS, np.int64)
        for at in np.unique(branch):
            shares = np.array(_SERVICE_SHARES[name]) * rng.uniform(0.7, 1.3, len(labels))
            here = branch == at
            codes[here] = rng.choice(len(labels), int(here.sum()), p=shares / shares.sum())
        branch = codes if name == "branch" else branch
        columns[name] = pa.array(labels).take(pa.array(codes))
    parquet.write_table(pa.table(columns), path)

"""The people that every job of bench/peers is about: a made-up town, as Parquet files that every package can read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crowdblend.demo import town

REGISTER, SURVEY_RATE, EARNERS = 1_000_000, 0.5, 100_000
STEP, HIGHEST = 500, 150_000


def write_people(folder: Path) -> None:
    """register.parquet: everybody; survey.parquet: half of them, by a fair coin; earners.parquet: incomes."""
    people = town(REGISTER)
    bands = np.minimum(people["age"].to_numpy() // 10, 9)
    table = pa.table(
        {
            "person_id": people["person_id"],
            "sex": people["sex"],
            "band": pa.array([f"{10 * band}s" for band in range(10)]).take(pa.array(bands)),
            "district": people["district"],
            "education": people["education"],
        }
    )
    parquet.write_table(table, folder / "register.parquet")
    kept = np.random.default_rng(1).random(REGISTER) < SURVEY_RATE
    parquet.write_table(table.filter(pa.array(kept)), folder / "survey.parquet")
    income = np.clip(town(EARNERS)["income"].to_numpy() // STEP * STEP, 0, HIGHEST)
    parquet.write_table(pa.table({"person_id": np.arange(EARNERS), "income": income}), folder / "earners.parquet")

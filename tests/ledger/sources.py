"""A drawn table in many guises, and policies that read it."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "{source}"\n{who}\n{more}',
    sampling='design = "{design}"\nrate = {rate}',
    columns='sex = {{ values = ["Female", "Male"] }}\nage = {{ from = 0, to = 100, width = 25 }}',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)
DRAWN = "coins"


def policy(source: str, *, who: str = 'person = "id"', rate: float = 0.1, drawn: str = DRAWN, more: str = "") -> str:
    return POLICY.format(source=source, who=who, rate=rate, design=drawn or "poisson", more=more)


NUMBER = 600


def people(number: int = NUMBER, seed: int = 1) -> pd.DataFrame:
    """People with two identifiers; the first one is a whole number, the second a text."""
    return _people(number, seed).copy()


@cache
def _people(number: int, seed: int) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": chance.permutation(10 * number)[:number] + seed * 10**6,
            "ssn": [f"S{one:09d}" for one in chance.permutation(100 * number)[:number] + seed * 10**7],
            "sex": chance.choice(["Female", "Male"], number),
            "age": chance.integers(0, 100, number),
            "weight": np.round(chance.normal(70, 10, number)),
            "smokes": chance.random(number) < 0.3,
            "town": chance.choice(["Aarhus", "Ribe", None], number),
        }
    )


def write(table: pd.DataFrame, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return path


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.sample(frac=1, random_state=7).reset_index(drop=True)

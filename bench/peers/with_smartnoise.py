"""The work of bench/peers with SmartNoise SQL, from a pandas frame."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import snsql
from snsql import Privacy

from bench.peers.work import DOMAIN, HIGHEST, NUMBER_EPSILON, TABLE_DELTA, TABLE_EPSILON, run

warnings.simplefilter("ignore")
# Its cost of a query with open keys is 1.5 times the δ of each of its parts.
DELTA = TABLE_DELTA / 1.5


def reader(frame: pd.DataFrame, epsilon: float, columns: dict[str, Any], *, open_keys: bool) -> Any:
    """A private reader where every row is a person; open keys are those that only the data have."""
    about = {"row_privacy": True, "rows": len(frame), "censor_dims": open_keys, "clamp_counts": False}
    metadata = {"": {"town": {"people": {**about, "person_id": {"type": "int"}, **columns}}}}
    return snsql.from_df(frame, privacy=Privacy(epsilon=epsilon, delta=DELTA), metadata=metadata)


def within(frame: pd.DataFrame, epsilon: float, columns: dict[str, Any], query: str, *, open_keys: bool) -> Any:
    """A reader whose whole cost for the query is at most ε, as it states itself."""
    spent, _ = reader(frame, epsilon, columns, open_keys=open_keys).get_privacy_cost(query)
    return reader(frame, epsilon * epsilon / max(spent, epsilon), columns, open_keys=open_keys)


def register(folder: Path) -> list[list[Any]]:
    """Counts of the combinations that occur, those below its threshold left out."""
    frame = pd.read_parquet(folder / "register.parquet")
    names = ", ".join(DOMAIN)
    query = f"SELECT {names}, COUNT(*) AS people FROM town.people GROUP BY {names}"
    columns = {name: {"type": "string"} for name in DOMAIN}
    return [list(row) for row in within(frame, TABLE_EPSILON, columns, query, open_keys=True).execute(query)[1:]]


def number(folder: Path, aggregate: str) -> float:
    """One statistic of all incomes."""
    frame = pd.read_parquet(folder / "earners.parquet")
    query = f"SELECT {aggregate}(income) AS value FROM town.people"
    columns = {"income": {"type": "int", "lower": 0, "upper": HIGHEST}}
    return float(within(frame, NUMBER_EPSILON, columns, query, open_keys=False).execute(query)[1][0])


JOBS = {
    "register": register,
    "average": lambda folder: number(folder, "AVG"),
    "sum": lambda folder: number(folder, "SUM"),
}

if __name__ == "__main__":
    run(JOBS)

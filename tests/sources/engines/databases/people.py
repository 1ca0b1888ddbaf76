"""The same people in Parquet, in PostgreSQL and in SQLite."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import crowdblend as cb

COLUMNS = {"sex": cb.values("F", "M"), "age": cb.intervals(0, 100, width=10), "pay": cb.intervals(0, 1000, width=100)}
_PLAIN = {"person": "id", "population": "people", "epsilon": 1.0, "delta": 1e-6}


def rows(number: int = 600) -> list[dict[str, Any]]:
    """People with a value of every plain type; some values are missing."""
    return [
        {
            "id": n,
            "sex": "FM"[n % 2],
            "age": n % 100,
            "pay": Decimal(n) + Decimal("0.50"),
            "share": n / 7,
            "born": datetime.date(1950, 1, 1) + datetime.timedelta(days=31 * n),
            "note": None if n % 3 else f"n{n}",
        }
        for n in range(number)
    ]


def in_parquet(folder: Path, people: list[dict[str, Any]]) -> str:
    """The people as a Parquet file."""
    schema = pa.schema(
        [
            *(("id", pa.int32()), ("sex", pa.string()), ("age", pa.int16()), ("pay", pa.decimal128(10, 2))),
            *(("share", pa.float64()), ("born", pa.date32()), ("note", pa.string())),
        ]
    )
    parquet.write_table(pa.Table.from_pylist(people, schema=schema), folder / "people.parquet")
    return str(folder / "people.parquet")


def policy(source: str, **more: Any) -> Any:
    """A table of people from a source; the sample was drawn before, so that the rows alone decide what is counted."""
    given = {"sampling": cb.Coins(0.5), "columns": COLUMNS, **_PLAIN, **more}
    return cb.Policy(source=source, publish=cb.Table(), **given)

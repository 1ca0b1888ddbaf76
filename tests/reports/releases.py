"""Release folders as the engine writes them, made small."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from crowdblend import plan
from crowdblend.calculus import Assumption, Certificate

TABLE = {
    "age": ["[0, 50)", "[0, 50)", "≥ 50", "≥ 50"],
    "sex": ["Female", "Male", "Female", "Male"],
    "count": [60, 41, 1200, 35],
}
NASTY = [
    "<script>alert(1)</script>",
    "\" onload='x' & '",
    "👩‍👩‍👧 🏳️‍🌈",
    "مرحبا بالعالم",
    "\u202eturned",
    "x" * 10_000,
    "x" * 9_999 + "y",
    "two\nlines\x00",
    "",
    " ",
    "</svg></style></body>",
    "datum.count",
]


@cache
def certificate() -> Certificate:
    return plan(rate=0.5, epsilon=1.0, delta=1e-6).certificate()


def table(**columns: list[Any]) -> pa.Table:
    return pa.table(columns or TABLE)


def release(
    folder: Path,
    data: pa.Table | dict[str, pa.Table],
    *,
    format: str = "parquet",  # noqa: A002  as the policy calls it
    stated: tuple[Assumption, ...] = (),
    **facts: Any,
) -> Path:
    """A folder with a certificate that holds; facts given as None are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, content in (data if isinstance(data, dict) else {"data": data}).items():
        path = folder / f"{name}.{format}"
        if format == "csv":
            arrow_csv.write_csv(content, path)
        else:
            pq.write_table(content, path)
        files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    described: dict[str, Any] = {
        "kind": "table",
        "below_k": "suppress",
        "tables": {},
        "parameters": {"k": 35, "rate": 0.5, "epsilon": 1.0, "delta": 1e-6},
        "columns": {"age": "two intervals", "sex": "the values Female and Male"},
        "files": files,
        "software": {"crowdblend": "0.1.0"},
        "already_drawn": bool(stated),
        **facts,
    }
    stated_facts = {name: fact for name, fact in described.items() if fact is not None}
    written = replace(certificate(), stated=stated, facts=stated_facts)
    (folder / "certificate.json").write_text(written.to_json(), encoding="utf-8")
    return folder

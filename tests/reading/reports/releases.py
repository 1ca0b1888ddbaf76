"""Release folders as the engine writes them, made small."""

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from crowdblend import plan
from crowdblend.trusted.calculus import Assumption, Certificate

TABLE = {
    "age": ["[0, 50)", "[0, 50)", "≥ 50", "≥ 50"],
    "sex": ["Female", "Male", "Female", "Male"],
    "sampled": [60, 41, 1200, 35],
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


# Columns of data files that are no labels.
NUMBERS = ("count", "sampled", "exact", "estimate", "low", "high")
OPEN = {"recoding": "prefix", "length": 9}
HALF = {"design": "poisson", "rate": 0.5}
SUPPRESSED = {"mechanism": "suppressed", "k": 35}
NOISY = {"mechanism": "noisy-below-k", "k": 28, "noise_epsilon": 1.49, "show_from": None, "flag": False}
SEXES = {"recoding": "values", "labels": ["Female", "Male"]}
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "design": HALF}
SURVEY = {"design": "survey", "people": 20, "of": 60}
# What releases of every kind say of themselves, beside the files; columns that are not stated have an open domain.
FACTS: dict[str, dict[str, Any]] = {
    "table": {**BUDGET, "mechanism": SUPPRESSED},
    "microdata": {**BUDGET, "mechanism": {"mechanism": "suppressed-records", "k": 35}},
    "points": {
        **BUDGET,
        "mechanism": {"mechanism": "moved-points", "k": 35, "noise_epsilon": 1.0},
        "columns": {"x": {"recoding": "coordinate"}, "y": {"recoding": "coordinate"}},
        "axes": {
            "x": {"low": 0, "high": 4, "resolution": 0.5, "width": 1},
            "y": {"low": 0, "high": 2, "resolution": 0.5, "width": 1},
        },
        "shapes": [[2, 2]],
        "keep_in": "block",
    },
    "outlier-table": {
        "design": HALF,
        "mechanism": {
            "mechanism": "noisy-by-size",
            "epsilon": 0.5,
            "transition": 15,
            "limit": 100,
            "show_from": None,
            "factor": 2.0,
        },
    },
    "statistics": {
        "design": SURVEY,
        "epsilon": 2.0,
        "confidence": 0.95,
        "people": 60,
        "statistics": {
            "mean": {"way": "sample", "noise_epsilon": 0.01, "samples": 20, "average": "age"},
            "ages": {"way": "sample", "noise_epsilon": 0.3, "samples": 20, "histogram": "group"},
        },
        "columns": {
            "age": [{"recoding": "measure", "from": 0, "to": 100, "resolution": 1, "outside": "clamp"}],
            "group": [{"recoding": "values", "labels": ["a", "b"]}],
        },
    },
    "synopsis": {
        "design": SURVEY,
        "mechanism": {"mechanism": "fitted", "noise_epsilon": 0.4, "rows": 40},
        "queries": {"conjunctions": 1},
        "failure": 0.025,
        "columns": {"sex": SEXES},
        "misfit": 0.01,
    },
    "graph": {
        "people": 3000,
        "degree_bound": 8,
        "average_bound": 8.0,
        "statistics": [{"name": "connectivity", "scale": 0.003, "resolution": 1e-6, "samples": 1400, "explored": 64}],
    },
}


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
    tables = data if isinstance(data, dict) else {"data": data}
    for name, content in tables.items():
        path = folder / f"{name}.{format}"
        if format == "csv":
            arrow_csv.write_csv(content, path)
        else:
            pq.write_table(content, path)
        files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    labels = {
        name: [column for column in content.column_names if column not in NUMBERS] for name, content in tables.items()
    }
    kind = facts.get("kind", "table")
    described: dict[str, Any] = {
        "kind": kind,
        "columns": {column: OPEN for columns in labels.values() for column in columns} if kind != "graph" else None,
        "software": {"crowdblend": "0.1.0"},
        "person": "person_id",
        **FACTS.get(kind, {}),
        **({"design": {**HALF, "design": "coins"}} if stated else {}),
        "files": files,
        **facts,
    }
    stated_facts = {name: fact for name, fact in described.items() if fact is not None}
    written = replace(certificate(), stated=stated, facts=stated_facts)
    (folder / "certificate.json").write_text(written.to_json(), encoding="utf-8")
    return folder

"""The work of bench/peers with crowdblend: whole releases, with certificate, data package and report."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import crowdblend as cb
from bench.peers.work import (
    DOMAIN,
    HIGHEST,
    NUMBER_EPSILON,
    PAIR_CELLS,
    PAIRS,
    PEOPLE,
    SERVICE,
    STEP,
    TABLE_DELTA,
    TABLE_EPSILON,
    run,
)
from crowdblend.kinds import plan
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.randomness import ReleaseKey, new_key

COLUMNS = {name: cb.values(*values) for name, values in DOMAIN.items()}


def published(source: Path, policy: Any) -> Any:
    """The data of a release that was written to a folder."""
    with tempfile.TemporaryDirectory() as folder:
        return cb.release(source, policy, out=Path(folder) / "published", ledger=None).data


def table(source: Path, sampling: Any, delta: float | None = None, publish: cb.Table | None = None) -> list[list[Any]]:
    """The cells of a published table."""
    policy = cb.Policy(
        person="person_id",
        sampling=sampling,
        epsilon=TABLE_EPSILON,
        delta=delta,
        columns=COLUMNS,
        publish=publish or cb.Table(*COLUMNS),
    )
    rows = published(source, policy).to_pylist()
    counter = "count" if sampling == cb.Everybody() else "sampled"
    return [[*(row[name] for name in DOMAIN), row[counter]] for row in rows]


def register(folder: Path) -> list[list[Any]]:
    """Noise on every cell."""
    return table(folder / "register.parquet", cb.Everybody())


def survey(folder: Path) -> list[list[Any]]:
    """Exact counts of crowds."""
    return table(folder / "survey.parquet", cb.Coins(0.5), TABLE_DELTA)


def survey_noise(folder: Path) -> list[list[Any]]:
    """Exact counts of crowds, and noise below k."""
    return table(folder / "survey.parquet", cb.Coins(0.5), TABLE_DELTA, cb.Table(*COLUMNS, below_k="noise"))


def number(folder: Path, statistic: cb.Statistic) -> float:
    """One statistic of all incomes."""
    policy = cb.Policy(
        person="person_id",
        people=PEOPLE,
        sampling=cb.Everybody(),
        epsilon=NUMBER_EPSILON,
        columns={"income": cb.bounds(0, HIGHEST, resolution=STEP)},
        publish=cb.Statistics(statistic),
    )
    return float(published(folder / "earners.parquet", policy).to_pylist()[0]["value"])


def service_policy(*, weighted: bool) -> cb.Policy:
    """Every table of two columns of a register, under one epsilon."""
    tables = [
        cb.Table(*columns, name=name, weight=1.0 if weighted else 1 / math.sqrt(PAIR_CELLS[name]))
        for name, columns in PAIRS.items()
    ]
    return cb.Policy(
        person="person_id",
        sampling=cb.Everybody(),
        epsilon=TABLE_EPSILON,
        columns={name: cb.values(*labels) for name, labels in SERVICE.items()},
        publish=tables,
    )


@cache
def service_reading(folder: Path, weighted: bool) -> tuple[Any, Any]:
    """The plan, and what it reads of the register: nobody is drawn, so that it is the same in every release."""
    planned = plan(service_policy(weighted=weighted).replace(source=str(folder / "soldiers.parquet")))
    return planned, planned.read(default_engine(), ReleaseKey(new_key()))


def tables(folder: Path, *, weighted: bool = False) -> list[list[Any]]:
    """The cells of ten tables, as a release publishes them with a fresh key."""
    planned, reading = service_reading(folder, weighted)
    found = []
    for output in planned.publish(reading, ReleaseKey(new_key())).outputs:
        for piece in output.pieces():
            columns = [pa.array(column).to_pylist() for column in piece[: output.header.index("count") + 1]]
            found += [[Path(output.file).stem, *row] for row in zip(*columns, strict=True)]
    return found


def tables_consistent(folder: Path) -> list[list[Any]]:
    """The same as readers get them who ask for tables that agree in what they have in common."""
    policy = service_policy(weighted=True)
    done = cb.release(folder / "soldiers.parquet", policy, ledger=None, figures=False)
    found = []
    for name, columns in PAIRS.items():
        rows = done.estimates(table=name, consistent=True).to_pylist()
        found += [[name, *(row[column] for column in columns), row["estimate"]] for row in rows]
    return found


JOBS: dict[str, Callable[[Path], Any]] = {
    "tables": tables,
    "tables_consistent": tables_consistent,
    "tables_weighted": partial(tables, weighted=True),
    "register": register,
    "survey": survey,
    "survey_noise": survey_noise,
    "average": lambda folder: number(folder, cb.average("income")),
    "sum": lambda folder: number(folder, cb.total("income")),
    "median": lambda folder: number(folder, cb.median("income")),
}

if __name__ == "__main__":
    run(JOBS)

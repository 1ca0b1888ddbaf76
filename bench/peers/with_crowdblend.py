"""The work of bench/peers with crowdblend: whole releases, with certificate, data package and report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import crowdblend as cb
from bench.peers.work import DOMAIN, HIGHEST, NUMBER_EPSILON, PEOPLE, STEP, TABLE_DELTA, TABLE_EPSILON, run

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
    return [[*(row[name] for name in DOMAIN), row["count"]] for row in rows]


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


JOBS = {
    "register": register,
    "survey": survey,
    "survey_noise": survey_noise,
    "average": lambda folder: number(folder, cb.average("income")),
    "sum": lambda folder: number(folder, cb.total("income")),
    "median": lambda folder: number(folder, cb.median("income")),
}

if __name__ == "__main__":
    run(JOBS)

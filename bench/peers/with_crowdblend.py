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


def table(source: Path, **options: Any) -> list[list[Any]]:
    """The cells of a published table."""
    policy = cb.Table(person="person_id", columns=COLUMNS, epsilon=TABLE_EPSILON, **options)  # type: ignore[arg-type]
    rows = published(source, policy).to_pylist()
    return [[*(row[name] for name in DOMAIN), row["count"]] for row in rows]


def register(folder: Path) -> list[list[Any]]:
    """Noise on every cell."""
    return table(folder / "register.parquet", sampling=cb.Sampling(everybody=True))


def survey(folder: Path) -> list[list[Any]]:
    """Exact counts of crowds."""
    drawn = cb.Sampling(rate=0.5, already_drawn=True)
    return table(folder / "survey.parquet", sampling=drawn, delta=TABLE_DELTA)


def survey_noise(folder: Path) -> list[list[Any]]:
    """Exact counts of crowds, and noise below k."""
    drawn = cb.Sampling(rate=0.5, already_drawn=True)
    return table(folder / "survey.parquet", sampling=drawn, delta=TABLE_DELTA, below_k="noise")


def number(folder: Path, statistic: Any) -> float:
    """One statistic of all incomes."""
    policy = cb.Statistics(
        person="person_id",
        people=PEOPLE,
        columns={"income": cb.bounds(0, HIGHEST, resolution=STEP)},  # type: ignore[arg-type]
        sampling=cb.ExactSample(everybody=True),
        statistics=(statistic,),
        epsilon=NUMBER_EPSILON,
    )
    return float(published(folder / "earners.parquet", policy).to_pylist()[0]["value"])


JOBS = {
    "register": register,
    "survey": survey,
    "survey_noise": survey_noise,
    "average": lambda folder: number(folder, cb.Statistic(name="value", average="income")),
    "sum": lambda folder: number(folder, cb.Statistic(name="value", sum="income")),
    "median": lambda folder: number(folder, cb.Statistic(name="value", median="income")),
}

if __name__ == "__main__":
    run(JOBS)

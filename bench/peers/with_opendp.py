"""The work of bench/peers with OpenDP: its Polars interface, with declared keys or with a threshold."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import polars as pl
from work import (
    DOMAIN,
    HIGHEST,
    NUMBER_EPSILON,
    PEOPLE,
    SAMPLE_DELTA,
    SAMPLE_EPSILON,
    STEP,
    TABLE_EPSILON,
    run,
)

warnings.simplefilter("ignore")
dp.enable_features("contrib")
KEYS = pl.LazyFrame(list(product(*DOMAIN.values())), schema=list(DOMAIN), orient="row")


def counts(source: Path, loss: Any, *, declared: bool) -> list[list[Any]]:
    """Counts by all columns: of every declared combination, or of those above a threshold."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(source).select(*DOMAIN),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=loss,
        split_evenly_over=1,
    )
    query = context.query().group_by(*DOMAIN).agg(dp.len(signed=True))
    released = (query.with_keys(KEYS) if declared else query).release().collect()
    return [[*(row[name] for name in DOMAIN), row["len"]] for row in released.iter_rows(named=True)]


def register(folder: Path) -> list[list[Any]]:
    """Noise on every cell."""
    return counts(folder / "register.parquet", dp.loss_of(epsilon=TABLE_EPSILON), declared=True)


def survey(folder: Path) -> list[list[Any]]:
    """Noise on the cells that occur, and only those that are large enough: the domain may be open."""
    loss = dp.loss_of(epsilon=SAMPLE_EPSILON, delta=SAMPLE_DELTA)
    return counts(folder / "survey.parquet", loss, declared=False)


def survey_noise(folder: Path) -> list[list[Any]]:
    """Noise on every cell."""
    return counts(folder / "survey.parquet", dp.loss_of(epsilon=SAMPLE_EPSILON), declared=True)


def number(folder: Path, expression: Any) -> float:
    """One statistic of all incomes, of a public number of people."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(folder / "earners.parquet").select(pl.col("income").cast(pl.Int64)),
        privacy_unit=dp.unit_of(changes=1),
        privacy_loss=dp.loss_of(epsilon=NUMBER_EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=PEOPLE, invariant="lengths")],
    )
    return float(context.query().select(expression).release().collect().item())


INCOME = pl.col("income").fill_null(0)
CANDIDATES = list(range(0, HIGHEST + 1, STEP))
JOBS = {
    "register": register,
    "survey": survey,
    "survey_noise": survey_noise,
    "average": lambda folder: number(folder, INCOME.dp.mean((0, HIGHEST))),
    "sum": lambda folder: number(folder, INCOME.dp.sum((0, HIGHEST))),
    "median": lambda folder: number(folder, INCOME.dp.median(CANDIDATES)),
}

if __name__ == "__main__":
    run(JOBS)

"""The work of bench/peers with OpenDP: tables by its framework, numbers by its Polars interface."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import polars as pl

from bench.peers.work import (
    CELLS,
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
SPACE = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
COMBINATIONS = list(product(*DOMAIN.values()))


def codes(source: Path) -> Any:
    """Every row's combination of labels as a number: a recoding that does not look at the rows."""
    code = pl.lit(0, dtype=pl.Int32)
    for name, labels in DOMAIN.items():
        places = list(range(len(labels)))
        code = code * len(labels) + pl.col(name).replace_strict(list(labels), places, return_dtype=pl.Int32)
    return pl.scan_parquet(source).select(code=code).collect()["code"].to_numpy()


def every_cell(source: Path, epsilon: float) -> list[list[Any]]:
    """Counts of every declared combination with integer Laplace noise."""
    counts = SPACE >> dp.t.then_count_by_categories(list(range(CELLS)), null_category=False)
    noisy = dp.binary_search_chain(lambda scale: counts >> dp.m.then_laplace(scale), d_in=1, d_out=epsilon)
    return [[*labels, count] for labels, count in zip(COMBINATIONS, noisy(codes(source)), strict=True)]


def register(folder: Path) -> list[list[Any]]:
    """Noise on every cell."""
    return every_cell(folder / "register.parquet", TABLE_EPSILON)


def survey_noise(folder: Path) -> list[list[Any]]:
    """Noise on every cell of a sample."""
    return every_cell(folder / "survey.parquet", SAMPLE_EPSILON)


def survey(folder: Path) -> list[list[Any]]:
    """Noise on the cells that occur, and only those that are large enough: the domain may be open."""
    counts = SPACE >> dp.t.then_count_by()
    scale = (1 + 1e-9) / SAMPLE_EPSILON
    made = (counts >> dp.m.then_laplace_threshold(scale, threshold) for threshold in range(2, 1_000))
    noisy = next(one for one in made if one.map(1)[1] <= SAMPLE_DELTA)
    return [[*COMBINATIONS[code], count] for code, count in noisy(codes(folder / "survey.parquet")).items()]


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

"""The work of bench/peers with OpenDP: tables by its framework, numbers by its Polars interface."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

from bench.peers.work import (
    CELLS,
    DOMAIN,
    HIGHEST,
    NUMBER_EPSILON,
    PAIR_CELLS,
    PAIRS,
    PEOPLE,
    SAMPLE_DELTA,
    SAMPLE_EPSILON,
    SERVICE,
    STEP,
    TABLE_DELTA,
    TABLE_EPSILON,
    run,
)

warnings.simplefilter("ignore")
dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
COUNTS = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=int)
COMBINATIONS = list(product(*DOMAIN.values()))


def codes(source: Path, domain: Mapping[str, tuple[str, ...]] = DOMAIN) -> Any:
    """Every row's combination of labels as a number: a recoding that does not look at the rows."""
    code = pl.lit(0, dtype=pl.Int32)
    for name, labels in domain.items():
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


@cache
def exact_tables(folder: Path) -> dict[str, list[int]]:
    """The counts of every table of two columns, by OpenDP's own transformation."""
    found = {}
    for name, columns in PAIRS.items():
        domain = {column: SERVICE[column] for column in columns}
        counts = SPACE >> dp.t.then_count_by_categories(list(range(PAIR_CELLS[name])), null_category=False)
        found[name] = list(counts(codes(folder / "soldiers.parquet", domain)))
    return found


def labelled(noisy: dict[str, list[int]]) -> list[list[Any]]:
    """The cells of all tables with their labels."""
    return [
        [name, *labels, count]
        for name, counts in noisy.items()
        for labels, count in zip(product(*(SERVICE[column] for column in PAIRS[name])), counts, strict=True)
    ]


def tables(folder: Path) -> list[list[Any]]:
    """Integer Laplace noise; the part of a table is as the root of its cells, which makes the mean error smallest."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    whole, noisy = sum(map(math.sqrt, PAIR_CELLS.values())), {}
    for name, counts in exact_tables(folder).items():
        part = TABLE_EPSILON * math.sqrt(PAIR_CELLS[name]) / whole
        noisy[name] = dp.binary_search_chain(lambda scale: space >> dp.m.then_laplace(scale), 1, part)(counts)
    return labelled(noisy)


@cache
def gaussian_scales(cells: tuple[int, ...]) -> list[float]:
    """The scales of discrete Gaussian noise that tables of so many cells together have for ε = 1 and δ = 1e-6.

    ρ of a table is as the 2/3 power of its cells, which makes the mean error smallest. The curve is OpenDP's own.
    """

    def together(factor: float) -> Any:
        each = [COUNTS >> dp.m.then_gaussian(factor / size ** (1 / 3)) for size in cells]
        return dp.c.make_zCDP_to_approxDP(dp.c.make_composition(each))

    factor = dp.binary_search(lambda factor: together(factor).map(1).epsilon(TABLE_DELTA) <= TABLE_EPSILON, (1.0, 1e4))
    return [factor / size ** (1 / 3) for size in cells]


def gaussian(exact: list[list[int]]) -> list[list[int]]:
    """Discrete Gaussian noise on tables, composed by concentrated differential privacy."""
    scales = gaussian_scales(tuple(map(len, exact)))
    return [(COUNTS >> dp.m.then_gaussian(scale))(counts) for scale, counts in zip(scales, exact, strict=True)]


def tables_gaussian(folder: Path) -> list[list[Any]]:
    """The tables of soldiers with discrete Gaussian noise."""
    exact = exact_tables(folder)
    return labelled(dict(zip(exact, gaussian(list(exact.values())), strict=True)))


def pairs(folder: Path) -> list[list[int]]:
    """Every table of two columns of Adult with discrete Gaussian noise, its cells in order."""
    people, sizes = adult(folder)
    exact = []
    for one, other in combinations(sizes, 2):
        cells = sizes[one] * sizes[other]
        counts = SPACE >> dp.t.then_count_by_categories(list(range(cells)), null_category=False)
        exact.append(list(counts((people[one] * sizes[other] + people[other]).to_numpy(writable=True))[:cells]))
    return gaussian(exact)


def adult(folder: Path) -> tuple[Any, dict[str, int]]:
    """The places of people's labels, and how many labels each column has."""
    sizes = json.loads((folder / "adult.json").read_text(encoding="utf-8"))
    return pl.DataFrame(np.load(folder / "adult.npy"), schema=list(sizes)), sizes


def rows(folder: Path) -> list[list[int]]:
    """As many rows as people by AIM; ρ is as large as the curve allows.

    Its MST stops at this budget: the parts of nine columns add up to a last digit too much.
    """
    people, sizes = adult(folder)

    def noisy(scale: float) -> Any:
        return dp.c.make_zCDP_to_approxDP(COUNTS >> dp.m.then_gaussian(scale))

    scale = dp.binary_search(lambda scale: noisy(scale).map(1).epsilon(TABLE_DELTA) <= TABLE_EPSILON, (1.0, 1e3))
    context = dp.Context.compositor(
        data=people.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=1 / (2 * scale**2)),
        split_evenly_over=1,
    )
    keys = {name: list(range(size)) for name, size in sizes.items()}
    made = context.query().select(*sizes).contingency_table(keys=keys, algorithm=dp.mbi.AIM(queries=2)).release()
    # A model may know of labels that are missing, of which there are none.
    return [list(row) for row in made.synthesize(rows=people.height).fill_null(0).select(*sizes).iter_rows()]


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
    "tables": tables,
    "tables_gaussian": tables_gaussian,
    "pairs": pairs,
    "rows_aim": rows,
    "register": register,
    "survey": survey,
    "survey_noise": survey_noise,
    "average": lambda folder: number(folder, INCOME.dp.mean((0, HIGHEST))),
    "sum": lambda folder: number(folder, INCOME.dp.sum((0, HIGHEST))),
    "median": lambda folder: number(folder, INCOME.dp.median(CANDIDATES)),
}

if __name__ == "__main__":
    run(JOBS)

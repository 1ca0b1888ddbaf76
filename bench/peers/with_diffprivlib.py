"""The work of bench/peers with IBM's diffprivlib."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib import tools
from pyarrow import parquet

from bench.peers.work import DOMAIN, HIGHEST, NUMBER_EPSILON, TABLE_EPSILON, run

warnings.simplefilter("ignore")


def register(folder: Path) -> list[list[Any]]:
    """Noise on every cell, none of them negative."""
    table = parquet.read_table(folder / "register.parquet", columns=list(DOMAIN))
    places = {name: {label: at for at, label in enumerate(labels)} for name, labels in DOMAIN.items()}
    codes = []
    for name in DOMAIN:
        encoded = table[name].combine_chunks().dictionary_encode()
        known = np.array([places[name][label] for label in encoded.dictionary.to_pylist()])
        codes.append(known[encoded.indices.to_numpy()])
    sizes = [len(labels) for labels in DOMAIN.values()]
    counts, _ = tools.histogramdd(
        np.column_stack(codes),
        epsilon=TABLE_EPSILON,
        bins=sizes,
        range=[(-0.5, size - 0.5) for size in sizes],
    )
    labels = list(DOMAIN.values())
    return [
        [*(labels[axis][at] for axis, at in enumerate(place)), int(count)] for place, count in np.ndenumerate(counts)
    ]


def number(folder: Path, tool: Any) -> float:
    """One statistic of all incomes."""
    income = parquet.read_table(folder / "earners.parquet", columns=["income"])["income"].to_numpy()
    return float(tool(income.astype(float), epsilon=NUMBER_EPSILON, bounds=(0, HIGHEST)))


JOBS = {
    "register": register,
    "average": lambda folder: number(folder, tools.mean),
    "sum": lambda folder: number(folder, tools.sum),
    "median": lambda folder: number(folder, tools.median),
}

if __name__ == "__main__":
    run(JOBS)

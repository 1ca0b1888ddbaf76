"""Releases from stratified samples: rates and k of every stratum are those of the derivation, and no cell is below its
k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from crowdblend.calculus.description import BIASED, Description
from crowdblend.publishing.verification.consistency import require_cells, require_files, require_stated
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates
from crowdblend.reading.cells import Cells, N
from crowdblend.reading.release import PublishedRelease, contradiction

STRATA = "strata"


def is_stratified(published: PublishedRelease) -> bool:
    """Whether the facts or the derivation speak of strata."""
    return bool(published.facts.get(STRATA)) or published.certificate.description.name == STRATA


def stated_strata(published: PublishedRelease, mechanism: str) -> tuple[str, dict[str, int]]:
    """The column of the strata and the k of every label; refuses what the derivation does not say."""
    stated = published.require(STRATA, dict)
    column, strata = stated.get("column"), stated.get(STRATA)
    domain = published.require("columns", dict).get(column) if isinstance(column, str) else None
    labels = domain.get("labels") if isinstance(domain, dict) else None
    if not isinstance(strata, dict) or list(strata) != labels:
        raise contradiction("its strata are not the labels of a published column")
    if {_stated(one) for one in strata.values()} != set(_derived(published.certificate.description, mechanism)):
        raise contradiction("rate or k of a stratum is not the one of its derivation")
    for one in strata.values():
        if not one.get("low", one["rate"]) <= one["rate"] <= one.get("high", one["rate"]):
            raise contradiction("the rate that estimates divide by is not one of its stratum")
    require_stated(published, k=max(one["k"] for one in strata.values()))
    return str(column), {label: one["k"] for label, one in strata.items()}


def check_strata_of_table(published: PublishedRelease) -> None:
    """Refuse a cell below the k of its stratum, or, where small cells are noisy, a table without some cell."""
    noisy = published.require("below_k", str) == "noise"
    column, thresholds = stated_strata(published, "histogram.noisy" if noisy else "histogram.suppressed")
    tables = published.tables
    for path, columns in zip(require_files(published, *tables), tables.values(), strict=True):
        if column not in columns:
            raise contradiction(f"{path.name} adds people of different strata up")
        cells = require_cells(path, list(columns), counted=True)
        check_cells(published, cells, least=None if noisy else min(thresholds.values()))
        if not noisy:
            check_least(cells, column, thresholds)
        check_estimates(published, cells)


def check_least(cells: Cells, column: str, thresholds: dict[str, int]) -> None:
    """Refuse a cell with fewer than the k of its stratum."""
    key = cells.keys[cells.columns.index(column)]
    for piece in cells.pieces():
        least = np.array([thresholds[str(label)] for label in piece.column(key).to_pylist()], np.int64)
        if (piece.column(N).to_numpy() < least).any():
            raise contradiction(f"{cells.path.name} has a cell below the k of its stratum")


def _stated(one: Any) -> tuple[Any, ...]:
    if not isinstance(one, dict) or "rate" not in one or "k" not in one:
        raise contradiction("it does not state the rate and the k of every stratum")
    stated = one.get("low", one["rate"]), one.get("high", one["rate"]), one["k"], one.get("noise_epsilon")
    if not all(number is None or isinstance(number, int | float) for number in (*stated, one["rate"])):
        raise contradiction("it does not state the rate and the k of every stratum as numbers")
    return stated


def _derived(description: Description, mechanism: str) -> Iterator[tuple[Any, ...]]:
    """The ends of the rates, k and the noise of every stratum that the derivation is about."""
    for part in description.parts if description.name == STRATA else ():
        details, (inside, *_) = dict(part.details), part.parts
        own = dict(inside.details)
        if inside.name != mechanism:
            raise contradiction("what happens below k is not what its derivation says")
        ends = ("low", "high") if part.name == BIASED else ("rate", "rate")
        yield details[ends[0]], details[ends[1]], own["k"], own.get("noise_epsilon")

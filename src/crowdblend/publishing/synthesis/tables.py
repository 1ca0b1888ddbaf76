"""Published tables as a model is fitted to them: the estimate of every cell with the variance that its table states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.programme.facts import ProgrammeFacts
from crowdblend.kinds.shared.facts import DATA
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.methods.recoding.domain import Domain
from crowdblend.publishing.synthesis.facts import TableMet
from crowdblend.reading.margins import margin_of
from crowdblend.reading.release import PublishedRelease

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
# What a cell that is called exact is off at least, in people of the sample, and in shares of its sampling variance.
_LEAST, _SAMPLING_SHARE = 0.25, 0.1
# Labels of all columns together, above which a fit takes hours.
MOST_LABELS = 4_000


@dataclass(frozen=True)
class PublishedTable:
    """One table: its columns in the order of the rows, estimates as an array by labels, and their variances.

    Of a cell that is not shown `estimates` is NaN, and `high` the most that it may hold.
    """

    source: int
    name: str
    columns: tuple[str, ...]
    estimates: Floats
    variances: Floats
    high: Floats

    @property
    def shares(self) -> Floats:
        """The shares of all people in its cells, as far as they are shown and not negative."""
        shown = np.maximum(np.nan_to_num(self.estimates), 0.0)
        return shown / max(float(shown.sum()), 1.0)

    def apart(self, counts: Floats) -> float:
        """Return the share of people who are in other cells than the counts say."""
        return min(1.0, 0.5 * float(np.abs(counts / max(float(counts.sum()), 1.0) - self.shares).sum()))

    @property
    def noise(self) -> float:
        """Return by how much noise alone moves the table, as such a share: the mean of normal noise."""
        shown = ~np.isnan(self.estimates)
        people = max(float(np.maximum(self.estimates[shown], 0.0).sum()), 1.0)
        return 0.5 * float(np.sqrt(2 / math.pi * self.variances[shown]).sum()) / people


@dataclass(frozen=True)
class PublishedTables:
    """Every table of some releases that counts people in listed cells."""

    columns: Mapping[str, Domain]
    tables: tuple[PublishedTable, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """The number of labels of every column."""
        return {name: len(domain.labels or ()) for name, domain in self.columns.items()}

    def met_by(self, codes: Codes) -> tuple[TableMet, ...]:
        """Return how far rows are from every table; `codes` are places of labels, in the order of the columns."""
        return tuple(self._met(table, codes) for table in self.tables)

    def _met(self, table: PublishedTable, codes: Codes) -> TableMet:
        places = [list(self.columns).index(column) for column in table.columns]
        cells = np.ravel_multi_index([codes[:, place] for place in places], table.estimates.shape)
        counted = np.bincount(cells, minlength=table.estimates.size).reshape(table.estimates.shape)
        return TableMet(
            source=table.source,
            name=table.name,
            columns=table.columns,
            cells=table.estimates.size,
            # To four digits, which do not depend on the processor.
            apart=float(f"{table.apart(counted.astype(np.float64)):.4g}"),
            noise=float(f"{table.noise:.4g}"),
        )


def published_tables(releases: Sequence[PublishedRelease]) -> PublishedTables:
    """Return the tables of releases; refuses columns with two domains, and releases without any table."""
    columns: dict[str, Domain] = {}
    counted: list[tuple[int, str, PublishedRelease]] = []
    for at, release in enumerate(releases):
        for name, one in release.counted_publications.items():
            domains = one.tables[DATA].columns
            cells = math.prod(len(domain.labels or ()) for domain in domains.values())
            if not domains or cells > MOST_CELLS_LISTED or one.facts.rows_are_counted is None:
                continue
            counted.append((at, release.folder.name if name == DATA else name, one))
            for column, domain in domains.items():
                if columns.setdefault(column, domain).labels != domain.labels:
                    message = f"Column {column[:60]!r} has other labels in another of the tables."
                    raise refusal("labels", message, "Make rows from tables that have the same labels.")
    if not counted:
        message = "Nothing here counts people in cells that are all listed and add up."
        remedy = "Name a folder with tables, such as all tables of two columns of a register."
        raise refusal("no-tables", message, remedy)
    if sum(len(domain.labels or ()) for domain in columns.values()) > MOST_LABELS:
        message = f"The columns have more than {MOST_LABELS:,} labels in all."
        raise refusal("labels", message, "Publish tables with wider intervals or shorter codes.")
    facts = releases[0].facts
    # Sampling errors of publications about different people are different too.
    one_sample = len(releases) == 1 and not (isinstance(facts, ProgrammeFacts) and facts.split != "budget")
    tables = tuple(_table(at, name, one, columns, one_sample=one_sample) for at, name, one in counted)
    return PublishedTables(columns, tables)


def refusal(code: str, message: str, remedy: str, where: str = "folders") -> InvalidInput:
    """Return an error about what rows are to be made from; its code begins with `synthesize.`."""
    return InvalidInput(message, remedy=remedy, where=where, code=f"synthesize.{code}")


def _table(
    at: int, name: str, one: PublishedRelease, columns: Mapping[str, Domain], *, one_sample: bool
) -> PublishedTable:
    described, cells = one.tables[DATA], one.open(next(iter(one.files)))
    margin = margin_of(described, cells, tuple(described.columns), 0.95)
    shape = tuple(len(columns[column].labels or ()) for column in margin.columns)
    every = math.prod(shape)
    strata = None
    if described.laws.stratum is not None:
        strata = np.array(margin.labels[margin.columns.index(described.laws.stratum)])
    found, stated = margin.intervals, described.laws.variances(margin.counts, strata)
    width = np.maximum(found.high - found.low, 1) / (2 * 1.96)
    noise = np.where(np.isnan(stated.noise), width**2, stated.noise)
    sampling = np.where(np.isnan(stated.sampling), 0.0, stated.sampling)
    scale = np.where(margin.counts > 0, np.nan_to_num(found.estimate) / np.maximum(margin.counts, 1), 1.0)
    exact = np.maximum(_LEAST * np.maximum(scale, 1.0) ** 2, _SAMPLING_SHARE * sampling)
    variances = np.maximum(noise, exact) if one_sample else noise + np.maximum(sampling, exact)
    high = np.where(found.high < 0, np.inf, found.high.astype(np.float64))
    # The order of the columns is that of the rows, so that tables of the same columns are of one shape.
    order = sorted(range(len(shape)), key=lambda place: list(columns).index(margin.columns[place]))
    arrays = (values[:every].reshape(shape).transpose(order) for values in (found.estimate, variances, high))
    estimates, variances, high = (np.ascontiguousarray(array) for array in arrays)
    return PublishedTable(at, name, tuple(margin.columns[place] for place in order), estimates, variances, high)

"""A release folder as everybody reads it: `read`, reports and verification.

Facts are guarded by a digest that anybody can compute, so they may be of any form: `fact` and `require` return them in
the form that the caller expects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from crowdblend.calculus import Certificate, verify_file
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.estimates import domain_sizes, facts_of_table
from crowdblend.estimates.estimator import CONFIDENCE
from crowdblend.guarantees import Guarantee
from crowdblend.reading import notes
from crowdblend.reading.cells import ENDINGS, Cells, check_footer, open_cells
from crowdblend.reading.domain import Labels, declared_domain, ordered_columns
from crowdblend.reading.margins import Margin, margin_of
from crowdblend.reading.tables import read_table

_COUNTED = {"table": True, "outlier-table": True, "microdata": False, "points": False}
TOTALS = "totals"
_STATED = ("statistics", "graph")
MOST_STATED = 1_000_000
CONTRADICTION = "data-contradict"
T = TypeVar("T")


@dataclass(frozen=True)
class PublishedRelease:
    """A release whose certificate holds and whose files have the certified hashes."""

    folder: Path
    certificate: Certificate

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the certificate says about the release."""
        return self.certificate.facts

    def fact(self, name: str, form: type[T]) -> T:
        """Return a fact, or the empty value of its type where the certificate does not state it in that form."""
        value = self.facts.get(name)
        return value if isinstance(value, form) else form()

    def require(self, name: str, form: type[T]) -> T:
        """Return a fact; refuse a certificate that does not state it in that form."""
        value = self.facts.get(name)
        if not isinstance(value, form):
            raise contradiction(f"it does not state {name}")
        return value

    def parameter(self, name: str) -> Any:
        """Return a parameter that the certificate states for readers, or None."""
        return self.fact("parameters", dict).get(name)

    @property
    def kind(self) -> str:
        """What is published: table, microdata, points and so on."""
        return str(self.facts.get("kind", ""))

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What is guaranteed to the people, strongest first."""
        return self.certificate.guarantees

    @property
    def about(self) -> dict[str, str]:
        """Title, publisher, contact, licence, period and date, as far as they are stated."""
        said = {str(name): str(text) for name, text in self.fact("about", dict).items()}
        return said | ({"date": str(self.facts["date"])} if "date" in self.facts else {})

    @cached_property
    def domain(self) -> dict[str, Labels | None]:
        """Every declared label of every column, published or not; None where a domain is open or not stated."""
        return declared_domain(self.facts)

    @property
    def columns(self) -> list[str]:
        """The published columns."""
        return list(self.require("columns", dict))

    @property
    def tables(self) -> dict[str, list[str]]:
        """The columns of every table; the one of all columns where there are not several."""
        stated = self.require("tables", dict)
        for columns in stated.values():
            if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
                raise contradiction("it does not state the columns of its tables")
        return stated or {"data": self.columns}

    @cached_property
    def files(self) -> dict[str, Path]:
        """The data files by the names of their tables, the main one first."""
        names = sorted(name for name in self.fact("files", dict) if name.endswith(ENDINGS))
        if not names:
            raise InvalidInput(
                "The certificate names no data file (.parquet or .csv).",
                remedy="Pass the folder of a whole release.",
                code="reading.no-data",
                where="certificate.json",
            )
        names.sort(key=lambda name: Path(name).stem != "data")
        files = {Path(name).stem: self.folder / name for name in names}
        if len(files) < len(names):
            raise contradiction("it names two data files for one table")
        for name, path in files.items():
            check_footer(path, self._most_rows(name))
        return files

    def _most_rows(self, name: str) -> int | None:
        """How many rows a table can have: a few of statistics, and of cells as many as there are; else unknown."""
        if self.kind in _STATED:
            return MOST_STATED
        if self.kind not in ("table", "outlier-table") or name == TOTALS:
            return None
        sizes = domain_sizes(facts_of_table(self.facts, name))
        return None if None in sizes.values() else math.prod(size or 0 for size in sizes.values())

    @property
    def data(self) -> pa.Table:
        """The published data; of several tables the first. Labels are categories, all that were declared."""
        return self.table(next(iter(self.files)))

    def table(self, name: str) -> pa.Table:
        """One of several published tables."""
        if name not in self.files:
            raise InvalidInput(
                f"The release has no table {name[:60]!r}.",
                remedy=f"Its tables are {', '.join(self.files)}.",
                where="table",
                code="reading.no-table",
            )
        return read_table(self.files[name], self.domain, ordered_columns(self.facts))

    def estimates(
        self, confidence: float = CONFIDENCE, margin: Sequence[str] | None = None, table: str | None = None
    ) -> pa.Table:
        """How many people of the population there are, with intervals, for every cell or for a margin.

        A margin names columns; an empty one is the total. Rows are every combination of declared labels, published or
        not, where they can be listed. `count` is blank where nothing is published, `low` and `high` where nothing can
        be said, and `estimate` where cells are missing: their sum is no estimate.
        """
        if not 0 < confidence < 1:
            raise InvalidInput(
                f"confidence is {confidence!r}, and lies between 0 and 1.",
                remedy="Pass a share such as 0.95.",
                where="confidence",
                code="reading.confidence",
            )
        if self.kind in _STATED:
            return self._stated(confidence)
        if table == TOTALS and TOTALS in self.files and TOTALS not in self.fact("tables", dict):
            return self.table(TOTALS)
        return self.margin(margin, confidence, table).table()

    def margin(
        self, columns: Sequence[str] | None = None, confidence: float = CONFIDENCE, table: str | None = None
    ) -> Margin:
        """The same as a value, for those who draw it."""
        name, cells = self._cells(columns, table)
        facts = facts_of_table(self.facts, name)
        domain = declared_domain(facts)
        return margin_of(facts, cells, cells.columns if columns is None else columns, domain, confidence)

    def notes(self, margin: Sequence[str] | None = None, table: str | None = None) -> list[str]:
        """What can and what cannot be said, in sentences."""
        if self.kind not in _COUNTED:
            return []
        if table == TOTALS:
            table = None
        facts = facts_of_table(self.facts, self._cells(margin, table)[0])
        return notes.sentences(facts, declared_domain(facts), margin)

    def _cells(self, columns: Sequence[str] | None, table: str | None) -> tuple[str, Cells]:
        """The file that has the columns: the one that is named, or that with the fewest others."""
        if self.kind not in _COUNTED:
            raise InvalidInput(
                f"A release of kind {self.kind[:40]!r} has no counts of people in cells.",
                remedy="Read its data instead.",
                code="reading.no-counts",
                where="folder",
            )
        # The totals of a register are no cells of its table.
        tables = self.fact("tables", dict)
        names = [table] if table is not None else [name for name in self.files if name != TOTALS or name in tables]
        opened = [(name, self._open(name)) for name in names]
        wanted = set(columns or ())
        fitting = [pair for pair in opened if wanted <= set(pair[1].columns)]
        if fitting:
            return fitting[0] if columns is None else min(fitting, key=lambda pair: len(pair[1].columns))
        known = dict.fromkeys(name for _, cells in opened for name in cells.columns)
        raise InvalidInput(
            f"No table of the release has all of the columns {', '.join(sorted(wanted))[:200]}.",
            remedy=f"Name columns of one table: {', '.join(known)}.",
            where="margin",
            code="reading.no-column",
        )

    def _open(self, name: str) -> Cells:
        if name not in self.files:
            self.table(name)
        cells = open_cells(self.files[name], counted=_COUNTED[self.kind])
        # Coordinates of points are no labels.
        points = self.kind == "points"
        kept = tuple(name for name in cells.columns if name in self.domain)
        return replace(cells, columns=kept) if self.domain or points else cells

    def _stated(self, confidence: float) -> pa.Table:
        """Statistics have an error of their own, for one confidence."""
        stated = self.parameter("confidence")
        if stated != confidence:
            raise InvalidInput(
                f"The errors of this release are stated for a confidence of {stated}.",
                remedy=f"Read it with confidence {stated}.",
                where="confidence",
                code="reading.confidence",
            )
        data = self.data
        # The error of a quantile is one of its rank, so that its error is blank, and so are low and high.
        values, errors = (data.column(name).to_numpy() for name in ("value", "error"))
        low, high = (pa.array(end, mask=np.isnan(end)) for end in (values - errors, values + errors))
        kept = [name for name in data.column_names if name not in ("value", "error", "confidence")]
        columns = [*(data.column(name) for name in kept), pa.array(values), low, high]
        return pa.table(columns, names=[*kept, "estimate", "low", "high"])


def read(folder: Path | str) -> PublishedRelease:
    """Open a release folder with its data files; raises DoesNotVerify where its certificate or a file was changed.

    That the data keep to what the certificate says of them is what `verify` checks as well.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InvalidInput(
            f"{str(path)[:200]!r} is not a folder.",
            remedy="Pass the folder that has certificate.json in it.",
            where="folder",
            code="reading.no-folder",
        )
    release = PublishedRelease(path, verify_file(path))
    _ = release.files  # refuses a certificate without data
    return release


def contradiction(what: str) -> DoesNotVerify:
    """Return the error for data that are not what their certificate says."""
    reason = f"certificate and data contradict each other: {what}. Ask the publisher for the original folder."
    return DoesNotVerify(reason, code=CONTRADICTION, where="certificate.json")

"""`synthesize`: a folder of synthetic rows from the folders of releases."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.kinds.shared.facts import to_json
from crowdblend.kinds.shared.outputs import RowsOutput
from crowdblend.kinds.shared.plan import software
from crowdblend.publishing.description import describe
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.synthesis.facts import MOST_ROWS, MOST_SOURCES, STEM, TITLE, Source, SyntheticFacts, TableMet
from crowdblend.publishing.synthesis.model import fit
from crowdblend.publishing.synthesis.rows import draw_rows
from crowdblend.publishing.synthesis.tables import Codes, PublishedTables, published_tables, refusal
from crowdblend.publishing.target import check_target
from crowdblend.reading.release import PublishedRelease, read
from crowdblend.reading.verification.consistency import check_data
from crowdblend.trusted.calculus import Certificate, sha256_of
from crowdblend.trusted.guarantees.parameters import check_type


def synthesize(
    releases: Release | str | os.PathLike[str] | Sequence[Release | str | os.PathLike[str]],
    *,
    rows: int,
    out: str | os.PathLike[str] | None = None,
    as_csv: bool = False,
    force: bool = False,
    figures: bool = True,
) -> Release:
    """Draw synthetic `rows` from a model of what one or several releases published, and describe them in a folder.

    `releases` are folders, or what `release` returned. No data about people are read and no ledger is written to: the
    rows keep the guarantees of what they are computed from. Rows are drawn with randomness of the operating system, so
    that no two calls give the same. Without `out` the folder is in memory; `save` writes it. `as_csv` writes CSV
    instead of Parquet, `force` replaces an existing folder, and without `figures` the report has tables and sentences
    alone.
    """
    named: list[Any] = list(releases) if isinstance(releases, list | tuple) else [releases]
    for one in named:
        check_type("releases", one, (Release, str, os.PathLike), "what release returned, a folder, or a list of these")
    if not 1 <= len(named) <= MOST_SOURCES:
        message = f"Rows are made from 1 to {MOST_SOURCES} releases, and {len(named)} are named."
        raise refusal("folders", message, "Name folders of releases.")
    if not isinstance(rows, Integral) or isinstance(rows, bool) or not 1 <= rows <= MOST_ROWS:
        message = f"rows must be a number from 1 to {MOST_ROWS:,}, got {rows!r}."
        raise refusal("rows", message, "Pass how many rows you want, such as 100000.", "rows")
    rows = int(rows)
    if out is not None:
        check_target(Path(out), force=force)
    with ExitStack() as stack:
        opened = [stack.enter_context(one.open()) if isinstance(one, Release) else read(Path(one)) for one in named]
        _check_sources(opened)
        sample = draw_from(opened, rows, np.random.default_rng())
        sources = tuple(_source(one.certificate) for one in opened)
        titles = [one.about["title"] for one in opened if one.about.get("title")]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    with tempfile.TemporaryDirectory(prefix="crowdblend-") as made:
        path = Path(made) / f"{STEM}.{'csv' if as_csv else 'parquet'}"
        sample.output(path.name, list(sample.tables.columns)).write(path.parent)
        facts = SyntheticFacts(
            software=software(),
            about={"title": f"{TITLE} from {', '.join(titles)}"[:400] if titles else TITLE},
            files={path.name: sha256_of(path)},
            rows=rows,
            sources=sources,
            columns=dict(sample.tables.columns),
            met=sample.met,
        )
        certificate = Certificate(facts.derivations(), facts.stated_assumptions, to_json(facts))
        done = Release(describe(Path(made), certificate, today, figures=figures), Path(made)).in_memory()
    return done if out is None else Release(done.certificate, done.save(out, force=force))


def _check_sources(sources: Sequence[PublishedRelease]) -> None:
    """Refuse releases whose guarantees rows cannot carry."""
    if len({one.certificate.to_dict()["digest"] for one in sources}) < len(sources):
        raise refusal("twice", "A folder is named twice.", "Name every release once.")
    if any(isinstance(one.facts, SyntheticFacts) for one in sources):
        message = "A folder holds synthetic rows, which say less than what they were made from."
        raise refusal("synthetic", message, "Name the folders that these were made from.")
    if len(sources) > 1 and any(one.certificate.differential() is None for one in sources):
        message = "A release guarantees nothing for one person more or less, and no other guarantees add up."
        raise refusal("together", message, "Make rows from each folder by itself.")
    if len(sources) > 1 and any(one.facts.already_drawn for one in sources):
        message = "A release is of a sample that was drawn before, and others of the same sample do not add up with it."
        remedy = "Make rows from each folder by itself, or publish all tables in one policy."
        raise refusal("one-sample", message, remedy)
    if any(one.facts.proposed for one in sources):
        message = "Domains of a release were proposed from the data, and rows do not carry what that lost."
        raise refusal("proposed", message, "Make rows from a release whose domains are from a code book.")
    # Rows vouch for their sources, which nobody who has the rows can check again.
    for one in sources:
        check_data(one)


@dataclass(frozen=True)
class DrawnRows:
    """Rows as places of labels in the columns of the tables that they were drawn from."""

    tables: PublishedTables
    codes: Codes

    @property
    def met(self) -> tuple[TableMet, ...]:
        """The distance of the rows from every table."""
        return self.tables.met_by(self.codes)

    def output(self, file: str, columns: Sequence[str]) -> RowsOutput:
        """Return the rows as a file with the columns in this order."""
        labels = tuple(tuple(self.tables.columns[name].labels or ()) for name in columns)
        places = [list(self.tables.columns).index(name) for name in columns]
        return RowsOutput(file, tuple(columns), labels, self.codes[:, places])


def draw_from(releases: Sequence[PublishedRelease], rows: int, random: np.random.Generator) -> DrawnRows:
    """Draw rows from a model of the tables of some releases, and of nothing else."""
    tables = published_tables(releases)
    fitted = fit(tables, random)
    return DrawnRows(tables, draw_rows(fitted.mixture, fitted.pairs, rows, random))


def _source(certificate: Certificate) -> Source:
    stated = tuple(assumption.name for assumption in certificate.stated)
    return Source(digest=certificate.to_dict()["digest"], stated=stated, facts=dict(certificate.facts))

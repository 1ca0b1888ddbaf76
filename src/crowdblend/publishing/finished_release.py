"""A finished release as Python users hold it: data, certificate and report, in a folder or in memory."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput, of_system
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.policies.registry import part
from crowdblend.publishing.committing import commit
from crowdblend.publishing.staging import Completion, Journal, Staging
from crowdblend.publishing.target import check_target, exclusive_use
from crowdblend.reading.data_frames import TableForm
from crowdblend.trusted.calculus.certificate import Certificate
from crowdblend.trusted.guarantees.guessing import lead
from crowdblend.trusted.guarantees.parameters import path_of
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import markupsafe
    import pyarrow as pa

    from crowdblend.publishing import signing
    from crowdblend.reading import release as reading
    from crowdblend.reading.figures.chart import Chart
    from crowdblend.reading.reports import text

REPORT = "report.html"
MOST_ROWS = 8
# The figures of a report are drawn by us, with every label escaped, and hold no script.
_FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def save(files: Mapping[str, bytes], folder: Path, *, force: bool) -> Path:
    """Return the folder, which appears whole or not at all; an existing one is refused without `force`."""
    digest = json.loads(files["certificate.json"])["digest"]
    check_target(folder, force=force)
    with exclusive_use(folder):
        try:
            staging = Staging.make(folder, Journal(force=force))
            for name, content in files.items():
                (staging.release / name).write_bytes(content)
            staging = staging.complete(Completion(digest, ""))
            commit(staging, folder, force=force)
        except OSError as problem:
            reason = f"{folder.parent} cannot be written: {problem.strerror}."
            raise of_system(problem)(
                reason, remedy="Choose another folder.", code="write-failed", where="folder"
            ) from None
    return folder


@dataclass(frozen=True, eq=False)
class Release:
    """A published release, and its guarantees, as `release` returns it.

    `done["by_age"]` is one publication, with `data`, `estimates()` and `plot()`. `certificate` has the guarantees,
    `files` the content of every file of a release in memory, and `form` how tables are handed back. `folder` is where
    it appeared, None where it is in memory only; `entry` is its number in the ledger. `internal` is for the steward
    alone. Tables are what the data were: pandas or Polars frames, else Arrow.
    """

    certificate: Certificate = field(repr=False)
    folder: Path | None
    entry: int | None = None
    files: Mapping[str, bytes] | None = field(default=None, repr=False)
    """Every file of a release in memory, by its name."""
    internal: Mapping[str, Any] = field(default_factory=dict, repr=False)
    form: TableForm = field(default=TableForm(), repr=False)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees, strongest first."""
        return self.certificate.guarantees

    def __getitem__(self, name: str) -> Publication:
        """Return one publication by its name."""
        with self.open() as published:
            _ = published[name]  # refuses another name
        return Publication(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    @property
    def data(self) -> Any:
        """The published data; of several publications the first declared, and of `Synthetic` the rows."""
        return next(iter(self.tables.values()))

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """Every published table by its name; the one of a publication without a name is called data."""
        with self.open() as published:
            return {name: published.table(name) for name in published.files}

    def estimates(
        self,
        confidence: float = 0.95,
        margin: str | Sequence[str] | None = None,
        table: str | None = None,
        *,
        consistent: bool = False,
        intervals: bool = False,
    ) -> Any:
        """Return estimates of the population with intervals, by cell or by margin.

        `margin` names columns to add up to, `table` one of several publications, and `confidence` is that of the
        intervals. `consistent` estimates agree with all other publications; `intervals` gives classes of numbers by
        their ends.
        """
        with self.open() as published:
            return published.estimates(confidence, margin, table, consistent=consistent, intervals=intervals)

    def plot(self) -> Chart:
        """Return the figure that the report begins with; of several publications that of the first."""
        with self.open() as published:
            return published.plot()

    @cached_property
    def report(self) -> Report:
        """The page for readers."""
        if self.files is not None:
            return Report(self.files[REPORT].decode("utf-8"))
        assert self.folder is not None, "a release is in a folder or in memory"
        return Report((self.folder / REPORT).read_text(encoding="utf-8"), self.folder / REPORT)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a release that is in memory, or a copy of one, into a `folder` that appears whole or not at all.

        An existing folder is refused; with `force` it is replaced.
        """
        return save(self._contents(), path_of("folder", folder), force=force)

    def synthesize(
        self, rows: int, *, out: str | os.PathLike[str] | None = None, as_csv: bool = False, force: bool = False
    ) -> Release:
        """Return this many synthetic `rows` from a model of the published tables, which costs no privacy.

        They are described in the folder `out`, or in memory; `as_csv` writes CSV instead of Parquet, and `force`
        replaces an existing folder.
        """
        made: Release = part("synthetic", "synthesize").synthesize(self, rows=rows, out=out, as_csv=as_csv, force=force)
        return replace(made, form=self.form)

    def sign(self, key: str | os.PathLike[str], *, passphrase: str | None = None, force: bool = False) -> Path:
        """Sign the certificate of a release in a folder with a private SSH `key`, and return the file of the signature.

        `passphrase` opens the key where it has one; with `force` an earlier signature is replaced.
        """
        if self.folder is None:
            raise InvalidInput(
                "This release is in memory.", remedy="Save it into a folder first.", where="sign", code="not-a-release"
            )
        ask = None if passphrase is None else lambda: passphrase
        return signing.sign_release(self.folder, key, passphrase=ask, force=force)

    def in_memory(self) -> Release:
        """Return the release with all its files in memory, so that the folder may be removed."""
        return replace(self, folder=None, files=self._contents())

    @contextmanager
    def open(self) -> Iterator[reading.PublishedRelease]:
        """Yield the release as it is read, in its folder or in a private copy of what is in memory."""
        if self.folder is not None:
            yield reading.PublishedRelease(self.folder, self.certificate, form=self.form)
            return
        with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as folder:
            for name, content in self._contents().items():
                (Path(folder) / name).write_bytes(content)
            yield reading.PublishedRelease(Path(folder), self.certificate, form=self.form)

    def _contents(self) -> Mapping[str, bytes]:
        if self.files is not None:
            return self.files
        assert self.folder is not None, "a release is in a folder or in memory"
        return {file.name: file.read_bytes() for file in sorted(self.folder.iterdir()) if file.is_file()}

    def _repr_html_(self) -> str:
        """Return the guarantee in one sentence, the first figure of the report, and the first rows."""
        tables, guarantees = replace(self, form=TableForm()).tables, self.certificate.guarantees
        name, table = next(iter(tables.items()))
        # For someone who has never heard of ε; else the strongest one, precisely.
        sentence = lead(guarantees, planned_releases(self.certificate))
        sentence = sentence or (self.certificate.differential() or guarantees[0]).words()
        figure = _FIGURE.search(self.report.html)
        drawn = markupsafe.Markup(figure.group(0)) if figure else ""
        others = f"; also published: {', '.join(list(tables)[1:])}" if len(tables) > 1 else ""
        rows = f"{_caption(name, table)}{others}"
        where = "in memory" if self.folder is None else str(self.folder)
        recorded = "" if self.entry is None else f", release {self.entry} of the ledger"
        shown = markupsafe.Markup("<div><p><b>{}</b></p>{}<p>{}</p>{}<p><small>{}</small></p></div>")
        return str(shown.format(sentence, drawn, rows, _rows(table), where + recorded))


@dataclass(frozen=True, eq=False)
class Publication:
    """One publication of a `release`, by its `name`."""

    release: Release
    name: str

    @cached_property
    def data(self) -> Any:
        """The published data."""
        with self.release.open() as published:
            return published[self.name].data

    def estimates(
        self,
        confidence: float = 0.95,
        margin: str | Sequence[str] | None = None,
        *,
        consistent: bool = False,
        intervals: bool = False,
    ) -> Any:
        """Return estimates of the population with intervals, by cell or by margin.

        `margin` names columns to add up to, and `confidence` is that of the intervals. `consistent` estimates agree
        with all other publications; `intervals` gives classes of numbers by their ends.
        """
        with self.release.open() as published:
            one, name = (published, self.name) if consistent else (published[self.name], None)
            return one.estimates(confidence, margin, name, consistent=consistent, intervals=intervals)

    def plot(self) -> Chart:
        """Return the figure that the report shows of it."""
        with self.release.open() as published:
            return published[self.name].plot()

    def _repr_html_(self) -> str:
        """Return its first rows."""
        with self.release.open() as published:
            table = replace(published, form=TableForm())[self.name].data
        return str(markupsafe.Markup("<div><p>{}</p>{}</div>").format(_caption(self.name, table), _rows(table)))


@dataclass(frozen=True)
class Report:
    """The page that explains a release to readers; `path` is its file, None where it is in memory only."""

    html: str = field(repr=False)
    path: Path | None = None

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own that runs no script."""
        page = escape(self.html)
        return f'<iframe sandbox="" srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'


def _caption(name: str, table: pa.Table) -> str:
    """Return the name of a table, and how many of its rows are shown."""
    shown = "the first of " if table.num_rows > MOST_ROWS else ""
    return f"{name}: {shown}{table.num_rows:,} rows"


def _rows(table: pa.Table) -> markupsafe.Markup:
    head = "".join(f"<th>{text.label(name)}</th>" for name in table.column_names)
    rows = [
        "".join(f"<td>{text.label('' if value is None else str(value))}</td>" for value in row.values())
        for row in table.slice(0, MOST_ROWS).to_pylist()
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return markupsafe.Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

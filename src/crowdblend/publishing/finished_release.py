"""A finished release as Python users hold it: data, certificate and report, in a folder or in memory."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal

from crowdblend.calculus.certificate import Certificate
from crowdblend.errors import InvalidInput, Unavailable
from crowdblend.frozen import dataclass
from crowdblend.guarantees.guessing import lead
from crowdblend.guarantees.privacy import Guarantee
from crowdblend.lazy import lazy_imports
from crowdblend.publishing.committing import commit
from crowdblend.publishing.staging import Completion, Journal, Staging
from crowdblend.publishing.target import check_target, exclusive_use
from crowdblend.releases.facts import planned_releases

with lazy_imports():
    import markupsafe
    import polars
    import pyarrow as pa

    from crowdblend.publishing import signing
    from crowdblend.reading import release as reading
    from crowdblend.reports import text

REPORT = "report.html"
Frames = Literal["arrow", "pandas", "polars"]
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
            raise Unavailable(reason, remedy="Choose another folder.", code="write-failed", where="folder") from None
    return folder


@dataclass(frozen=True, eq=False)
class Release:
    """A published release, and its guarantees.

    `folder` is where it appeared, None where it is in memory only; `entry` is its number in the ledger. `internal` is
    for the steward alone. Tables are what the data were: pandas or Polars frames, else Arrow.
    """

    certificate: Certificate = field(repr=False)
    folder: Path | None
    entry: int | None = None
    files: Mapping[str, bytes] | None = field(default=None, repr=False)
    """Every file of a release in memory, by its name."""
    internal: Mapping[str, Any] = field(default_factory=dict, repr=False)
    frames: Frames = field(default="arrow", repr=False)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The guarantees, strongest first."""
        return self.certificate.guarantees

    @property
    def data(self) -> Any:
        """The published data; of several publications the first."""
        return next(iter(self.tables.values()))

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """Every published table by its name; the one of a publication without a name is called data."""
        return {name: self._frame(table) for name, table in self._arrow.items()}

    def estimates(
        self,
        confidence: float = 0.95,
        margin: Sequence[str] | None = None,
        table: str | None = None,
        *,
        consistent: bool = False,
    ) -> Any:
        """Return estimates of the population with intervals, by cell or by margin; see `read`."""
        with self._on_disk() as folder:
            published = reading.PublishedRelease(folder, self.certificate)
            return self._frame(published.estimates(confidence, margin, table, consistent=consistent))

    @cached_property
    def _arrow(self) -> dict[str, pa.Table]:
        with self._on_disk() as folder:
            published = reading.PublishedRelease(folder, self.certificate)
            return {name: published.table(name) for name in published.files}

    def _frame(self, table: pa.Table) -> Any:
        """Return a table as the data were."""
        if self.frames == "pandas":
            return table.to_pandas()
        return table if self.frames == "arrow" else polars.from_arrow(table)

    @cached_property
    def report(self) -> Report:
        """The page for readers."""
        return Report(self._bytes(REPORT).decode("utf-8"), None if self.folder is None else self.folder / REPORT)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a release that is in memory, or a copy of one, into a folder that appears whole or not at all."""
        return save({name: self._bytes(name) for name in self._names()}, Path(folder), force=force)

    def sign(self, key: str | os.PathLike[str], *, passphrase: str | None = None, force: bool = False) -> Path:
        """Sign the certificate of a release in a folder with a private SSH key; the file of the signature."""
        if self.folder is None:
            raise InvalidInput(
                "This release is in memory.", remedy="Save it into a folder first.", where="sign", code="not-a-release"
            )
        ask = None if passphrase is None else lambda: passphrase
        return signing.sign_release(self.folder, key, passphrase=ask, force=force)

    def in_memory(self) -> Release:
        """Return the release with all its files in memory, so that the folder may be removed."""
        files = {name: self._bytes(name) for name in self._names()}
        return replace(self, folder=None, files=files)

    @contextmanager
    def _on_disk(self) -> Iterator[Path]:
        """The folder, or a private copy of what is in memory."""
        if self.folder is not None:
            yield self.folder
            return
        with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as folder:
            for name in self._names():
                (Path(folder) / name).write_bytes(self._bytes(name))
            yield Path(folder)

    def _names(self) -> list[str]:
        if self.files is not None:
            return sorted(self.files)
        assert self.folder is not None, "a release is in a folder or in memory"
        return sorted(file.name for file in self.folder.iterdir() if file.is_file())

    def _bytes(self, name: str) -> bytes:
        if self.files is not None:
            return self.files[name]
        assert self.folder is not None, "a release is in a folder or in memory"
        return (self.folder / name).read_bytes()

    def _repr_html_(self) -> str:
        return release_html(self)


@dataclass(frozen=True)
class Report:
    """The page that explains a release to readers; `path` is its file, None where it is in memory only."""

    html: str = field(repr=False)
    path: Path | None = None

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own that runs no script."""
        page = escape(self.html)
        return f'<iframe sandbox="" srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'


def release_html(release: Release) -> str:
    """A release in a notebook: the guarantee in one sentence, the first figure of the report, and the first rows."""
    tables = release._arrow
    name, table = next(iter(tables.items()))
    figure = _FIGURE.search(release.report.html)
    others = f"; also published: {', '.join(list(tables)[1:])}" if len(tables) > 1 else ""
    recorded = "" if release.entry is None else f", release {release.entry} of the ledger"
    where = "in memory" if release.folder is None else str(release.folder)
    rows = f"{name}: the first of {table.num_rows:,} rows{others}"
    shown = markupsafe.Markup("<div><p><b>{}</b></p>{}<p>{}</p>{}<p><small>{}</small></p></div>")
    drawn = markupsafe.Markup(figure.group(0)) if figure else ""
    return str(shown.format(guarantee_sentence(release.certificate), drawn, rows, _rows(table), where + recorded))


def guarantee_sentence(certificate: Certificate) -> str:
    """Return the guarantee for someone who has never heard of ε; else the strongest one, precisely."""
    return (
        lead(certificate.guarantees, planned_releases(certificate))
        or (certificate.differential() or certificate.guarantees[0]).words()
    )


def _rows(table: pa.Table) -> markupsafe.Markup:
    head = "".join(f"<th>{text.label(name)}</th>" for name in table.column_names)
    rows = [
        "".join(f"<td>{text.label('' if value is None else str(value))}</td>" for value in row.values())
        for row in table.slice(0, MOST_ROWS).to_pylist()
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return markupsafe.Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

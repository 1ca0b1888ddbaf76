"""A finished release as Python users hold it: data, certificate and report, in a folder or in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.calculus.certificate import Certificate
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Guarantee
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    from crowdblend.api import notebook
    from crowdblend.publishing import saving, signing
    from crowdblend.publishing.release import Released
    from crowdblend.reading import release as reading
else:
    notebook = lazy("crowdblend.api.notebook")
    reading = lazy("crowdblend.reading.release")
    saving = lazy("crowdblend.publishing.saving")
    signing = lazy("crowdblend.publishing.signing")

REPORT = "report.html"


@dataclass(frozen=True, eq=False)
class Release:
    """What was published, and what it guarantees.

    `folder` is where it appeared, None where it is in memory only; `entry` is its number in the ledger.
    """

    certificate: Certificate = field(repr=False)
    folder: Path | None
    entry: int | None
    files: Mapping[str, bytes] | None = field(default=None, repr=False)
    """Every file of a release in memory, by its name."""

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What is guaranteed, strongest first."""
        return self.certificate.guarantees

    @cached_property
    def data(self) -> Any:
        """What was published as an Arrow table; several tables as a dictionary, by name."""
        with self._on_disk() as folder:
            published = reading.PublishedRelease(folder, self.certificate)
            tables = {name: published.table(name) for name in published.files}
        return next(iter(tables.values())) if len(tables) == 1 else tables

    @cached_property
    def report(self) -> Report:
        """The page for readers."""
        return Report(self._bytes(REPORT).decode("utf-8"), None if self.folder is None else self.folder / REPORT)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a release that is in memory, or a copy of one, into a folder that appears whole or not at all."""
        return saving.save({name: self._bytes(name) for name in self._names()}, Path(folder), force=force)

    def sign(self, key: str | os.PathLike[str], *, passphrase: str | None = None, force: bool = False) -> Path:
        """Sign the certificate of a release in a folder with a private SSH key; the file of the signature."""
        if self.folder is None:
            raise InvalidInput(
                "This release is in memory.", remedy="Save it into a folder first.", where="sign", code="not-a-release"
            )
        ask = None if passphrase is None else lambda: passphrase
        return signing.sign_release(self.folder, key, passphrase=ask, force=force)

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
        return notebook.release_html(self)


@dataclass(frozen=True)
class Report:
    """The page that explains a release to readers; `path` is its file, None where it is in memory only."""

    html: str = field(repr=False)
    path: Path | None = None

    def _repr_html_(self) -> str:
        return notebook.page_html(self.html)


def in_folder(done: Released) -> Release:
    """A release that appeared in its folder."""
    return Release(done.certificate, done.folder, done.entry)


def in_memory(publish: Callable[[Path], Released]) -> Release:
    """A release that is published into a private folder, taken from there and removed.

    The transaction is that of a folder: the ledger records the release, then it is computed. If the process dies before
    the ledger has it as finished, `resume` computes it again; if it dies afterwards, the sample is spent and nobody has
    seen the output.
    """
    with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as parent:
        done = publish(Path(parent) / "release")
        files = {file.name: file.read_bytes() for file in sorted(done.folder.iterdir())}
    return Release(done.certificate, None, done.entry, files)

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

if TYPE_CHECKING:
    from crowdblend.publishing.release import Released

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
        from crowdblend.api.tables import read_tables  # noqa: PLC0415 - heavy

        with self._on_disk() as folder:
            return read_tables(self.certificate, folder)

    @cached_property
    def report(self) -> Report:
        """The page for readers."""
        return Report(self._bytes(REPORT).decode("utf-8"), None if self.folder is None else self.folder / REPORT)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a release that is in memory, or a copy of one, into a folder that appears whole or not at all."""
        from crowdblend.api.saving import save  # noqa: PLC0415

        return save({name: self._bytes(name) for name in self._names()}, Path(folder), force=force)

    def sign(self, key: str | os.PathLike[str], *, passphrase: str | None = None, force: bool = False) -> Path:
        """Sign the certificate of a release in a folder with a private SSH key; the file of the signature."""
        if self.folder is None:
            raise InvalidInput(
                "This release is in memory.", remedy="Save it into a folder first.", where="sign", code="not-a-release"
            )
        from crowdblend.api.checks import sign  # noqa: PLC0415

        return sign(self.folder, key, passphrase=passphrase, force=force)

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
        from crowdblend.api.notebook import release_html  # noqa: PLC0415

        return release_html(self)


@dataclass(frozen=True)
class Report:
    """The page that explains a release to readers; `path` is its file, None where it is in memory only."""

    html: str = field(repr=False)
    path: Path | None = None

    def _repr_html_(self) -> str:
        from crowdblend.api.notebook import page_html  # noqa: PLC0415

        return page_html(self.html)


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

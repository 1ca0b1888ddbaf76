"""The private folder beside the target in which a release is built, with a journal that outlives a crash.

    .published.partial-x1y2z3/     mode 0700, beside `published`
      journal.json                 which entry of which sample this is, and once everything is written: its digests
      release/                     what becomes `published`

The journal is replaced in one step, so it says one thing or the other; `completion` in it means that every file of
`release/` is on the disk.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from crowdblend.trusted.machine.system import flush

PARTIAL = ".partial-"
_JOURNAL, _RELEASE, _OLD = "journal.json", "release", "old"


@dataclass(frozen=True)
class Completion:
    """The record of a release that is completely written: its digests, and facts for the steward."""

    certificate_digest: str
    data_sha256: str
    internal: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Journal:
    """The purpose of a staging folder."""

    force: bool
    entry: int | None = None
    sample: str | None = None
    policy: str | None = None
    figures: bool = True
    signed: bool = False
    """Whether the certificate is to be signed."""
    completion: Completion | None = None


@dataclass(frozen=True)
class Staging:
    """A staging folder and its journal."""

    path: Path
    journal: Journal

    @property
    def release(self) -> Path:
        """The folder that is to appear; after an exchange the one that it replaced."""
        return self.path / _RELEASE

    @property
    def old_release(self) -> Path:
        """The place where the replaced release waits if names cannot be exchanged in one step."""
        return self.path / _OLD

    @classmethod
    def make(cls, folder: Path, journal: Journal) -> Staging:
        """Return a new one for this target, that only its owner can enter."""
        path = Path(tempfile.mkdtemp(prefix=f".{folder.name}{PARTIAL}", dir=folder.parent))
        made = cls(path, journal)
        made.release.mkdir()
        return made.write_journal(journal)

    def write_journal(self, journal: Journal) -> Staging:
        """The same with another journal, which is on the disk when this returns."""
        handle, name = tempfile.mkstemp(prefix=_JOURNAL, dir=self.path)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            json.dump(asdict(journal), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, self.path / _JOURNAL)
        flush(self.path)
        return Staging(self.path, journal)

    def complete(self, completion: Completion) -> Staging:
        """The same once every file is on the disk."""
        for file in self.release.iterdir():
            flush(file)
        flush(self.release)
        return self.write_journal(replace(self.journal, completion=completion))

    def copied_to(self, folder: Path) -> Staging:
        """Return a copy beside another target, which may lie on another disk."""
        made = Staging.make(folder, replace(self.journal, completion=None))
        shutil.copytree(self.release, made.release, dirs_exist_ok=True)
        return made if self.journal.completion is None else made.complete(self.journal.completion)

    def discard(self) -> None:
        """Remove it; what cannot be removed stays private."""
        shutil.rmtree(self.path, ignore_errors=True)


def stagings_of(folder: Path) -> Iterator[Staging]:
    """Yield every staging folder that was left behind for this target; one without a readable journal never began."""
    for path in sorted(folder.parent.glob(f".{glob.escape(folder.name)}{PARTIAL}*")):
        if path.is_dir() and not path.is_symlink():
            try:
                stated = json.loads((path / _JOURNAL).read_text(encoding="utf-8"))
                completion = stated.pop("completion")
                journal = Journal(**stated, completion=completion and Completion(**completion))
            except (OSError, ValueError, TypeError, AttributeError, KeyError):
                journal = Journal(force=False)
            yield Staging(path, journal)

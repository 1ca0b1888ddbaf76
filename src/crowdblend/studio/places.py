"""Files are chosen under the root: whatever a request names is resolved first, links included, and refused outside."""

from __future__ import annotations

import filecmp
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.policies.files import CERTIFICATE, format_of

STATE = ".crowdblend-studio"
_MOST_LISTED = 500
_LONGEST = 1_000


@dataclass(frozen=True)
class ListedPath:
    """A folder or file that can be chosen; `path` is relative to the root."""

    name: str
    path: str
    what: str
    bytes: int = 0


@dataclass(frozen=True)
class Root:
    """The folder that everything is chosen from, with all links resolved."""

    folder: Path

    @classmethod
    def at(cls, folder: Path | str) -> Root:
        """Return the root at an existing folder."""
        found = Path(folder).resolve()
        if not found.is_dir():
            message = f"{str(folder)!r} is not a folder."
            raise InvalidInput(message, remedy="Name the folder with your data.", where="--root", code="studio.root")
        return cls(found)

    def inside(self, path: str) -> Path:
        """Return the path with all links resolved, or a refusal where it does not lie under the root."""
        try:
            if "\0" in path or len(path) > _LONGEST:
                raise ValueError
            found = Path(os.path.realpath(self.folder / path))
        except (OSError, ValueError):
            raise _outside("This is not the name of a file.") from None
        if found != self.folder and self.folder not in found.parents:
            raise _outside("This path leads out of the folder that the studio was started in.")
        if STATE in found.relative_to(self.folder).parts:
            raise _outside("The studio keeps its own files there.")
        return found

    def existing(self, path: str) -> Path:
        """Return a path under the root at which there is something."""
        found = self.inside(path)
        if not found.exists():
            message = f"There is no {found.name!r} in this folder."
            raise InvalidInput(message, remedy="Choose a file from the list.", where="path", code="studio.no-file")
        return found

    def relative(self, path: Path) -> str:
        """Return a path under the root as it is shown and asked for."""
        return path.relative_to(self.folder).as_posix()

    def listing(self, path: str = "") -> list[ListedPath]:
        """Return what can be chosen in a folder: folders, releases and data files, in order of name."""
        folder = self.existing(path)
        if not folder.is_dir():
            raise InvalidInput(
                f"{folder.name!r} is not a folder.", remedy="Choose a folder.", where="path", code="studio.no-folder"
            )
        found = []
        for entry in sorted(folder.iterdir(), key=lambda one: one.name.lower())[:_MOST_LISTED]:
            if entry.name.startswith((".", "_")) or not self._leads_inside(entry):
                continue
            what = _what(entry)
            if what is not None:
                found.append(ListedPath(entry.name, self.relative(folder / entry.name), what, _bytes(entry)))
        return sorted(found, key=lambda one: one.what != "folder")

    def write(self, path: str, text: str) -> Path:
        """Write a file under the root; no link is followed, even one that is put there meanwhile."""
        found = self.inside(path)
        *above, name = found.relative_to(self.folder).parts or ("",)
        if not name or found.is_dir():
            raise _outside("This is the name of a folder.")
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in above:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = below
            part = f".{secrets.token_hex(8)}.part"
            made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
            with os.fdopen(made, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)
        return found

    @contextmanager
    def receiving(self) -> Iterator[IO[bytes]]:
        """Yield a new file under the root that nobody else may read; it is removed where copying stops."""
        part = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW, 0o600)) as file:
                yield file
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def keep(self, part: Path, name: str) -> str:
        """Give a file that was received its name, with a number where another file has it; an equal one is taken."""
        stem, _, ending = name.partition(".")
        try:
            for number in count(1):
                target = self.folder / (name if number == 1 else f"{stem}-{number}.{ending}")
                with suppress(FileExistsError):
                    os.link(part, target)
                    break
                if target.is_file() and filecmp.cmp(part, target, shallow=False):
                    break
        finally:
            part.unlink()
        return target.name

    def releases(self, depth: int = 3) -> list[str]:
        """Return the release folders under the root, down to some depth."""
        found, level = [], [self.folder]
        for _ in range(depth):
            below = [entry for folder in level for entry in _folders(folder) if self._leads_inside(entry)]
            found += [self.relative(folder) for folder in below if (folder / CERTIFICATE).is_file()]
            level = [folder for folder in below if not (folder / CERTIFICATE).is_file()]
        return sorted(found)[:_MOST_LISTED]

    def _leads_inside(self, entry: Path) -> bool:
        found = Path(os.path.realpath(entry))
        return self.folder in found.parents


def _bytes(entry: Path) -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0


def _folders(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())[:_MOST_LISTED]
    except OSError:
        return []
    return [entry for entry in entries if entry.is_dir() and not entry.name.startswith((".", "_"))]


def _what(entry: Path) -> str | None:
    if entry.is_dir():
        return "release" if (entry / CERTIFICATE).is_file() else "folder"
    if entry.suffix.lower() == ".toml":
        return "policy"
    return format_of(entry.name) if entry.is_file() else None


def _outside(message: str) -> InvalidInput:
    return InvalidInput(message, remedy="Start the studio with another --root.", where="path", code="studio.outside")

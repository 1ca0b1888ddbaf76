"""Files under the root and databases on an allow list: a page may name these, and no text in a form opens others.

Whatever a request names is resolved first, links included, and refused outside the root. Databases are PostgreSQL by
host or service, and SQLite files under the root. Passwords, certificates and socket folders come from libpq's own
variables and files; an address that carries them, or that hides another host in its parameters, is refused.
"""

from __future__ import annotations

import filecmp
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl, urlsplit

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import format_of
from crowdblend.policies.load import load_checked_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import ADDRESS, DataSource, is_sqlite, sqlite_file
from crowdblend.studio.model.choices import Choices, paths_of
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.system import write_below

STATE = ".crowdblend-studio"
_MOST_LISTED = 500
_LONGEST = 1_000
_PARAMETERS = ("service", "sslmode", "connect_timeout", "application_name", "target_session_attrs")
_HOST = re.compile(r"[A-Za-z0-9._\-\[\]:,]*")


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
            raise InvalidInput(message, remedy="Name the folder with your data.", where="`--root`", code="studio.root")
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

    def relative_name(self, path: str) -> str:
        """Return a path under the root, relative to it, by the name that it was given, links included."""
        found = os.path.relpath(path, self.folder)
        return self.relative(self.existing(path)) if found.startswith("..") else Path(found).as_posix()

    def free_name(self, stem: str, first: int = 1) -> str:
        """Return a name for a folder and its policy, with a number where something is called so."""
        names = (stem if number == 1 else f"{stem}-{number}" for number in count(first))
        return next(one for one in names if not any(self.inside(one + end).exists() for end in ("", ".toml")))

    def next_name(self, name: str) -> str:
        """Return a free name with the next number, for another release beside one."""
        return self.free_name(re.sub(r"-[0-9]+$", "", name), 2)

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
        write_below(self.folder, (*above, name), text)
        return found

    @contextmanager
    def receiving(self) -> Iterator[IO[bytes]]:
        """Yield a new file under the root that nobody else may read; it is removed where copying stops."""
        part = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
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
    return InvalidInput(message, remedy="Start the studio in its folder.", where="path", code="studio.outside")


def is_address(source: str) -> bool:
    """Return whether a source is an address, not the path of a file."""
    return "://" in source


def checked_address(root: Root, address: str) -> str:
    """Return the address as the policy writes it; refuses what is not on the list."""
    address = address.strip()
    if len(address) > _LONGEST or any(not sign.isprintable() or sign in " \\" for sign in address):
        raise _no_address("This is not the address of a database.")
    if is_sqlite(address):
        return "sqlite:///" + root.relative(root.existing(str(sqlite_file(address))))
    if not ADDRESS.match(address):
        raise _no_address("The studio opens PostgreSQL databases and SQLite files only.")
    try:
        parts = urlsplit(address)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        password = parts.password
    except ValueError:
        raise _no_address("This is not the address of a database.") from None
    if password is not None or any("pass" in name.lower() for name, _ in parameters):
        message = "The address holds a password."
        remedy = "Take it out; put it into PGPASSWORD or ~/.pgpass before you start the studio."
        raise InvalidInput(message, remedy=remedy, where="address", code="studio.password")
    unknown = [name for name, _ in parameters if name not in _PARAMETERS]
    if unknown or parts.fragment or not _HOST.fullmatch(parts.netloc.rpartition("@")[2]):
        raise _no_address("The address has parameters that the studio does not pass on.")
    return address


def check_paths(root: Root, choices: Choices) -> None:
    """Refuse choices that name a file outside the root, or a database that is not on the list."""
    for path in (*paths_of(choices), choices.value("data", "source")):
        check_place(root, path)


def check_place(root: Root, place: str) -> None:
    """Refuse a file outside the root, or a database that is not on the list."""
    if is_address(place):
        checked_address(root, place)
    elif place:
        root.inside(place)


def load_policy_inside(root: Root, path: str) -> Policy:
    """Return a policy under the root, of which every path leads to a place under it; nothing else is opened."""
    return load_checked_policy(root.existing(path), partial(check_named, root))


def check_named(root: Root, place: str, where: str) -> None:
    """Refuse a place that a policy names and that a page may not name, with the key that names it."""
    try:
        check_place(root, place)
    except InvalidInput as refused:
        message, remedy, _ = refused.refusal
        raise InvalidInput(f"{where}: {message}", remedy=remedy, where=where, code=refused.code) from None


def database_source(root: Root, address: str, table: str, query: str) -> DataSource:
    """Return the table or query at an address that was checked, ready to be opened."""
    kind = "sqlite" if is_sqlite(address) else "postgres"
    place = f"sqlite:///{root.existing(str(sqlite_file(address)))}" if kind == "sqlite" else address
    return DataSource(place, kind, table=table or None, query=query or None, rows_are_people=True)  # type: ignore[arg-type]


def _no_address(message: str) -> InvalidInput:
    return InvalidInput(
        message,
        remedy=f"Write postgresql://user@host/database or sqlite:///file; parameters may be {', '.join(_PARAMETERS)}.",
        where="address",
        code="studio.address",
    )

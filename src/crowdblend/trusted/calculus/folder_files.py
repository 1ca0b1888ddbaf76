"""The files of a release folder, checked against the hashes that a certificate states.

A folder comes from anywhere: its names may hold terminal escapes, and its files may be links, pipes or devices. Nothing
is opened but regular files, and no name is shown that a terminal would act on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from crowdblend.errors import DoesNotVerify
from crowdblend.trusted.machine.regular_files import open_regular

CERTIFICATE = "certificate.json"
DATA_ENDINGS = (".parquet", ".csv")
# What explains a release repeats its certificate some times, with words and figures.
EXPLAINED, TIMES = 1 << 24, 16
SIGNATURE = "certificate.json.sig"
"""The signature of the certificate, if there is one; `verify` with a signer checks it."""


def check_files(folder: Path, statement: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of files that the certificate does not cover; refuse a folder that lacks a file it lists.

    Such files are the publisher's, `report.html` among them: nothing is said about what is in them.
    """
    present = list_files(folder, statement)
    for name, expected in statement.items():
        if regular_file_hash(folder / name) != expected:
            raise DoesNotVerify(f"{name} is not the file that was certified.", where=name, code="file-edited")
    return tuple(sorted(present - set(statement) - {CERTIFICATE, SIGNATURE}))


def list_files(folder: Path, statement: object) -> set[str]:
    """Return the names of a folder's files, before any is opened; refuse one that is missing, no file or too long."""
    if not isinstance(statement, dict) or not all(map(_is_file_name, statement)):
        raise DoesNotVerify("The facts do not list the files of the release with their hashes.")
    present = _regular_files(folder)
    for name in statement:
        if name not in present:
            raise DoesNotVerify(f"{name} is missing. Ask for the whole folder.", where=name, code="file-missing")
    most = EXPLAINED + TIMES * (folder / CERTIFICATE).stat().st_size
    for name in statement:
        if not name.endswith(DATA_ENDINGS) and (folder / name).stat().st_size > most:
            message = f"{name} is longer than what it explains. Ask for the original folder."
            raise DoesNotVerify(message, where=name, code="file-large")
    return present


def regular_file_hash(path: Path) -> str:
    """Return the SHA-256 of a regular file; a link or a pipe that took its place meanwhile is refused."""
    try:
        with open_regular(path, follow=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise DoesNotVerify(f"{printable(path.name)} cannot be read: {problem.strerror}.") from None


def printable(name: str) -> str:
    """Return a name without characters that a terminal would act on.

    >>> printable("data.csv"), printable("\\x1b[2Kverified")
    ('data.csv', "'\\\\x1b[2Kverified'")
    """
    return name if name.isprintable() else ascii(name)


def _regular_files(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {_checked_name(entry) for entry in entries}
    except OSError as problem:
        raise DoesNotVerify(f"{printable(str(folder))} cannot be read: {problem.strerror}.") from None


def _checked_name(entry: os.DirEntry[str]) -> str:
    if not entry.name.isprintable():
        reason = f"A file name has control characters in it: {printable(entry.name)}. Ask for the original folder."
        raise DoesNotVerify(reason, code="file-name")
    if not entry.is_file(follow_symlinks=False):
        reason = f"{printable(entry.name)} is not a regular file, and a release has nothing else. Remove it."
        raise DoesNotVerify(reason, where=printable(entry.name), code="file-not-regular")
    return entry.name


def _is_file_name(name: object) -> bool:
    plain = isinstance(name, str) and name.isprintable() and name == os.path.basename(name)
    return plain and name not in ("", ".", "..", CERTIFICATE)

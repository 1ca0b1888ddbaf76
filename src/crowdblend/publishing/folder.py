"""A release folder appears whole or not at all."""

from __future__ import annotations

import fcntl
import glob
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput

PARTIAL = ".partial"
# File systems allow 255 bytes, and partial folders, locks and internal facts have longer names.
LONGEST_NAME = 200


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a target that exists, or that could not be written, before anything is spent."""
    if os.path.lexists(folder) and not force:
        raise InvalidInput(f"the output folder must not exist yet, got {folder}; pass --force to replace it.")
    if os.path.lexists(folder) and not (folder / "certificate.json").is_file():
        raise InvalidInput(f"--force replaces a release, and {folder} is something else; choose another folder.")
    if not folder.parent.is_dir() or not os.access(folder.parent, os.W_OK):
        raise InvalidInput(f"the output's parent must be a folder that can be written, got {folder.parent}.")
    if not folder.name or len(folder.name.encode()) > LONGEST_NAME:
        raise InvalidInput(f"the output folder's name must have 1 to {LONGEST_NAME} bytes; choose another name.")
    if internal_path(folder).is_dir():
        raise InvalidInput(
            f"{internal_path(folder).name} must not be a folder, since internal facts go there; move it."
        )


@contextmanager
def whole_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """A private place to build the folder in; it takes its name only when the block ends well.

    Renaming a folder within one file system is atomic, so a crash leaves either nothing under that name or all of it.
    One release at a time works on a name; what an earlier one left behind when it was killed is cleared away.
    """
    check_target(folder, force=force)
    with _alone(folder):
        for stale in folder.parent.glob(f".{glob.escape(folder.name)}{PARTIAL}-*"):
            shutil.rmtree(stale, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}{PARTIAL}-", dir=folder.parent))
        try:
            yield partial
            # Somebody may have made a folder of that name meanwhile; it is not ours to replace.
            check_target(folder, force=force)
            _appear(partial, folder)
        except OSError as problem:
            raise InvalidInput(
                f"the release must fit on the disk, and writing it failed: {problem.strerror}."
            ) from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _appear(partial: Path, folder: Path) -> None:
    for file in partial.iterdir():
        _flush(file)
    partial.chmod(0o755)
    _flush(partial)
    retired = partial.with_name(f"{partial.name}.old")
    if folder.exists():
        folder.rename(retired)
    partial.rename(folder)
    _flush(folder.parent)
    shutil.rmtree(retired, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse to work on a folder that another release is working on."""
    lock = folder.with_name(f".{folder.name}.lock")
    with lock.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InvalidInput(
                f"another release is working on {folder}; wait for it, or choose another folder."
            ) from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def internal_path(folder: Path) -> Path:
    """Where facts that must not be published are kept."""
    return folder.with_name(folder.name + ".internal.json")


def write_internal(folder: Path, facts: Mapping[str, Any]) -> None:
    """Facts for the steward alone, readable by the owner only."""
    _write_private(folder, internal_path(folder), json.dumps(dict(facts), indent=2) + "\n")


def write_internal_page(folder: Path, page: str) -> None:
    """The same as a page, beside the folder and readable by the owner only."""
    _write_private(folder, internal_path(folder).with_suffix(".html"), page)


def _write_private(folder: Path, path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{folder.name}{PARTIAL}-", dir=folder.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""A release folder appears whole or not at all."""

from __future__ import annotations

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


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a target that exists, or whose parent cannot be written, before anything is spent."""
    if folder.exists() and not force:
        raise InvalidInput(f"the output folder must not exist yet, got {folder}; pass --force to replace it.")
    if folder.exists() and not (folder / "certificate.json").is_file():
        raise InvalidInput(f"--force replaces a release, and {folder} is something else; choose another folder.")
    if not folder.parent.is_dir() or not os.access(folder.parent, os.W_OK):
        raise InvalidInput(f"the output's parent must be a folder that can be written, got {folder.parent}.")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A private place to build the folder in; it takes its name only when the block ends well.

    Renaming a folder within one file system is atomic, so a crash leaves either nothing under that name or all of it.
    """
    for stale in folder.parent.glob(f".{folder.name}{PARTIAL}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}{PARTIAL}-", dir=folder.parent))
    try:
        yield partial
        for file in partial.iterdir():
            _flush(file)
        partial.chmod(0o755)
        _flush(partial)
        if folder.exists():
            retired = Path(tempfile.mkdtemp(prefix=f".{folder.name}{PARTIAL}-", dir=folder.parent))
            folder.rename(retired / folder.name)
            partial.rename(folder)
            shutil.rmtree(retired, ignore_errors=True)
        else:
            partial.rename(folder)
        _flush(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def internal_path(folder: Path) -> Path:
    """Where facts that must not be published are kept."""
    return folder.with_name(folder.name + ".internal.json")


def write_internal(folder: Path, facts: Mapping[str, Any]) -> None:
    """Facts for the steward alone, readable by the owner only."""
    handle, name = tempfile.mkstemp(prefix=f".{folder.name}{PARTIAL}-", dir=folder.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(dict(facts), file, indent=2)
        file.write("\n")
    Path(name).replace(internal_path(folder))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""The files of a source: one definition for reading, the ledger, `init` and the format.

A file is itself. A folder is the files of one format in it and below. A pattern is what it matches; one that ends in *
matches files of one format only. In folders and patterns, names that begin with . or _ are no data, nor are releases:
a folder with a certificate. The files of a Delta, Iceberg or Hudi table are refused. A link that leads out of the
folder is refused: those who may write there would choose which other files are read.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

from crowdblend.errors import InvalidInput
from crowdblend.policies.table_formats import refuse_tables
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.machine.regular_files import open_regular

ENDINGS: dict[str, tuple[str, ...]] = {"csv": (".csv", ".tsv", ".txt"), "parquet": (".parquet", ".pq")}
DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods")
# Text files may be compressed; Parquet files are so inside.
COMPRESSIONS = (".gz", ".zst")
_LONGEST_LINE = 10_000_000
Records = list[list[str]]


def ending_of(name: str) -> str:
    """Return the ending of a file's name in lower case, without that of its compression."""
    lowered = name.lower()
    if lowered.endswith(COMPRESSIONS) and Path(Path(lowered).stem).suffix in ENDINGS["csv"]:
        lowered = lowered.rpartition(".")[0]
    return Path(lowered).suffix


def format_of(name: str) -> str | None:
    """Return the format that a file's name stands for, or None."""
    ending = ending_of(name)
    known = (kind for kind, endings in ENDINGS.items() if ending in endings)
    return next(known, DATABASES.get(ending))


def source_files(source: str, kind: str) -> list[Path]:
    """Return the files of a source in order of name, none of them opened; refuse a folder or pattern without any.

    >>> source_files("people.csv", "csv")
    [PosixPath('people.csv')]
    """
    path, endings = Path(source), " or ".join(ENDINGS[kind])
    if path.is_dir():
        if (path / CERTIFICATE).is_file():
            message = f"The folder {path.name!r} is a release: it holds a certificate."
            raise _refusal("release-folder", message, "Name the folder of the data.")
        files = [file for file in folder_files(path) if format_of(file.name) == kind]
        if not files:
            message = f"The folder {path.name!r} holds no files ending in {endings}."
            raise _refusal("no-files", message, "Check `data.source` and `data.format`.")
    elif is_pattern(source):
        files = [file for file in pattern_files(source) if not source.endswith("*") or format_of(file.name) == kind]
        if not files:
            ending = f" that ends in {endings}" if source.endswith("*") else ""
            raise _refusal("no-files", f"Source {path.name!r} matches no file{ending}.", "Check `data.source`.")
    else:
        files = [path]
    if kind == "parquet":
        refuse_tables(files)
    if len({file.resolve() for file in files}) < len(files):
        raise _refusal("repeated-file", f"Source {path.name!r} holds a file twice, by a link.", "Remove the link.")
    return files


def _refusal(code: str, message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where="`data.source`", code=f"data.{code}")


def open_unpacked(file: Path) -> IO[bytes]:
    """Return the file's text, uncompressed; its checksum is compared at the end."""
    opened, ending = open_regular(file), file.suffix.lower()
    if ending not in COMPRESSIONS:
        return opened
    opened.close()
    return cast(IO[bytes], gzip.GzipFile(file) if ending == ".gz" else pa.CompressedInputStream(str(file), "zstd"))


def first_records(file: Path, delimiter: str | None, encoding: str | None, most: int = 1) -> tuple[str, Records]:
    """Return the delimiter of a CSV file and its first records, the names of its columns first.

    Without a delimiter it is the one that the first line has most of; without an encoding the file is UTF-8.
    """
    with open_unpacked(file) as stream, io.TextIOWrapper(stream, encoding or "utf-8-sig", newline="") as text:
        first = text.readline(_LONGEST_LINE).removeprefix("\ufeff")
        mark = delimiter or max(",;\t|", key=first.count)
        return mark, list(islice(csv.reader(chain([first], text), delimiter=mark), most))


def is_pattern(source: str) -> bool:
    """Return whether a source is a pattern; a file may have * or [ in its name."""
    return glob.has_magic(source) and not os.path.lexists(source)


def folder_files(folder: Path) -> list[Path]:
    """Return the files of a folder and the folders below that may be data, whatever their format, in order of name."""
    return _data(((file, folder) for file in _below(folder)), any_ending=False)


def _below(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and the folders below; one that cannot be looked into would leave its people out."""

    def refuse(error: OSError) -> None:
        message = f"The folder {Path(error.filename).name!r} cannot be read ({error.strerror})."
        raise _refusal("unreadable", message, "Check its permissions, or name the files by a pattern.")

    for path, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(path) / name for name in (*folders, *names))


def pattern_files(pattern: str) -> list[Path]:
    """Return the files that a pattern matches and that may be data, in order of name."""
    fixed = Path()
    for part in Path(pattern).parts:
        if glob.has_magic(part):
            break
        fixed /= part
    found = ((Path(name), fixed) for name in glob.glob(pattern, recursive=True))
    return _data(found, any_ending=not pattern.endswith("*"))


def _data(files: Iterable[tuple[Path, Path]], *, any_ending: bool) -> list[Path]:
    """Return the files that may be data; each comes with the folder that names are relative to.

    Links in place of data are refused where they lead elsewhere; `any_ending` says that every name is one of data.
    """
    releases: dict[Path, bool] = {}

    def is_data(file: Path, root: Path) -> bool:
        inside = file.relative_to(root)
        if any(part.startswith((".", "_")) for part in inside.parts):
            return False
        for folder in (root / parent for parent in inside.parents if parent != Path()):
            if releases.setdefault(folder, (folder / CERTIFICATE).is_file()):
                return False
        if any_ending or file.is_dir() or format_of(file.name) is not None:
            _check_link(file, root)
        return file.is_file()

    found = sorted(file for file, root in files if is_data(file, root))
    refuse_tables(file for file in found if format_of(file.name) == "parquet")
    return found


def _check_link(file: Path, root: Path) -> None:
    """Refuse a file or folder that is somewhere else, or nowhere."""
    inside, above, found = file.relative_to(root), os.path.realpath(root), os.path.realpath(file)
    if found == os.path.join(above, inside):
        return
    name = inside.as_posix()
    if not os.path.exists(found):
        raise _refusal("link", f"{name!r} in the data is a link to nothing.", "Restore the file, or remove the link.")
    if os.path.commonpath([above, found]) != above:
        message = f"{name!r} is a link that leads out of the folder of the data."
        raise _refusal("link", message, "Copy what it leads to into the folder, or remove the link.")

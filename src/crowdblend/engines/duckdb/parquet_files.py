"""Parquet files as a relation: the same columns with the same types in every file, and nothing from folders' names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.duckdb.database import redacted
from crowdblend.engines.duckdb.relation import Relation, check_names, check_repeats, listed, shown
from crowdblend.engines.refusals import at_column, refusal
from crowdblend.lazy import lazy
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from pyarrow import parquet
    from pyarrow.parquet import FileMetaData
else:
    parquet = lazy("pyarrow.parquet")


def open_parquet(data: DataSource, files: Sequence[Path], wanted: Sequence[str]) -> Relation:
    """Parquet files; only their footers are read. Its columns are still to be described."""
    sizes, first = [], None
    for file in files:
        with redacted(f"{shown(data)} is no whole Parquet file.", "Write or copy it again.", file.name):
            footer = parquet.read_metadata(file)
            names = footer.schema.to_arrow_schema().names
        sizes.append(footer.num_rows)
        _check_folders(data, file, names, wanted)
        check_repeats(data, names, wanted)
        check_names(data, names, wanted)
        types = _types(footer)
        first = first or (file, types)
        for name in types.keys() & first[1].keys():
            if types[name] != first[1][name]:
                raise refusal(
                    "different-types",
                    f"Column {name!r} has different types in {first[0].name!r} and {file.name!r}.",
                    "Write both with the same type.",
                    at_column(name),
                )
    return Relation(
        f"read_parquet({listed(files)}, hive_partitioning = false)", (), rows=sum(sizes), sizes=tuple(sizes)
    )


def _types(footer: FileMetaData) -> dict[str, tuple[Any, ...]]:
    """How every column, or column inside a column, is stored; otherwise it would be cast to the type it has first."""
    columns = (footer.schema.column(place) for place in range(len(footer.schema)))
    return {column.path: (column.physical_type, str(column.logical_type), column.converted_type) for column in columns}


def _check_folders(data: DataSource, file: Path, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a column that only a folder such as sex=Female has: what it says is not in the file."""
    for name in wanted:
        if name not in names and any(part.startswith(f"{name}=") for part in file.parent.parts):
            raise refusal(
                "folder-column",
                f"Column {name!r} of {shown(data)} is only in the names of folders, which are not read.",
                "Write it into the files.",
                at_column(name),
            )

"""Frames of Spark as a source: their columns, with the types that the values have where they are recoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdblend.engines.duckdb.database import database, private_folder
from crowdblend.engines.duckdb.relation import VIEW, Field, check_names, column_type, shown
from crowdblend.engines.frames import is_readable
from crowdblend.engines.refusals import at_column, refusal
from crowdblend.engines.spark.opening import ONE_THREAD
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.engines.spark.session import quiet, redacted
from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas import types
else:
    pa = lazy("pyarrow")
    types = lazy("pyspark.sql.pandas.types")


def open_frame(
    data: DataSource, frame: DataFrame, wanted: Sequence[str], stored: Mapping[str, str] | None = None
) -> SparkRelation:
    """A frame as a relation, with the columns that can be read.

    `stored` are the types of the columns in their files, by the names that DuckDB has for them: a column that Spark
    reads as something else cannot be read, because it would be recoded in another way.
    """
    if frame.isStreaming:
        raise refusal("streaming", "The Spark DataFrame is a stream.", "Pass one that ends.", "data")
    with redacted():
        arrow = _arrow_types(frame)
    check_names(data, [name for name, _ in arrow], wanted)
    kinds = _duckdb_types([kind for _, kind in arrow])
    fields: list[Field] = []
    unreadable: dict[str, str] = {}
    for (name, _), kind in zip(arrow, kinds, strict=True):
        if kind is None:
            unreadable[name] = f"{shown(data)} has values in column {name!r} that no policy can recode."
        elif stored is not None and name in stored and _plain(kind) != _plain(stored[name]):
            unreadable[name] = f"Spark reads column {name!r} of {shown(data)} as another type than its files have."
        else:
            fields.append(Field(name, f"c{len(fields)}", column_type(kind)))
    for name in unreadable if data.person is None else [name for name in wanted if name in unreadable]:
        raise _column_type(unreadable[name], name)
    return SparkRelation(frame.sparkSession, data, tuple(fields), frame)


def _column_type(message: str, name: str) -> InvalidInput:
    return refusal("column-type", message, "Convert it to text, numbers or dates.", at_column(name))


def _arrow_types(frame: DataFrame) -> list[tuple[str, Any]]:
    """The names of the columns, and their types in Arrow; None where Arrow has none."""
    with quiet():
        found: list[tuple[str, Any]] = []
        for field in frame.schema.fields:
            try:
                found.append((field.name, types.to_arrow_type(field.dataType, timezone="UTC")))
            except Exception:  # PySpark has several for types that it does not know
                found.append((field.name, None))
        return found


def _duckdb_types(kinds: Sequence[Any]) -> list[str | None]:
    """What DuckDB calls the types; None for those that it does not read as what they are."""
    known = [pa.string() if kind is not None and pa.types.is_null(kind) else kind for kind in kinds]
    readable = [at for at, kind in enumerate(known) if kind is not None and is_readable(kind)]
    if not readable:
        return [None] * len(kinds)
    table = pa.schema([(f"c{at}", known[at]) for at in readable]).empty_table()
    with private_folder() as folder, database(ONE_THREAD, folder) as connection:
        connection.register(VIEW, table)
        found = [str(kind) for kind in connection.sql(f"SELECT * FROM {VIEW}").types]
    named = dict(zip(readable, found, strict=True))
    return [named.get(at) for at in range(len(kinds))]


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def _plain(kind: str) -> str:
    """One word for types whose values are read alike."""
    if kind in _WHOLE:
        return "whole"
    # Spark has no unsigned numbers of 64 bits, and takes JSON for the text that it is.
    return {"UBIGINT": "DECIMAL(20,0)", "JSON": "VARCHAR"}.get(kind, kind)

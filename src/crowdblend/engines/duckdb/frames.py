"""Rows that Python holds, read by DuckDB where they lie: an Arrow table is scanned, not copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.database import redacted
from crowdblend.engines.duckdb.relation import VIEW, Field, Relation, check_names, column_type
from crowdblend.engines.frames import Frame
from crowdblend.policies.source import DataSource, require_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Parquet files have no such types: their dates and times are to the microsecond, or finer.
_COARSE = ("TIMESTAMP_S", "TIMESTAMP_MS")


def check_frame(data: DataSource, wanted: Sequence[str]) -> Frame:
    """The frame of a source; refused if it lacks a column or has one that cannot be read."""
    require_rows(data)
    frame: Frame = data.frame
    for name in wanted:
        frame.check(name)
    if data.person is None:
        frame.check_every()
    check_names(data, list(frame.columns), wanted)
    return frame


def open_frame(connection: DuckDBPyConnection, data: DataSource, wanted: Sequence[str]) -> Relation:
    """A frame as a relation, with the columns that can be read."""
    frame = check_frame(data, wanted)
    names = list(frame.columns)
    with redacted(f"{frame.name} cannot be read.", "Write it to a Parquet file, and name that.", "data"):
        connection.register(VIEW, frame.table)
        kinds = [str(kind) for kind in connection.sql(f"SELECT * FROM {VIEW} LIMIT 0").types]
    cast = [
        f"CAST(c{place} AS TIMESTAMP) AS c{place}" if kind in _COARSE else f"c{place}"
        for place, kind in enumerate(kinds)
    ]
    plain = not any(kind in _COARSE for kind in kinds)
    sql = VIEW if plain else f"(SELECT {', '.join(cast)} FROM {VIEW})"
    fields = tuple(
        Field(name, f"c{place}", column_type("TIMESTAMP" if kind in _COARSE else kind))
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    return Relation(sql, fields, rows=frame.rows, table=frame.table)

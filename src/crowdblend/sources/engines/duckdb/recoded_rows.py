"""The rows of a frame with their labels, in the order of the rows: what a steward compares a release with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crowdblend.methods.recoding.classes import ClosedRecoding
from crowdblend.policies.columns import Column
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.coding import Coding
from crowdblend.sources.engines.duckdb.database import redact, small_database
from crowdblend.sources.engines.duckdb.relation import open_frame
from crowdblend.sources.engines.frames import Frame
from crowdblend.trusted.machine.packages import pyarrow as pa

# A name that no column of a policy can have.
_PLACE = "\0place"


def recoded_rows(frame: Frame, columns: Sequence[Column]) -> pa.Table:
    """Return the labels of every row as texts; refuses a value without a class as a release does."""
    place = pa.chunked_array([pa.array(np.arange(frame.rows))])
    numbered = replace(frame, columns={**frame.columns, _PLACE: place})
    # Rows are looked at, and nobody in them is told apart.
    data = DataSource(source=frame.name, format="frame", frame=numbered, person=_PLACE)
    with small_database() as connection, redact(f"{frame.name} cannot be read.", "Write it to a file.", "data"):
        relation = open_frame(connection, data, [column.name for column in columns])
        fields = [relation.field(column.name) for column in columns]
        coding = Coding(connection, columns, [field.type for field in fields])
        read = [field.read_as(column.recoding.reads) for field, column in zip(fields, columns, strict=True)]
        selected = f"{coding.select_sql(read)}, {relation.field(_PLACE).identifier} AS place"
        raw = connection.sql(f"SELECT {selected} FROM {relation.sql}").to_arrow_table()
        codes, (places,) = coding.encode(raw, ["place"])
    order = np.empty(frame.rows, np.int64)
    order[places] = np.arange(frame.rows)
    labelled = {}
    for position, column in enumerate(columns):
        recoding = column.recoding
        labels = recoding.labels if isinstance(recoding, ClosedRecoding) else coding.packing.labels(position)
        known = pa.array(labels, pa.string())
        labelled[column.name] = known.take(pa.array(coding.packing.digits(codes, position)[order]))
    return pa.table(labelled)

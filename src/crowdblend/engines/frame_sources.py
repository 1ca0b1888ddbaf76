"""What Python users hold, as a frame: pandas, Polars, Arrow, DuckDB relations, or anything that exports Arrow streams.

What can be read once only goes into a private file first, since a release reads its rows more than once: to know the
sample again, to draw, and to look for people with several rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.duckdb.database import private_folder, redacted
from crowdblend.engines.frames import Frame, frame_of
from crowdblend.engines.refusals import refusal
from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy("pyarrow")

ACCEPTED = "a pandas, Polars or Spark DataFrame, an Arrow table or reader, a DuckDB relation, or a path"


@contextmanager
def opened_frame(data: Any) -> Iterator[Frame]:
    """The frame, as long as the context lasts; refuses what is none."""
    if _is_of("pandas", "DataFrame", data):
        yield frame_of("The pandas DataFrame", _pandas_columns(data), len(data))
    elif _is_of("polars", "DataFrame", data):
        yield _arrow_frame("The Polars DataFrame", pa.table(data))
    elif isinstance(data, pa.Table):
        yield _arrow_frame("The Arrow table", data)
    elif isinstance(data, pa.RecordBatch):
        yield _arrow_frame("The Arrow record batch", pa.Table.from_batches([data]))
    else:
        name, reader = _reader(data)
        with private_folder() as folder:
            with redacted(f"{name} cannot be read to its end.", "Write it to a file, and name that.", "data"):
                table = _spooled(reader, folder / "rows.arrow")
            yield _arrow_frame(name, table)


def _reader(data: Any) -> tuple[str, Any]:
    """What can be read once, as batches, and what messages call it."""
    if isinstance(data, pa.RecordBatchReader):
        return "The Arrow reader", data
    if _is_of("duckdb", "DuckDBPyRelation", data):
        make = data.to_arrow_reader if hasattr(data, "to_arrow_reader") else data.fetch_record_batch
        return "The DuckDB relation", make(1 << 17)
    if _is_of("polars", "LazyFrame", data):
        raise _wrong("A Polars LazyFrame holds no rows yet.", "Call collect() first.")
    if _is_of("pandas", "Series", data) or _is_of("polars", "Series", data):
        raise _wrong("The data are a single column, a Series.", "Pass a DataFrame with the person and every column.")
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return f"The {type(data).__name__}", pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowException, TypeError, ValueError):
            pass
    raise _wrong(f"crowdblend reads no data of the type {type(data).__name__}.", f"Pass {ACCEPTED}.")


def _wrong(message: str, remedy: str) -> InvalidInput:
    return refusal("type", message, remedy, "data")


def _is_of(module: str, name: str, data: Any) -> bool:
    """Whether the data are of a class of a library, which is not loaded for it."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(data, kind)


def _spooled(reader: Any, path: Path) -> Any:
    """The rows of a reader as an Arrow table that lies in a file, not in memory."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()


def _arrow_frame(name: str, table: Any) -> Frame:
    columns = ((field.name, table.column(place)) for place, field in enumerate(table.schema))
    return frame_of(name, columns, table.num_rows)


def _pandas_columns(frame: Any) -> Iterator[tuple[str, Any]]:
    """The columns, then those levels of the index that have a name, as Parquet would have them."""
    if frame.columns.nlevels > 1:
        raise refusal(
            "column-names",
            "The pandas DataFrame has several levels of column names.",
            "Give every column one name, for example by joining the levels.",
            "data",
        )
    for place, name in enumerate(frame.columns):
        yield str(name), _pandas_column(frame.iloc[:, place])
    for level, name in enumerate(frame.index.names):
        if name is not None:
            yield str(name), _pandas_column(frame.index.get_level_values(level).to_series())


def _pandas_column(series: Any) -> Any:
    """A column in Arrow, NaN as missing; or what it is, where Arrow cannot hold it."""
    if isinstance(getattr(series.dtype, "subtype", None), object) and hasattr(series.array, "sp_values"):
        series = series.sparse.to_dense()
    try:
        converted = pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        mixed = series.dtype == object
        return "values of several types" if mixed else f"values of the type {series.dtype}, which Arrow has not"
    if series.dtype == object and pa.types.is_binary(converted.type) and any(isinstance(one, str) for one in series):
        return "values of several types"
    return converted

"""Rows that Python holds: Arrow columns by name.

Every frame becomes Arrow columns without a copy where the library allows one. A column whose values have no meaning of
their own, such as an interval or a duration, is kept out: it is refused when a policy names it, and ignored otherwise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.errors import InvalidInput
from crowdblend.sources.engines.duckdb.database import redact
from crowdblend.sources.engines.refusals import at_column, refusal
from crowdblend.sources.engines.temporary_files import private_folder
from crowdblend.trusted.machine.packages import pyarrow as pa

if TYPE_CHECKING:
    import pandas

_EXTENSIONS = ("arrow.uuid", "arrow.json", "arrow.bool8")


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a frame that can be read, the types of the others, and how many rows there are."""

    name: str
    """What the frame is called in messages."""
    columns: Mapping[str, pa.ChunkedArray] = field(repr=False)
    unreadable: Mapping[str, str] = field(repr=False)
    rows: int = field(repr=False)

    @cached_property
    def table(self) -> pa.Table:
        """The columns as an Arrow table, named c0, c1 and so on, in their order."""
        return pa.table(list(self.columns.values()), names=[f"c{place}" for place in range(len(self.columns))])

    def check(self, column: str) -> None:
        """Refuse to read a column that cannot be read."""
        if column in self.unreadable:
            kind = self.unreadable[column]
            message = f"{self.name} has {kind} in column {column!r}."
            raise refusal("column-type", message, _conversion(column, kind), at_column(column))


# What makes the values of a type readable, in pandas.
_CONVERSIONS = {
    "interval": "astype(str)",
    "period": "dt.to_timestamp()",
    "timedelta": "dt.total_seconds()",
    "members of an enum": 'map(lambda one: getattr(one, "value", one))',
}


def _conversion(column: str, kind: str) -> str:
    """Return the line that makes a column readable, where there is one for its type."""
    found = next((call for name, call in _CONVERSIONS.items() if f"{name}" in kind), None)
    if found is None:
        return "Convert it to text, numbers or dates."
    return f"Convert it first: frame[{column!r}] = frame[{column!r}].{found}."


def frame_of(name: str, columns: Iterator[tuple[str, pa.ChunkedArray | str]], rows: int) -> Frame:
    """Return a frame of Arrow columns, where a text stands for a column that Arrow cannot hold and says what it is."""
    readable: dict[str, pa.ChunkedArray] = {}
    unreadable: dict[str, str] = {}
    for column, values in columns:
        if column in readable or column in unreadable:
            raise refusal(
                "repeated-column", f"{name} has two columns called {column!r}.", "Rename one.", at_column(column)
            )
        if isinstance(values, str):
            unreadable[column] = values
            continue
        try:
            converted = _convert_column(values)
        except pa.ArrowException:
            converted = None
        if converted is None:
            unreadable[column] = f"values of the type {values.type}, which no policy can recode"
        else:
            readable[column] = converted
    return Frame(name, readable, unreadable, rows)


def _convert_column(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return the column in a type that the database reads, or None."""
    kind = values.type
    if pa.types.is_float16(kind):
        return values.cast(pa.float32())
    if pa.types.is_null(kind):
        return values.cast(pa.string())
    if pa.types.is_decimal256(kind):
        return values.cast(pa.decimal128(38, kind.scale)) if 0 <= kind.scale <= 38 else None
    if pa.types.is_dictionary(kind) and _is_converted(kind.value_type):
        return _convert_column(values.cast(kind.value_type))
    return values if is_readable(kind) else None


def _is_converted(kind: pa.DataType) -> bool:
    """Return whether values of this type are converted before the database reads them."""
    return bool(pa.types.is_null(kind) or pa.types.is_float16(kind) or pa.types.is_decimal256(kind))


def is_readable(kind: pa.DataType) -> bool:
    """Return whether the database reads values of this type as what they are."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return kind.extension_name in _EXTENSIONS
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return is_readable(kind.value_type) and not types.is_nested(kind.value_type)
    if types.is_nested(kind):
        inside = [kind.field(place).type for place in range(kind.num_fields)]
        return not types.is_union(kind) and all(map(is_readable, inside))
    if types.is_duration(kind) or types.is_interval(kind) or _is_converted(kind):
        return False
    return bool(types.is_primitive(kind) or types.is_decimal(kind) or _is_text(kind))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    bytes_ = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(is_one(kind) for is_one in (*texts, *bytes_))


ACCEPTED = "a pandas, Polars or Spark DataFrame, an Arrow table or reader, a DuckDB relation, or a path"


@contextmanager
def opened_frame(data: Any) -> Iterator[Frame]:
    """The frame, as long as the context lasts; refuses what is none."""
    if _is_of("pandas", "DataFrame", data):
        yield frame_of("The pandas DataFrame", _pandas_columns(data), len(data))
    elif _is_of("polars", "DataFrame", data):
        yield frame_of("The Polars DataFrame", _polars_columns(data), len(data))
    elif isinstance(data, pa.Table):
        yield _arrow_frame("The Arrow table", data)
    elif isinstance(data, pa.RecordBatch):
        yield _arrow_frame("The Arrow record batch", pa.Table.from_batches([data]))
    else:
        name, reader = _reader(data)
        with private_folder() as folder:
            with redact(f"{name} cannot be read to its end.", "Write it to a file, and name that.", "data"):
                table = _spool(reader, folder / "rows.arrow")
            yield _arrow_frame(name, table)


def _reader(data: Any) -> tuple[str, pa.RecordBatchReader]:
    """Return a reader of batches that can be read once, and its name in messages."""
    if isinstance(data, pa.RecordBatchReader):
        return "The Arrow reader", data
    if _is_of("duckdb", "DuckDBPyRelation", data):
        make = data.to_arrow_reader if hasattr(data, "to_arrow_reader") else data.fetch_record_batch
        return "The DuckDB relation", make(1 << 17)
    if _is_of("pyarrow.dataset", "Dataset", data):
        return "The Arrow dataset", data.scanner().to_reader()
    if _is_of("polars", "LazyFrame", data):
        raise _wrong("A Polars LazyFrame holds no rows yet.", "Call collect() first.")
    if isinstance(data, list | tuple) and data and all(isinstance(one, str | os.PathLike) for one in data):
        message = "The data are a list of paths."
        raise _wrong(
            message, 'Pass their folder, a pattern such as "data/*.parquet", or pyarrow.dataset.dataset(paths).'
        )
    if _is_of("pyarrow.dataset", "Scanner", data):
        raise _wrong("The data are an Arrow scanner.", "Pass data.to_reader().")
    if isinstance(data, list | tuple) and data and all(_is_of("pyarrow", "RecordBatch", one) for one in data):
        raise _wrong("The data are a list of record batches.", "Pass pyarrow.Table.from_batches(data).")
    if _is_of("numpy", "ndarray", data):
        message = "The data are a NumPy array, whose columns have no names."
        raise _wrong(message, "Pass pandas.DataFrame(data, columns=[...]).")
    if isinstance(data, list | dict):
        message = f"The data are a {type(data).__name__} of Python values."
        raise _wrong(message, "Pass pandas.DataFrame(data), or an Arrow table of them.")
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


def _is_of(module: str, name: str, data: object) -> bool:
    """Return whether the data are of a class of a library, which is not loaded for it."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(data, kind)


def _spool(reader: pa.RecordBatchReader, path: Path) -> pa.Table:
    """Return the rows of a reader as an Arrow table that lies in a file, not in memory."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()


def _polars_columns(data: Any) -> Iterator[tuple[str, pa.ChunkedArray | str]]:
    """Yield the columns of a Polars DataFrame, or what they hold where Arrow has no such values.

    Of Python objects it would hand over where they lie in memory.
    """
    for one in data.get_columns():
        values: pa.ChunkedArray | str = f"values of the type {one.dtype}, which no policy can recode"
        if str(one.dtype) != "Object":
            with suppress(pa.ArrowException):
                values = pa.table(one.to_frame()).column(0)
        yield one.name, values


def _arrow_frame(name: str, table: pa.Table) -> Frame:
    columns = ((field.name, table.column(place)) for place, field in enumerate(table.schema))
    return frame_of(name, columns, table.num_rows)


def _pandas_columns(frame: pandas.DataFrame) -> Iterator[tuple[str, pa.ChunkedArray | str]]:
    """Yield the columns, then those levels of the index that have a name, as Parquet would have them."""
    if frame.columns.nlevels > 1:
        message = "Give every column one name, for example by joining the levels."
        raise refusal("column-names", "The pandas DataFrame has several levels of column names.", message, "data")
    for place, name in enumerate(frame.columns):
        yield str(name), _pandas_column(frame.iloc[:, place])
    for level, name in enumerate(frame.index.names):
        if name is not None:
            yield str(name), _pandas_column(frame.index.get_level_values(level).to_series())


def _pandas_column(series: pandas.Series) -> pa.ChunkedArray | str:
    """Return a column in Arrow, NaN as missing; or what it is, where Arrow cannot hold it."""
    if isinstance(getattr(series.dtype, "subtype", None), object) and hasattr(series.array, "sp_values"):
        series = series.sparse.to_dense()
    try:
        converted = pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        mixed = series.dtype == object
        if mixed and any(isinstance(one, Enum) for one in series):
            return "members of an enum"
        return "values of several types" if mixed else f"values of the type {series.dtype}, which Arrow has not"
    if series.dtype == object and pa.types.is_binary(converted.type) and any(isinstance(one, str) for one in series):
        return "values of several types"
    return converted

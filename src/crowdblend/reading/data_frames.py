"""Tables as Python users hold them: pandas, Polars or Arrow, in which labels have the type of what they stand for.

    whole numbers, each a class of its own      integers
    days                                        dates
    true and false                              truth values
    everything else that is listed              categories in the declared order, ordered where the labels are

The files hold texts. Blanks among whole numbers and truth values leave their type as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.domain import Domain
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import compute as pc
from crowdblend.trusted.machine.packages import pyarrow as pa

with lazy_imports():
    import pandas
    import polars

Frames = Literal["arrow", "pandas", "polars"]
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class TableForm:
    """The package whose frames are handed back, and the columns whose data were whole numbers.

    Listed numbers come back as numbers where the data are known to hold them; elsewhere they may be names.
    """

    frames: Frames = "arrow"
    whole_numbers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.frames not in ("arrow", "pandas", "polars"):
            message = f"frames takes arrow, pandas or polars, got {str(self.frames)[:60]!r}."
            raise InvalidInput(message, remedy='Write frames="pandas".', where="frames", code="reading.frames")

    def frame(self, table: pa.Table, domains: Mapping[str, Domain], *, intervals: bool = False) -> Any:
        """Return the frame of a table in which the labels of these columns are texts.

        `intervals` puts the ends of classes of numbers beside them, in pandas as one column of intervals.
        """
        if intervals:
            table = _with_ends(table, domains)
        for place, name in enumerate(table.column_names):
            column = table.column(place)
            if name in domains and pa.types.is_string(column.type):
                typed = _own_type(column, domains[name], whole=name in self.whole_numbers)
                table = table.set_column(place, name, typed)
        if self.frames == "pandas":
            return _pandas_intervals(_pandas(table), domains) if intervals else _pandas(table)
        return _polars(table) if self.frames == "polars" else table


def frames_of(data: object) -> Frames:
    """Return the package in which tables are handed back to those who brought these data; Arrow but for frames."""
    package = type(data).__module__.partition(".")[0]
    return package if package in ("pandas", "polars") else "arrow"  # type: ignore[return-value]


def label_type(domain: Domain, *, whole: bool = False) -> pa.DataType | None:
    """Return the type of the values that the labels are, one each; None where a class has several, or a name.

    `whole` says that the data hold whole numbers.
    """
    if domain.other is not None or domain.missing is not None or domain.join is not None:
        return None
    if domain.recoding == "dates":
        return pa.date32() if domain.period == "day" else None
    if domain.recoding == "values" and domain.labels is not None:
        if set(domain.labels) <= {"true", "false"}:
            return pa.bool_()
        return pa.int64() if whole and all(map(_WHOLE.fullmatch, domain.labels)) else None
    if domain.recoding == "intervals" and domain.whole and domain.width == 1:
        return None if domain.bottom or domain.top or domain.include_to else pa.int64()
    return None


def as_text(table: pa.Table) -> pa.Table:
    """Return an Arrow table with categories and days as the texts that they are."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) or pa.types.is_date(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
    return table


# The names of the columns of ends, after that of the column of labels.
_ENDS, _INTERVAL = ("_from", "_to"), "_interval"


def _with_ends(table: pa.Table, domains: Mapping[str, Domain]) -> pa.Table:
    """Return the table with two more columns after every column of intervals; blank where a class has no end."""
    for name in table.column_names:
        ends = domains[name].class_ends if name in domains else None
        if ends is None:
            continue
        _check_free([f"{name}{suffix}" for suffix in (*_ENDS, _INTERVAL)], table)
        codes = pc.index_in(table.column(name).combine_chunks(), value_set=pa.array(domains[name].labels, pa.string()))
        place = table.column_names.index(name) + 1
        for shift, (suffix, values) in enumerate(zip(_ENDS, zip(*ends, strict=True), strict=True)):
            numbers = pa.array(values, None if any(value is not None for value in values) else pa.int64())
            table = table.add_column(place + shift, f"{name}{suffix}", numbers.take(codes))
    return table


def _check_free(names: Sequence[str], table: pa.Table) -> None:
    """Refuse ends of classes under the name of a column of the data."""
    if taken := set(names) & {*table.column_names}:
        message = f"Ends of classes would stand in a column {min(taken)[:60]!r}, which is one of the data."
        remedy = "Leave out intervals, or publish that column under another name."
        raise InvalidInput(message, remedy=remedy, where="intervals", code="reading.intervals")


def _pandas_intervals(frame: pandas.DataFrame, domains: Mapping[str, Domain]) -> pandas.DataFrame:
    """Return the frame with the two columns of ends as one of intervals, which hold their lower ends.

    An end that belongs to the last class is moved to the next number, so that the interval holds it.
    """
    for name in list(frame.columns):
        if name not in domains or domains[name].class_ends is None:
            continue
        names = [f"{name}{suffix}" for suffix in _ENDS]
        place = frame.columns.get_loc(names[0])
        low, high = (frame.pop(one).astype("float64") for one in names)
        classless = low.isna() & high.isna()
        if domains[name].include_to:
            last = domains[name].bounds[1]
            high = high.mask(high == last, math.nextafter(last, math.inf))
        low, high = low.fillna(-math.inf).mask(classless), high.fillna(math.inf).mask(classless)
        frame.insert(place, f"{name}{_INTERVAL}", pandas.arrays.IntervalArray.from_arrays(low, high, closed="left"))
    return frame


def _own_type(column: pa.ChunkedArray, domain: Domain, *, whole: bool) -> pa.ChunkedArray | pa.Array:
    kind = label_type(domain, whole=whole)
    if kind is not None:
        return column.cast(kind)
    if domain.labels is None:
        return column
    known = pa.array(domain.labels, pa.string())
    codes = pc.index_in(column.combine_chunks(), value_set=known)
    return pa.DictionaryArray.from_arrays(codes, known, ordered=domain.is_ordered)


def _pandas(table: pa.Table) -> pandas.DataFrame:
    frame: pandas.DataFrame = table.to_pandas()
    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count and column.type in nullable:
            frame[name] = column.to_pandas(types_mapper=nullable.get)
        elif pa.types.is_date(column.type):
            frame[name] = column.cast(pa.timestamp("us")).to_pandas()
    return frame


def _polars(table: pa.Table) -> polars.DataFrame:
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame), "a table is no series"
    categories = {
        name: polars.Enum(column.chunk(0).dictionary.to_pylist())
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_dictionary(column.type) and column.num_chunks
    }
    return frame.cast(categories)

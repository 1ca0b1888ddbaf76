"""The columns of a published file: what each is called, what it holds and what that means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from crowdblend.kinds.shared.facts import ReleaseFacts
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.data_file import DataFile
from crowdblend.trusted.machine.packages import compute as pc

# Columns that a release has beside those of the policy: their type and their meaning, of what is counted.
_OWN = {
    "count": ("integer", "The published number of {many} in the table that was read, in which all of them are."),
    "sampled": ("integer", "The published number of {many} in the sample; estimate is about the population."),
    "exact": ("boolean", "Whether the number is exact; where it is not, it carries noise."),
    "estimate": ("number", "The estimated number of {many} in the population; blank where cells are missing."),
    "low": ("integer", "The lower end of the 95 % interval for the number of {many} in the population."),
    "high": ("integer", "The upper end of the 95 % interval for the number of {many} in the population."),
    "total": ("string", "What was counted in all: the {many} that were kept, or the people who have them."),
    "statistic": ("string", "The name of the statistic."),
    "value": ("number", "The published value."),
    "error": ("number", "The largest distance of the value from the true one, with the stated confidence."),
    "rank_error": (
        "number",
        "For quantiles, instead of error: the value is a quantile of the {many} concerned at a share that differs by "
        "at most this from the one stated, with the stated confidence.",
    ),
    "confidence": ("number", "The probability with which the value stays within its error."),
    "class": ("string", "The class of {many} that the number is about; blank for a single number."),
    "block": ("integer", "The number of the block that the point lies in."),
}
# The types of columns, as data packages call them and as Arrow does.
_ARROW = {"integer": pa.int64(), "number": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}


@dataclass(frozen=True)
class Column:
    """A column of a published file; `type` is one of data packages, `domain` the declaration of a column of labels."""

    name: str
    type: str
    meaning: str
    domain: Domain | None = None
    has_blanks: bool = False


def columns_of(file: DataFile, facts: ReleaseFacts) -> list[Column]:
    """Return the columns of a file of the publication with these facts, in their order."""
    return [_column(name, facts) for name in file.header]


def types_of(columns: list[Column]) -> dict[str, pa.DataType]:
    """Return the types of columns for Arrow, of those that have one."""
    return {column.name: _ARROW[column.type] for column in columns if column.type in _ARROW}


def typed_batches(file: DataFile, columns: list[Column]) -> pa.RecordBatchReader:
    """Return the rows of a file, some at a time, in these columns; a blank text of a column with blanks is no value."""
    kinds = {column.name: _ARROW.get(column.type, pa.string()) for column in columns}
    schema = pa.schema(list(kinds.items()))
    blank = [column.domain is None or column.has_blanks for column in columns]

    def typed() -> Iterator[pa.RecordBatch]:
        for batch in file.batches(kinds):
            each = [one.cast(field.type) for one, field in zip(batch.columns, schema, strict=True)]
            cleared = [_no_blanks(one) if may else one for one, may in zip(each, blank, strict=True)]
            yield pa.record_batch(cleared, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, typed())


def _no_blanks(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(column, ""), None, column) if pa.types.is_string(column.type) else column


def _column(name: str, facts: ReleaseFacts) -> Column:
    if name in facts.domains:
        return Column(name, "string", facts.labels_are, facts.domains[name], name in facts.columns_with_blanks)
    kind, meaning = facts.meanings.get(name) or _OWN.get(name, ("any", ""))
    return Column(name, kind, meaning.replace("{many}", facts.counted.many))

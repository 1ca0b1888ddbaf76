"""All rows of a table of links or of people, as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.database import redacted
from crowdblend.engines.duckdb.relation import Field, Relation
from crowdblend.engines.engine import ColumnType
from crowdblend.engines.refusals import refuse_blanks, refuse_broken_name

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection


def read_table(
    connection: DuckDBPyConnection, relation: Relation, names: Sequence[str], values: Sequence[str], what: str
) -> pyarrow.Table:
    """The columns, those of people's names as whole numbers or texts; a blank anywhere is refused."""
    with redacted(f"The file of the {what} cannot be read from beginning to end."):
        selected = [_name(relation.field(name)) for name in names] + [_value(relation.field(name)) for name in values]
        columns = ", ".join(f"{sql} AS c{at}" for at, sql in enumerate(selected))
        rows = connection.sql(f"SELECT {columns} FROM {relation.sql}")
        table: pyarrow.Table = rows.to_arrow_table() if hasattr(rows, "to_arrow_table") else rows.fetch_arrow_table()
    relation.check_rows(table.num_rows)
    for at, name in enumerate([*names, *values]):
        if table.column(at).null_count:
            refuse_blanks(name, what)
    return table


def _name(field: Field) -> str:
    if field.type is ColumnType.WHOLE:
        return f"CAST({field.identifier} AS BIGINT)"
    if field.type.is_broken_number:
        refuse_broken_name(field.name, field.type.value)
    return f"NULLIF(CAST({field.identifier} AS VARCHAR), '')"


def _value(field: Field) -> str:
    return field.identifier if field.type.is_number else f"NULLIF(CAST({field.identifier} AS VARCHAR), '')"

"""All rows of a table of links or of people in memory, as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdblend.engines.memory.table import MemoryTable
from crowdblend.engines.refusals import refuse_blanks, refuse_broken_name
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy("pyarrow")


def read_table(table: MemoryTable, names: Sequence[str], values: Sequence[str], what: str) -> pa.Table:
    """The columns, those of people's names as whole numbers or texts; a blank anywhere is refused."""
    arrays = []
    for name in [*names, *values]:
        column = table.columns[name]
        if name in names and column.type.is_broken_number:
            refuse_broken_name(name, column.type.value)
        plain = list(column.values) if column.type.is_number else [text or None for text in column.texts()]
        arrays.append(pa.array(plain).take(pa.array(column.positions)))
        if arrays[-1].null_count:
            refuse_blanks(name, what)
    return pa.table(arrays, names=[f"c{at}" for at in range(len(arrays))])

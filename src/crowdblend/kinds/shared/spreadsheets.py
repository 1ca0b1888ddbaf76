"""Rows as a spreadsheet may open them: texts that it would run as formulas have an apostrophe before them."""

from __future__ import annotations

from crowdblend.policies.formulas import neutral_text
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import pyarrow as pa


def neutral_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows, and the names of their columns, that hold no formula; nothing else changes."""
    columns = [_neutral_column(column) for column in batch.columns]
    return pa.record_batch(columns, names=[neutral_text(name) for name in batch.schema.names])


def _neutral_column(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _neutral_column(column.dictionary))
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    texts = column.to_pylist()
    neutral = [text if text is None else neutral_text(text) for text in texts]
    return column if neutral == texts else pa.array(neutral, column.type)

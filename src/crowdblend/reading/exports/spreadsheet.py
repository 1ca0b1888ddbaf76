"""CSV for a spreadsheet: with the mark of UTF-8 that Excel looks for, and without formulas."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv

from crowdblend.kinds.shared.data_formats import neutral_batch
from crowdblend.reading.exports import Published, one_table


def write(release: Published, tables: Sequence[str], file: BinaryIO) -> None:
    """Write the rows of one table as they were published."""
    write_rows(release.batches(one_table(tables)), file)


def write_rows(rows: pa.RecordBatchReader, file: BinaryIO) -> None:
    """Write rows as CSV for a spreadsheet."""
    file.write(codecs.BOM_UTF8)
    empty = [pa.array([], field.type) for field in rows.schema]
    header = neutral_batch(pa.record_batch(empty, schema=rows.schema)).schema
    with arrow_csv.CSVWriter(file, header, write_options=arrow_csv.WriteOptions(quoting_style="needed")) as writer:
        for batch in rows:
            writer.write(neutral_batch(batch))

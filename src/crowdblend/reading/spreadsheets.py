"""A published table as CSV for a spreadsheet: with the mark of UTF-8 that Excel looks for, and without formulas."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from crowdblend.kinds.shared.spreadsheets import neutral_batch
from crowdblend.policies.formulas import neutral_text
from crowdblend.reading.cells import WIDEST_FIELD, readable
from crowdblend.trusted.machine.regular_files import open_regular


def write_csv_file(path: Path, out: Path) -> None:
    """Write a published file as CSV for a spreadsheet."""
    with out.open("wb") as file, readable(path):
        if path.suffix == ".csv":
            csv.field_size_limit(WIDEST_FIELD)
            file.write(codecs.BOM_UTF8)
            with (
                open_regular(path) as published,
                io.TextIOWrapper(published, "utf-8-sig", newline="") as text,
                io.TextIOWrapper(file, "utf-8", newline="") as copied,
            ):
                rows = (map(neutral_text, row) for row in csv.reader(text))
                csv.writer(copied, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
            return
        with pq.ParquetFile(str(path)) as opened:
            write_csv(pa.RecordBatchReader.from_batches(opened.schema_arrow, opened.iter_batches()), file)


def write_csv(rows: pa.RecordBatchReader, file: BinaryIO) -> None:
    """Write rows as CSV for a spreadsheet."""
    file.write(codecs.BOM_UTF8)
    empty = [pa.array([], field.type) for field in rows.schema]
    header = neutral_batch(pa.record_batch(empty, schema=rows.schema)).schema
    with arrow_csv.CSVWriter(file, header, write_options=arrow_csv.WriteOptions(quoting_style="needed")) as writer:
        for batch in rows:
            writer.write(neutral_batch(batch))

"""Published files as tables whose labels are categories of the declared domain."""

from __future__ import annotations

import codecs
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.lazy import lazy_imports
from crowdblend.reading.cells import readable
from crowdblend.regular_files import open_regular

with lazy_imports():
    from pyarrow import compute as pc  # takes long to load

Labels = tuple[str, ...]
TEXTS = ("statistic", "group", "class")
_NUMBERS = {
    "count": pa.int64(),
    "sampled": pa.int64(),
    "low": pa.int64(),
    "high": pa.int64(),
    "estimate": pa.float64(),
    "exact": pa.bool_(),
}


def read_table(
    path: Path, domain: Mapping[str, Labels | None], ordered_columns: frozenset[str] = frozenset()
) -> pa.Table:
    """Return the file as it is, with text columns as categories in the declared order."""
    with readable(path):
        if path.suffix == ".csv":
            kinds = {**dict.fromkeys((*domain, *TEXTS), pa.string()), **_NUMBERS}
            options = csv.ConvertOptions(column_types=kinds, strings_can_be_null=False)
            table = csv.read_csv(path, convert_options=options)
        else:
            table = parquet.read_table(str(path))
    for place, name in enumerate(table.column_names):
        labels = domain.get(name)
        if labels is not None and pa.types.is_string(table.column(place).type):
            known = pa.array(labels, pa.string())
            codes = pc.index_in(table.column(place).combine_chunks(), value_set=known)
            categories = pa.DictionaryArray.from_arrays(codes, known, ordered=name in ordered_columns)
            table = table.set_column(place, name, categories)
    return table


def write_csv(path: Path, out: Path) -> None:
    """Write a published file as CSV with the mark by which Excel recognizes UTF-8."""
    with out.open("wb") as file, readable(path):
        file.write(codecs.BOM_UTF8)
        if path.suffix == ".csv":
            with open_regular(path) as published:
                shutil.copyfileobj(published, file)
            return
        read = parquet.ParquetFile(str(path))
        with csv.CSVWriter(file, read.schema_arrow) as writer:
            for batch in read.iter_batches():
                writer.write(batch)

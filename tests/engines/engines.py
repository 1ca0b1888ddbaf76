"""The engines that one suite runs over: DuckDB, and the engine in memory with what pyarrow reads of the same files."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.designs.draw import Draw
from crowdblend.engines.choice import count_classes, default_engine
from crowdblend.engines.engine import ClassCounts, Engine
from crowdblend.policies.source import DataSource
from tests.engines.memory.engine import MemoryEngine
from tests.engines.memory.table import MemoryTable

Counting = Callable[[Any, Draw], ClassCounts]


def engine_for(name: str, data: DataSource) -> Engine:
    """An engine that can open the source."""
    return default_engine() if name == "duckdb" else MemoryEngine({data.source: in_memory(data)})


def in_memory(data: DataSource) -> MemoryTable:
    """A file or folder as pyarrow reads it, every column of a CSV file as text."""
    table = parquet.read_table(data.source) if data.format == "parquet" else texts(data.source, data.delimiter or ",")
    return MemoryTable.of({name: table.column(name).to_pylist() for name in table.column_names})


def texts(source: str, delimiter: str = ",") -> pa.Table:
    """A CSV file, every column as text, an empty field as a blank."""
    names = csv.open_csv(source, parse_options=csv.ParseOptions(delimiter=delimiter)).schema.names
    options = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return csv.read_csv(
        source,
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False),
        convert_options=options,
    )


def counting(name: str) -> Counting:
    """Counts the classes of a policy's draw with the engine."""
    return lambda policy, draw: count_classes(policy, draw, engine_for(name, policy.data))

"""The same rows and key give the same bytes, whoever holds the rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import crowdblend as cb
from crowdblend.policies.load import parse_policy
from tests.golden.releases import KEY, POLICIES, PROGRAMMES
from tests.golden.test_golden import HASHES, hashes_of


class Stream:
    """Whatever exports an Arrow stream, once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader(max_chunksize=1000)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._reader.__arrow_c_stream__(requested_schema)


HOLDERS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pa.Table.to_pandas,
    "polars": pl.from_arrow,
    "arrow": lambda table: table,
    "chunked": lambda table: pa.Table.from_batches(table.to_batches(max_chunksize=777)),
    "dictionary": lambda table: pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    ),
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(max_chunksize=1000),
    "stream": Stream,
    "relation": duckdb.from_arrow,
}


def rows_of(policy: Any, sources: Path) -> pa.Table:
    path = sources / Path(policy.data.source).name
    return parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)


def published(done: cb.Release) -> dict[str, bytes]:
    assert done.files is not None
    return {name: content for name, content in done.files.items() if name.endswith((".parquet", ".csv"))}


DAILY = ("table", "table-noise", "microdata", "points", "synopsis-chosen", "graph", "programme-strata")
CASES = [pytest.param(name, marks=() if name in DAILY else pytest.mark.slow) for name in POLICIES | PROGRAMMES]


@pytest.mark.parametrize("name", CASES)
def test_rows_in_any_order_give_the_golden_bytes_and_another_key_gives_others(
    name: str, sources: Path, tmp_path: Path
) -> None:
    """Where rows are people, their places say who is who, so that their order stays."""
    policy = parse_policy('[release]\nformat = "csv"\n' + (POLICIES | PROGRAMMES)[name], sources)
    rows, golden = rows_of(policy, sources), json.loads(HASHES.read_text())[name]
    if "rows_are_people" not in (POLICIES | PROGRAMMES)[name]:
        rows = rows.take(np.random.default_rng(5).permutation(rows.num_rows))

    def hashes(key: bytes) -> dict[str, str]:
        folder = tmp_path / key.hex()
        cb.release(rows, policy, key=key, ledger=None, out=folder)
        return hashes_of(folder)

    assert hashes(KEY) == golden
    # Drawn before, two leave nothing to chance, and the choice of a synopsis one bit.
    if name not in ("table-drawn", "table-biased", "synopsis-chosen"):
        assert hashes(bytes(32)) != golden


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", ["table", pytest.param("statistics-rows", marks=pytest.mark.slow)])
def test_every_holder(holder: str, name: str, sources: Path) -> None:
    policy = parse_policy(POLICIES[name], sources)
    from_file = cb.release(sources / "town.parquet", policy, key=KEY, ledger=None)
    held = HOLDERS[holder](rows_of(policy, sources))
    assert published(cb.release(held, policy, key=KEY, ledger=None)) == published(from_file)


def test_in_a_folder_as_in_memory(sources: Path, tmp_path: Path) -> None:
    policy = parse_policy(POLICIES["table-visits"], sources)
    rows = rows_of(policy, sources)
    kept = cb.release(rows, policy, key=KEY, ledger=None)
    there = cb.release(rows, policy, key=KEY, ledger=None, out=tmp_path / "out")
    assert kept.files is not None
    assert there.folder == tmp_path / "out"
    assert {file.name: file.read_bytes() for file in there.folder.iterdir()} == kept.files
    assert kept.save(tmp_path / "copy") == tmp_path / "copy"
    assert {file.name: file.read_bytes() for file in (tmp_path / "copy").iterdir()} == kept.files
    assert cb.verify(tmp_path / "copy") == cb.verify(kept) == cb.verify(there)
    assert set(kept.tables) == set(there.tables) == {"data", "totals"}
    assert kept.tables["data"] == there.tables["data"]
    assert list(kept.report.html) == list(there.report.html)

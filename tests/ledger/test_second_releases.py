"""One sample twice, from 500 made-up sources: ids of every type and length, and every engine that reads them.

The second release is refused as one of the same sample, or it is said that the ledger does not know whose data they
are, or the ids are refused as ids. It never passes in silence, whatever of the ids or the columns is another way.
"""

import hashlib
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from decimal import Decimal
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from crowdblend.errors import DoesNotCompose, InvalidInput
from crowdblend.kinds import plan
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.policies.source import DataSource
from crowdblend.publishing.pending import pending_release
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.engine import Engine
from tests.cases import for_each
from tests.ledger.databases import execute, needs_postgresql
from tests.ledger.postgresql_server import server
from tests.ledger.sources import policy
from tests.sources.engines.test_known_ids import are_rounded, framed, ids_of, in_arrow

SOURCES = range(500)
NAMES = [("", ""), ('population = "patients"',) * 2, ('population = "patients"', 'population = "pupils"')]
NAMED = 'person = "id"'
# Types whose values a CSV file has, and SQLite.
_TEXTS, _SQLITE = ("text", "padded", "point", "exponent"), ("text", "int64", "double", "point")
Store = Callable[[Path, pa.Table], DataSource]


@cache
def people(number: int) -> tuple[list[str], dict[str, pa.Array], pa.Table]:
    """Return the ids of a source, the same in every type, and the other columns."""
    texts, chance = ids_of(number), np.random.default_rng(number)
    size = len(texts)
    others = {"sex": chance.choice(["Female", "Male"], size), "age": chance.integers(0, 100, size)}
    if number % 2:  # then rows are unlike all others
        others["income"] = np.round(chance.normal(30_000, 9_000, size), 2)
    return texts, in_arrow(texts), pa.table(others)


def in_csv(folder: Path, table: pa.Table) -> DataSource:
    csv.write_csv(table, folder / "people.csv")
    return DataSource(str(folder / "people.csv"), "csv", person="id")


def in_parquet(folder: Path, table: pa.Table) -> DataSource:
    parquet.write_table(table, folder / "people.parquet")
    return DataSource(str(folder / "people.parquet"), "parquet", person="id")


def in_duckdb(folder: Path, table: pa.Table, *, query: bool = False) -> DataSource:
    """A table or query of a DuckDB file, whose whole numbers have 128 bits where they can."""
    with duckdb.connect(str(folder / "people.duckdb")) as made:
        made.register("given", table)
        made.execute("CREATE TABLE people AS SELECT * FROM given")
        if pa.types.is_decimal(table.schema.field("id").type) and table.schema.field("id").type.scale == 0:
            made.execute("ALTER TABLE people ALTER id TYPE HUGEINT")
    asked = {"query": "SELECT * FROM people"} if query else {"table": "people"}
    return DataSource(str(folder / "people.duckdb"), "duckdb", person="id", **asked)


def in_duckdb_query(folder: Path, table: pa.Table) -> DataSource:
    return in_duckdb(folder, table, query=True)


def in_sqlite(folder: Path, table: pa.Table) -> DataSource:
    with closing(sqlite3.connect(folder / "people.sqlite")) as made:
        made.execute(f"CREATE TABLE people ({', '.join(table.column_names)})")
        rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
        made.executemany(f"INSERT INTO people VALUES ({', '.join('?' * table.num_columns)})", rows)
        made.commit()
    return DataSource(str(folder / "people.sqlite"), "sqlite", person="id", table="people")


def in_postgresql(_: Path, table: pa.Table) -> DataSource:
    """A table of PostgreSQL; decimals have a declared size."""
    import psycopg

    kinds = {"int64": "bigint", "double": "float8", "string": "text", "bool": "boolean"}
    declared = {}
    for field in table.schema:
        exact = pa.types.is_decimal(field.type)
        declared[field.name] = (
            f"numeric({field.type.precision}, {field.type.scale})" if exact else kinds[str(field.type)]
        )
    execute("DROP SCHEMA IF EXISTS twice CASCADE", "CREATE SCHEMA twice")
    execute(f"CREATE TABLE twice.people ({', '.join(f'{name} {kind}' for name, kind in declared.items())})")
    with psycopg.connect(server()) as connection, connection.cursor() as cursor:
        rows = list(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))
        cursor.executemany(f"INSERT INTO twice.people VALUES ({', '.join(['%s'] * table.num_columns)})", rows)
    return DataSource(server(), "postgres", person="id", table="twice.people")


STORES: dict[str, tuple[Store, Callable[[str], bool]]] = {
    "CSV": (in_csv, _TEXTS.__contains__),
    "Parquet": (in_parquet, lambda _: True),
    "DuckDB": (in_duckdb, lambda _: True),
    "DuckDB query": (in_duckdb_query, lambda _: True),
    "SQLite": (in_sqlite, _SQLITE.__contains__),
    "frame": (in_parquet, lambda _: True),
}
POSTGRESQL: dict[str, tuple[Store, Callable[[str], bool]]] = {
    "PostgreSQL": (
        in_postgresql,
        lambda kind: kind in (*_TEXTS, "int64", "double") or kind.startswith(("decimal", "cents")),
    )
}


def _pseudonyms(texts: list[str]) -> pa.Array:
    return pa.array([hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts])


def second_table(number: int, at: int, fits: Callable[[str], bool]) -> tuple[str, pa.Table]:
    """Return a copy of the people, and what is different about it: "" where ids and rows are those of the first."""
    texts, ids, others = people(number)
    chance = random.Random(f"{number} {at}")
    change = chance.choice(["", "", "", "", "rounded", "rounded texts", "pseudonyms", "capitals", "other columns"])
    kind = chance.choice(sorted(kind for kind in ids if fits(kind)))
    column = ids[kind]
    if change == "pseudonyms":
        column, kind = _pseudonyms(texts), "text"
    elif change.startswith("rounded"):
        try:
            column = pa.array([float(Decimal(text)) for text in texts])
        except ArithmeticError:
            change = ""
        else:
            kind = "double"
            if change == "rounded texts" or not fits(kind):
                column, kind = pa.array([repr(one) for one in column.to_pylist()]), "exponent"
    if change == "capitals":
        capitals = pa.array([sex.upper() for sex in others.column("sex").to_pylist()])
        others, column = others.set_column(0, "sex", capitals), _pseudonyms(texts)
    elif change == "other columns":
        others = others.select(["sex", "age"]).append_column("flag", pa.array([True] * len(texts)))
    order = np.random.default_rng(at).permutation(len(texts))
    table = others.add_column(0, "id", column).take(order)
    rounded = change.startswith("rounded") or are_rounded(kind, texts) or len(set(column.to_pylist())) < len(texts)
    return "rounded" if rounded else change, table


def outcome(ledger: Ledger, folder: Path, data: DataSource, name: str, engine: Engine | None = None) -> str:
    """Return what becomes of a release, up to its entry in the ledger."""
    made = parse_policy(policy("people.csv", who=NAMED, more=name), folder).with_source(data)
    key = bytes([1 + len(ledger.entries())]) * 32
    try:
        pending = pending_release(plan(made), "/out", ledger, key, engine or default_engine())
    except DoesNotCompose:
        return "refused"
    except InvalidInput as refused:
        return refused.code
    ledger.begin(pending.spending, identity=pending.identity, key=key)
    assert pending.outlook is not None
    return "said" if pending.outlook.not_compared or pending.outlook.recognition else "silent"


def publish_twice(
    number: int, folder: Path, stores: dict[str, tuple[Store, Callable[[str], bool]]], engine: Engine | None = None
) -> Counter[str]:
    """Release one sample from a file, and once more from every store; return how often each thing happened."""
    texts, _, others = people(number)
    found, first = Counter[str](), others.add_column(0, "id", pa.array(texts))
    for at, (store_name, (store, fits)) in enumerate(stores.items()):
        place = folder / str(at)
        place.mkdir()
        ledger = Ledger.create(place / "ledger.sqlite")
        names = NAMES[(number + at) % len(NAMES)]
        assert outcome(ledger, place, in_csv(place, first), names[0]) == "silent"
        change, table = second_table(number, at, fits)
        with ExitStack() as opened:
            data = opened.enter_context(framed(table, "id")) if store_name == "frame" else store(place, table)
            became = outcome(ledger, place, data, names[1], engine)
        where = (number, store_name, change, str(table.schema.field("id").type), texts[:2])
        assert became != "silent", where
        if not change:
            assert became == "refused", (became, where)
        found[became] += 1
    return found


def _in_java(number: int) -> str:
    return repr(float(number)).replace("e+", "E")


ROUNDED: dict[str, tuple[int, Callable[[list[int]], pa.Array], str]] = {
    "doubles": (18, lambda ids: pa.array([float(one) for one in ids]), "data.rounded-ids"),
    "texts of doubles": (18, lambda ids: pa.array([repr(float(one)) for one in ids]), "data.rounded-ids"),
    "texts of doubles by Java": (18, lambda ids: pa.array(map(_in_java, ids)), "data.rounded-ids"),
    "single precision": (9, lambda ids: pa.array(ids).cast(pa.float32(), safe=False), "data.rounded-ids"),
    "doubles that are whole numbers": (15, lambda ids: pa.array([float(one) for one in ids]), "refused"),
    "short numbers by Java": (9, lambda ids: pa.array(map(_in_java, ids)), "refused"),
    "hexadecimal numbers": (4, lambda ids: pa.array([f"{one}e12" for one in ids]), "said"),
}


@for_each("case", ROUNDED)
def test_ids_that_were_rounded_are_refused(case: str, tmp_path: Path) -> None:
    """Those that stay what they were are as few as an independent sample at this rate has in common."""
    digits, rounded, expected = ROUNDED[case]
    chance = random.Random(digits)
    ids = sorted({chance.randrange(10 ** (digits - 1), 10**digits) for _ in range(600)})
    rest = pa.table({"sex": ["Female", "Male"] * (len(ids) // 2) + ["Male"] * (len(ids) % 2), "age": [30] * len(ids)})
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    first = in_csv(tmp_path, rest.add_column(0, "id", pa.array(map(str, ids))))
    assert outcome(ledger, tmp_path, first, NAMES[1][0]) == "silent"
    again = in_parquet(tmp_path, rest.add_column(0, "id", rounded(ids)))
    assert outcome(ledger, tmp_path, again, NAMES[1][1]) == expected


@pytest.mark.filterwarnings("ignore:No ledger")
@for_each("number", SOURCES, daily=4)
def test_one_sample_is_not_published_twice_in_silence(number: int, tmp_path: Path) -> None:
    assert publish_twice(number, tmp_path, STORES).total() == len(STORES)


@needs_postgresql
@for_each("number", SOURCES, daily=3)
def test_nor_from_postgresql(number: int, tmp_path: Path) -> None:
    assert publish_twice(number, tmp_path, POSTGRESQL).total() == 1

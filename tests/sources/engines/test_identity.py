"""By what a source is known again: whatever the order and type, and by the columns that tell apart."""

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from crowdblend.ledger import FingerprintRequest, Identity
from crowdblend.ledger.identity import MOST, Anchor, zeros
from crowdblend.methods.designs.draw import Coin
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.policies.columns import Column
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine, identify
from crowdblend.sources.engines.duckdb.engine import DuckDBSource
from crowdblend.sources.engines.duckdb.id_sieve import IdSieve
from crowdblend.sources.engines.duckdb.identity import DuckDBHashes, _hashed_value
from crowdblend.sources.engines.duckdb.relation import column_type
from crowdblend.sources.engines.identity import SomeRows
from crowdblend.sources.engines.persons import read_persons
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.ledger.sources import people, shuffled, write

SECRET = bytes(range(32))


def known(path: Path, wanted: FingerprintRequest | None = None, **data) -> Identity:
    source = DataSource(str(path), "csv" if path.suffix == ".csv" else "parquet", **(data or {"person": "id"}))
    return identify(source, Resources(), wanted or FingerprintRequest(SECRET))


def test_people_and_rows_are_the_same_in_every_order_and_format(tmp_path: Path) -> None:
    table = people(500)
    one = known(write(table, tmp_path / "one.parquet"))
    wanted = FingerprintRequest(SECRET, rows=tuple(each.anchor for each in one.of("rows")))
    for name in ("two.csv", "two.parquet"):
        other = known(write(shuffled(table), tmp_path / name), wanted)
        assert [each.kind for each in other.sketches] == ["person", *["rows"] * len(one.of("rows"))]
        assert other.sketches == one.sketches
        assert other.source != one.source


def test_the_person_is_in_no_rows_and_the_secret_in_all_marks(tmp_path: Path) -> None:
    path = write(people(500), tmp_path / "one.parquet")
    one, other = known(path), known(path, FingerprintRequest(bytes(32)))
    assert "id" not in one.of("rows")[0].anchor.columns
    for first, second in zip(one.sketches, other.sketches, strict=True):
        assert first.marks
        assert not first.marks.keys() & second.marks.keys()
    assert one.source != other.source
    assert one == known(path)


@pytest.mark.parametrize(
    ("ids", "numbered"), [(range(1, 501), True), (range(2, 1002, 2), True), (range(600, 1100), False)]
)
def test_a_numbering_is_seen(tmp_path: Path, ids: range, numbered: bool) -> None:
    path = write(people(500).assign(id=list(ids)), tmp_path / "one.csv")
    assert known(path).numbered is numbered
    column = known(path, FingerprintRequest(SECRET, columns=("id", "elsewhere")), rows_are_people=True).sketches[0]
    assert column.kind == ("numbering" if numbered else "column")
    assert not known(path, person="id", ids="table").numbered


def test_rows_without_persons_are_known_without_each_unique_column(tmp_path: Path) -> None:
    table = people(500).assign(id=range(500))
    found = known(write(table, tmp_path / "one.csv"), rows_are_people=True)
    for name in ("id", "ssn"):
        assert any(name not in each.anchor.columns for each in found.of("rows"))


def test_few_and_many_different_rows(tmp_path: Path) -> None:
    """The sketch of a large table has at most 4,096 marks, at least a quarter of it, and all of its level."""
    number = 60_000
    table = people(number)[["id", "sex", "age"]]
    path = write(table.assign(id=range(number)), tmp_path / "one.parquet")
    people_of, rows, ages = known(path).sketches
    assert MOST / 4 <= len(people_of.marks) <= MOST
    assert people_of.level > 0
    assert all(mark.depth >= people_of.level for mark in people_of.marks.values())
    assert (rows.level, len(rows.marks)) == (0, 200)
    assert (ages.anchor.columns, len(ages.marks)) == (("age",), 100)
    assert sum(mark.often for mark in rows.marks.values()) == number
    fewer = known(write(table.iloc[:9_000].assign(id=range(9_000)), tmp_path / "two.parquet")).sketches[0]
    level = max(people_of.level, fewer.level)
    assert fewer.at(level).keys() <= people_of.at(level).keys()


@pytest.mark.slow  # 150,000 rows; fewer are hashed every day
def test_rows_that_begin_alike(tmp_path: Path) -> None:
    """The first rows are all equal, so that the number of different ones is guessed far too low."""
    number = 150_000
    table = people(number)[["id"]].assign(a=np.maximum(0, np.arange(number) - 30_000), b="x")
    (rows,) = known(write(table, tmp_path / "one.parquet"), person="id").of("rows")
    assert MOST / 64 <= len(rows.marks) <= MOST
    assert rows.level > 0


ODD = [
    "12",
    "-3",
    "12.0",
    "0012",
    "True",
    "False",
    "true",
    "",
    None,
    " 7",
    "2020-01-01",
    "2020-01-01 00:00:00",
    "x",
    ":",
]


def test_the_quick_hash_loses_nobody(tmp_path: Path) -> None:
    """Rows of odd values, few and hashed whole, or many: the same ones are kept, whatever the type of the column."""
    connection = duckdb.connect()
    connection.register("odd", pa.table({"text": pa.array(ODD * 100), "n": range(100 * len(ODD))}))
    whole = "CASE WHEN n % 5 > 0 THEN n END"
    day = "CASE WHEN n % 3 > 0 THEN DATE '2020-01-01' + CAST(n AS INTEGER) END"
    few = f"SELECT text, {whole} AS whole, {day} AS day, n / 4 AS broken FROM odd"
    connection.execute(f"COPY ({few}) TO '{tmp_path / 'few.parquet'}'")
    connection.execute(f"COPY (SELECT few.* FROM ({few}) AS few, range(25)) TO '{tmp_path / 'many.parquet'}'")
    # Beside a column whose values all differ, some rows of every odd value are kept.
    wanted = [(Anchor((name, "broken"), (name, "broken")), 4) for name in ("text", "whole", "day")]
    found = []
    for name in ("few", "many"):
        source = DataSource(str(tmp_path / f"{name}.parquet"), "parquet", rows_are_people=True)
        with default_engine().open(source, (), Resources()) as opened:
            assert isinstance(opened, DuckDBSource)
            hashes = DuckDBHashes(opened._connection, opened._ready)
            found.append([hashes.scan([one])[0] for one in wanted])
    for one, other in zip(*found, strict=True):
        assert {(by, content): 25 * often for by, content, often in one.rows} == {row[:2]: row[2] for row in other.rows}
        assert one.rows


# Ids of a table, and whether they are sifted while they are read.
IDS = [
    ("i * 7919 - 100000", True),
    ("CAST(i AS VARCHAR)", True),
    ("CASE WHEN i % 3 = 0 THEN CAST(i AS VARCHAR) ELSE repeat('P', 1 + i % 20) || i END", True),
    ("format('P{:08d}-é', i)", True),
    ("'P' || repeat('x', i // 100) || i", False),
    ("format('{:08d}', i)", False),
    ("format('{:08d}-0000-0000-0000-1e3456789012', i)", True),
    ("CAST(DATE '1900-01-01' + CAST(i AS INTEGER) AS VARCHAR)", False),
    ("DATE '1900-01-01' + CAST(i AS INTEGER)", False),
]


@for_each(("ids", "sifted"), IDS, daily=4)
def test_ids_that_a_reading_sifts_are_those_of_a_scan(ids: str, sifted: bool, tmp_path: Path, monkeypatch) -> None:
    """The same identity with and without a reading before; what may be spelled in another way is not sifted."""
    rows = 26_000
    monkeypatch.setattr("crowdblend.sources.engines.duckdb.identity._MANY", rows)
    path = tmp_path / "people.parquet"
    duckdb.connect().execute(f"COPY (SELECT {ids} AS id, i % 100 AS age FROM range({rows}) AS of(i)) TO '{path}'")
    source = DataSource(str(path), "parquet", person="id")
    age = Column("age", (Intervals(0, 100, 10),))
    with default_engine().open(source, ["age"], Resources()) as opened:
        assert isinstance(opened, DuckDBSource)
        opened.class_counts([age], Coin(DrawKey(SECRET), 0.05))
        sieve = opened._hashes.sieve
        assert (sieve is not None and sieve.ids() is not None) == sifted
        assert not sifted or sieve.ids().num_rows < 0.6 * rows
        assert opened.identity(FingerprintRequest(SECRET)) == known(path)


@for_each(
    ("text", "sifted"),
    [
        ("P12", True),
        ("00000012", False),
        ("1900-01-01", False),
        ("12:30:00", False),
        ("00000012-0000-0000-0000-1e3456789012", True),
        ("P" * 300, False),
    ],
)
def test_one_text_that_may_be_spelled_in_another_way_is_enough(text: str, sifted: bool) -> None:
    sieve, ids = IdSieve(Anchor(("id",), ("id",)), 1), pa.array(["P1", text, "P2"])
    sieve.add(ids, read_persons(ids, "id"))
    sieve.complete = True
    assert (sieve.ids() is not None) == sifted


# A type, a value of it, and how files spell this value.
SPELLED = [
    ("BIGINT", "12", ["12", "12.0", "12.000", "1.2E1", "12." + "0" * 33, "0" * 30 + "12"]),
    ("BIGINT", "1234567890123456789", ["1234567890123456789"]),
    ("BIGINT", "12345678901234567", ["12345678901234567", "12345678901234567.00", "0012345678901234567."]),
    ("BIGINT", "-9223372036854775808", ["-9223372036854775808", "-009223372036854775808.0"]),
    ("UBIGINT", "18446744073709551615", ["18446744073709551615", "0018446744073709551615", "18446744073709551615.0"]),
    ("HUGEINT", "-9223372036854775809", ["-9223372036854775809", "-09223372036854775809.00"]),
    ("DECIMAL(38, 0)", "12345678901234567", ["12345678901234567"]),
    ("DECIMAL(18, 0)", "100", ["100", "1e2"]),
    ("DECIMAL(19, 2)", "12345678901234567", ["12345678901234567"]),
    ("DECIMAL(38, 0)", "1234567890123456789", ["1234567890123456789", "1234567890123456789.0"]),
    ("DECIMAL(38, 0)", "'-12345678901234567890123456789012345678'", ["-12345678901234567890123456789012345678"]),
    ("DECIMAL(22, 2)", "'12345678901234567890'", ["12345678901234567890", "12345678901234567890.00"]),
    ("DECIMAL(20, 3)", "'12345678901234567.125'", ["12345678901234567.125"]),
    ("DECIMAL(2, 2)", "0", ["0", "0.00", ".0", "-.0"]),
    ("DECIMAL(38, 2)", "NULL", [""]),
    # A double is what it is, however it is written.
    ("DOUBLE", "12345678901234568", ["12345678901234568", "1.2345678901234568e+16"]),
    ("DOUBLE", "1152921504606846976", ["1152921504606846976", "1.152921504606847e+18", "1152921504606846976.0"]),
    ("DOUBLE", "1e22", ["10000000000000000000000"]),
    ("DOUBLE", "-8.5e37", ["-84999999999999999030961646511557967872", "-8.5e+37"]),
    ("DOUBLE", "1e40", ["1e+40", "1.0E40"]),
    ("DOUBLE", "'-inf'", ["-inf"]),
    ("DOUBLE", "0.1", ["0.1", "0.10", "1e-1", "0.1000000000000000055511151231257827"]),
    ("DOUBLE", "-2.5e-7", ["-2.5e-07", "-2.5E-7"]),
    ("DOUBLE", "1e22", ["1e+22", "1.0E22"]),
    ("DOUBLE", "-0.0", ["0", "-0.0"]),
    ("DOUBLE", "'nan'", ["nan"]),
    ("FLOAT", "0.1", ["0.1"]),
    ("DECIMAL(9, 3)", "70.5", ["70.5", "70.500"]),
    ("DATE", "'2020-01-31'", ["2020-01-31"]),
    (
        "TIMESTAMP",
        "'2020-04-28 13:35:31.138007'",
        ["2020-04-28 13:35:31.138007+00:00", "2020-04-28T13:35:31.138007000Z"],
    ),
    ("DOUBLE", "NULL", [""]),
    ("BIGINT", "NULL", [""]),
    ("BOOLEAN", "true", ["1", "true", "True", "TRUE", "t", "1.0"]),
    ("BOOLEAN", "false", ["0", "false", "False", "FALSE", "f"]),
    ("BOOLEAN", "NULL", [""]),
    ("DATE", "NULL", [""]),
]


@for_each(("kind", "value", "texts"), SPELLED)
def test_a_value_is_hashed_as_files_spell_it(kind: str, value: str, texts: list[str]) -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT CAST({value} AS {kind}) AS value, unnest({texts}) AS text")
    hashed = (
        f"SELECT {_hashed_value('value', column_type(kind))}, {_hashed_value('text', column_type('VARCHAR'))} FROM t"
    )
    assert all(one == other for one, other in connection.sql(hashed).fetchall())


def test_texts_that_spell_no_number_keep_what_they_say() -> None:
    """Long numbers, versions, dates and words have hashes of their own, and not that of a number nearby."""
    texts = [
        "123456789012345678901",
        "123456789012345678902",
        "1.2.3",
        "1.2..0",
        "00123456789012345678901x",
        "0-0",
        "1-2",
        "2020-01-31",
        "+1",
        "e",
        "1e",
        "-",
        ".",
    ]
    texts += ["12345678-1234-1234-1234-1e3456789012", "12345678-1234-1234-1234-123456789012"]
    hashed = duckdb.sql(
        f"SELECT {_hashed_value('t', column_type('VARCHAR'))} FROM (SELECT unnest({texts}) AS t)"
    ).fetchall()
    assert len(set(hashed)) == len(texts)


def test_columns_that_tell_rows_apart() -> None:
    chance = np.random.default_rng(1)
    number, columns = 4_000, {"constant": 1, "sex": 2, "age": 100, "town": 300}
    hashes = [chance.integers(0, size, number) for size in columns.values()]
    some = SomeRows((*columns, "row"), np.column_stack([*hashes, np.arange(number)]).astype(np.uint64))
    assert some.telling(("constant", "sex", "age")) == ("age", "sex")
    assert some.telling(("constant",)) == ("constant",)
    assert some.telling(some.names)[:2] == ("town", "age")
    assert some.unique(some.names) == ["row"]
    assert some.enough(("age", "sex"), ("constant", "sex", "age"))
    assert not some.enough(("sex",), ("constant", "sex", "age"))
    assert some.different(("sex", "age")) == 200
    assert some.deciding(("town", "age", "sex"), 1_000_000) == ("town", "age")
    assert some.deciding(("town", "age", "sex"), 999_999) == ("town", "age", "sex")


@for_each("size", [1_000, 20_000, 300_000])
def test_the_number_of_different_rows_is_estimated(size: int) -> None:
    """From 4,000 of a million rows; the estimate has a relative error of √(2·size)/4,000, below 20 %; five of them."""
    values = np.random.default_rng(2).integers(0, size, 4_000).astype(np.uint64)[:, None]
    found = SomeRows(("a",), values).population(("a",), 10**6)
    assert abs(found / size - 1) < 5 * (2 * size) ** 0.5 / 4_000 + 0.01
    assert SomeRows(("a",), values).population(("a",), 4_000) == len(np.unique(values))


def test_no_column_is_in_all_sets_of_columns() -> None:
    """Others that tell rows apart make a second set; where there are none, each column is left out once."""
    chance, number = np.random.default_rng(1), 4_000
    sizes = {"sex": 2, "age": 100, "town": 300, "day": 300, "job": 200, "firm": 350}
    values = {name: chance.integers(0, size, number) for name, size in sizes.items()}
    values["row"] = np.arange(number)
    some = SomeRows((*values,), np.column_stack([*values.values()]).astype(np.uint64), frozenset({"row"}))
    first, second = some.column_sets([*values], [])
    assert (set(first), set(second)) == ({"firm", "day", "town"}, {"age", "job", "sex"})
    assert some.column_sets([*values], [first, second]) == []
    assert some.column_sets([*values], [first]) == [second]
    few = some.column_sets(["day", "job", "town"], [])
    assert set(few[0]) == {"day", "job", "town"}
    assert set.intersection(*map(set, few)) == set()
    assert len(few) <= 4
    # Without age or town, two rows of three are alike.
    assert [set(each) for each in some.column_sets(["sex", "age", "town"], [])[1:]] == [{"age", "town"}]
    # Nothing but a numbering is left without the only columns that tell rows apart.
    assert some.column_sets(["town", "row"], [("town",)]) == [("town", "row")]
    assert some.column_sets([], []) == []


def test_zeros_count_leading_zero_bits() -> None:
    assert [zeros(value) for value in (0, 1, 2**63, 2**63 - 1)] == [64, 63, 0, 1]
    assert Anchor(("a",), ("a",)) != Anchor(("a", "b"), ("a",))


@pytest.mark.parametrize("data", [{"person": "id"}, {"rows_are_people": True}], ids=str)
def test_a_table_that_is_hashed_whole_has_the_same_marks(tmp_path: Path, monkeypatch, data: dict) -> None:
    # The last column has a name that the query gives to something of its own.
    path = write(people(300).assign(crowdblend_texts=[f"Zq-{at % 7}" for at in range(300)]), tmp_path / "one.parquet")
    few = known(path, **data)
    anchors = (Anchor(("crowdblend_texts",), ("crowdblend_texts",)), *(each.anchor for each in few.of("rows")))
    wanted = FingerprintRequest(SECRET, columns=("id",), rows=anchors)
    whole = known(path, wanted, **data)
    monkeypatch.setattr("crowdblend.sources.engines.duckdb.identity.rows_to_look_at", lambda _columns: 299)
    assert known(path, wanted, **data).sketches == whole.sketches

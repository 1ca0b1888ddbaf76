"""Ids of every type and length: whoever was read from one engine is known again from every other.

Ids are made up, stored in every type that holds them exactly, and read as any source is. All must have the marks of
their texts in a CSV file, one for each id, or be refused.
"""

from __future__ import annotations

import random
import sqlite3
import string
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from crowdblend.errors import InvalidInput
from crowdblend.ledger import FingerprintRequest
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.engine import Engine
from crowdblend.sources.engines.frames import opened_frame
from tests.cases import for_each
from tests.ledger.databases import execute, needs_postgresql
from tests.ledger.postgresql_server import server

_SECRET, _PEOPLE = bytes(range(32)), 40
_MOST_DIGITS = 38


def digits(chance: random.Random) -> list[str]:
    """Return whole numbers of up to 45 digits, of one length or several, some of them negative."""
    longest = chance.choice([*range(3, 21), *range(3, 21), 25, 30, 38, 39, 45])
    lengths = [longest] if chance.random() < 0.7 else [*range(2, longest + 1)]
    sign = -1 if chance.random() < 0.2 else 1
    made: set[int] = set()
    while len(made) < _PEOPLE:
        length = chance.choice(lengths)
        made.add(sign * chance.randrange(10 ** (length - 1), 10**length))
    return [str(each) for each in made]


def doubles(chance: random.Random) -> list[str]:
    """Return whole numbers of up to 38 digits that a double holds, from 2^50 on."""
    top = chance.choice([51, 54, 57, 60, 62, 63, 64, 66, 80, 100, 120, 126])
    low = chance.randrange(50, top)
    made: set[int] = set()
    while len(made) < _PEOPLE:
        made.add(int(chance.uniform(2.0**low, 2.0**top)))
    return [str(each) for each in made]


def fractions(chance: random.Random) -> list[str]:
    """Return decimals with a fraction, of up to 15 digits."""
    places = chance.randrange(1, 8)
    made: set[Decimal] = set()
    while len(made) < _PEOPLE:
        made.add(Decimal(chance.randrange(10**3, 10 ** (8 + places)) * 10 + 5).scaleb(-places))
    return [format(each, "f") for each in made]


def words(chance: random.Random) -> list[str]:
    """Return texts: letters and digits, codes with zeros in front, or UUIDs."""
    kind, length = chance.randrange(3), chance.randrange(4, 41)
    if kind == 0:
        signs = string.ascii_letters + string.digits + "-_/. é"
        return list({"x" + "".join(chance.choices(signs, k=length)) + "y" for _ in range(_PEOPLE)})
    if kind == 1:
        return list({f"A{chance.randrange(10**12):0{length}d}" for _ in range(_PEOPLE)})
    return [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(_PEOPLE)]


def days(chance: random.Random) -> list[str]:
    """Return dates, or moments to the microsecond."""
    start, step = datetime(1950, 1, 1), timedelta(days=chance.randrange(1, 300))
    if chance.random() < 0.5:
        return [(start + at * step).date().isoformat() for at in range(_PEOPLE)]
    step += timedelta(hours=5, microseconds=chance.randrange(1, 10**6))
    return [(start + at * step).isoformat(" ", "microseconds") for at in range(1, _PEOPLE + 1)]


FAMILIES = (digits, digits, digits, doubles, fractions, words, days)
SETS = range(70)
EXACT = 2**53


def ids_of(number: int) -> list[str]:
    """Return the ids of one set, as a CSV file has them."""
    return FAMILIES[number % len(FAMILIES)](random.Random(number))


def in_arrow(texts: Sequence[str]) -> dict[str, pa.Array]:
    """Return the ids in every type of Arrow that holds them exactly."""
    found = {"text": pa.array(texts), "large": pa.array(texts, pa.large_string())}
    found["dictionary"] = found["text"].dictionary_encode()
    exact = _decimals(texts)
    if exact is None:
        return found | _moments(texts)
    places = max(-int(each.as_tuple().exponent) for each in exact)
    width = max(len(format(abs(each), "f").replace(".", "")) for each in exact)
    if width <= _MOST_DIGITS:
        found["decimal38"] = pa.array(exact, pa.decimal128(_MOST_DIGITS, places))
        found["decimal"] = pa.array(exact, pa.decimal128(width, places))
    if width <= _MOST_DIGITS - 2:
        found["cents"] = pa.array(exact, pa.decimal128(width + 2, places + 2))
    if all(Decimal(float(each)) == each for each in exact) or places:
        found["double"] = pa.array([float(each) for each in exact])
        found["exponent"] = pa.array([f"{float(each):.17e}" for each in exact])
    if places:
        return found
    found["padded"] = pa.array([f"{int(text):0{width + 4}d}" for text in texts])
    found["point"] = pa.array([f"{text}.0" for text in texts])
    for kind, low, high in ((pa.int64(), -(2**63), 2**63), (pa.uint64(), 0, 2**64), (pa.int32(), -(2**31), 2**31)):
        if all(low <= int(text) < high for text in texts):
            found[str(kind)] = pa.array([int(text) for text in texts], kind)
    return found


def _decimals(texts: Sequence[str]) -> list[Decimal] | None:
    try:
        return [Decimal(text) for text in texts]
    except ArithmeticError:
        return None


def _moments(texts: Sequence[str]) -> dict[str, pa.Array]:
    try:
        if len(texts[0]) == len("2020-01-31"):
            return {"date": pa.array([date.fromisoformat(text) for text in texts])}
        return {
            unit: pa.array([datetime.fromisoformat(text) for text in texts], pa.timestamp(unit))
            for unit in ("us", "ns")
        }
    except ValueError:
        return {}


def marks(data: DataSource, names: Sequence[str], engine: Engine | None = None) -> dict[str, set[int]]:
    """Return the marks of some columns of a source."""
    with (engine or default_engine()).open(data, (), Resources()) as opened:
        found = opened.identity(FingerprintRequest(_SECRET, columns=tuple(names)))
    return {each.anchor.columns[0]: {*each.marks} for each in found.sketches if each.kind != "rows"}


def in_text(folder: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    texts = {name: each for name, each in columns.items() if pa.types.is_string(each.type)}
    csv.write_csv(pa.table(texts), folder / "ids.csv")
    return DataSource(str(folder / "ids.csv"), "csv", rows_are_people=True)


def in_parquet(folder: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    parquet.write_table(pa.table(dict(columns)), folder / "ids.parquet")
    return DataSource(str(folder / "ids.parquet"), "parquet", rows_are_people=True)


def in_duckdb(folder: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    """A DuckDB file, with the types beside that Arrow has not."""
    (folder / "ids.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "ids.duckdb")) as made:
        made.register("given", pa.table(dict(columns)))
        made.execute("CREATE TABLE ids AS SELECT * FROM given")
        exact = _decimals(columns["text"].to_pylist())
        if exact is not None and not any(int(each.as_tuple().exponent) for each in exact):
            for kind, low, high in (("HUGEINT", -(2**127), 2**127), ("UHUGEINT", 0, 2**128), ("UBIGINT", 0, 2**64)):
                if all(low <= each < high for each in exact):
                    made.execute(f"ALTER TABLE ids ADD COLUMN {kind} {kind}")
                    made.execute(f"UPDATE ids SET {kind} = CAST(text AS {kind})")
    return DataSource(str(folder / "ids.duckdb"), "duckdb", table="ids", rows_are_people=True)


def queried(folder: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    """A query of a DuckDB file, whose rows go through a file of their own."""
    data = in_duckdb(folder, columns)
    return DataSource(data.source, "duckdb", query="SELECT * FROM ids", rows_are_people=True)


def in_sqlite(folder: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    """A SQLite file: its numbers are whole ones of 64 bits, and doubles."""
    kept = {name: columns[name].to_pylist() for name in ("text", "int64", "double", "point") if name in columns}
    (folder / "ids.sqlite").unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "ids.sqlite")) as made:
        made.execute(f"CREATE TABLE ids ({', '.join(kept)})")
        holes = ", ".join("?" * len(kept))
        made.executemany(f"INSERT INTO ids VALUES ({holes})", list(zip(*kept.values(), strict=True)))
        made.commit()
    return DataSource(str(folder / "ids.sqlite"), "sqlite", table="ids", rows_are_people=True)


def in_postgresql(_: Path, columns: Mapping[str, pa.Array]) -> DataSource:
    """A table of PostgreSQL, with decimals of a declared size and of none."""
    import psycopg

    texts = columns["text"].to_pylist()
    kinds = {"text": "text", "int64": "bigint", "double": "float8", "date": "date", "us": "timestamp"}
    kinds = {name: kind for name, kind in kinds.items() if name in columns}
    if (exact := _decimals(texts)) is not None:
        places = max(-int(each.as_tuple().exponent) for each in exact)
        width = max(len(format(abs(each), "f").replace(".", "")) for each in exact)
        kinds |= {
            "free": "numeric",
            "exact": f"numeric({width}, {places})",
            "cents": f"numeric({width + 2}, {places + 2})",
        }
    if all(len(text) == 36 and text.count("-") == 4 for text in texts):
        kinds["uuid"] = "uuid"
    execute("DROP SCHEMA IF EXISTS ids CASCADE", "CREATE SCHEMA ids")
    execute(f"CREATE TABLE ids.ids ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
    rows = [[text if name != "double" else repr(float(text)) for name in kinds] for text in texts]
    with psycopg.connect(server()) as connection, connection.cursor() as cursor:
        holes = ", ".join(f"CAST(%s AS {kind})" for kind in kinds.values())
        cursor.executemany(f"INSERT INTO ids.ids VALUES ({holes})", rows)
    return DataSource(server(), "postgres", table="ids.ids", rows_are_people=True)


def check(data: DataSource, texts: Sequence[str], engine: Engine | None = None) -> int:
    """Hold the marks of every column of a source against those of the texts; return the number of columns."""
    with (engine or default_engine()).open(data, (), Resources()) as opened:
        names = [*opened.types]
    found, expected = marks(data, names, engine), by_texts(texts)
    assert found.keys() == set(names)
    assert {name for name, each in found.items() if each != expected} == set(), (data.format, texts[:3])
    return len(names)


def by_texts(texts: Sequence[str]) -> set[int]:
    """Return the marks of ids that a frame has as texts: one for each."""
    with framed(pa.table({"text": pa.array(texts)})) as data:
        found = marks(data, ["text"])["text"]
    assert len(found) == len(texts)
    return found


@contextmanager
def framed(table: pa.Table, person: str | None = None) -> Iterator[DataSource]:
    """Rows that Python holds, as a source."""
    with opened_frame(table) as frame:
        yield DataSource(frame.name, "frame", person=person, rows_are_people=person is None, frame=frame)


_STORED: tuple[Callable[[Path, Mapping[str, pa.Array]], DataSource], ...] = (
    *(in_text, in_parquet),
    *(in_duckdb, queried, in_sqlite),
)


def are_rounded(person: str, texts: Sequence[str]) -> bool:
    """Return whether a floating-point number stands for an id that it need not be."""
    return person in ("double", "exponent") and any(abs(Decimal(text)) > EXACT for text in texts)


@for_each("number", SETS, daily=7)
def test_ids_are_known_again_whatever_file_or_frame_has_them(number: int, tmp_path: Path) -> None:
    texts = ids_of(number)
    columns = in_arrow(texts)
    for store in _STORED:
        assert check(store(tmp_path, columns), texts)
    with framed(pa.table(columns)) as data:
        assert check(data, texts)
    # As the person column, which has a way of its own.
    person = random.Random(number).choice(sorted(columns))
    for data in (in_parquet(tmp_path, columns), in_duckdb(tmp_path, columns)):
        named = DataSource(data.source, data.format, person=person, table=data.table)
        if are_rounded(person, texts):
            with pytest.raises(InvalidInput) as caught:
                marks(named, [])
            assert (caught.value.code, caught.value.where) == ("data.rounded-ids", f"column {person!r}")
        else:
            assert marks(named, [])[person] == by_texts(texts), person


@needs_postgresql
@pytest.mark.filterwarnings("ignore:No ledger")
@for_each("number", SETS, daily=3)
def test_ids_are_known_again_from_postgresql(number: int, tmp_path: Path) -> None:
    texts = ids_of(number)
    assert check(in_postgresql(tmp_path, in_arrow(texts)), texts)


@pytest.mark.parametrize("precision", [38, 39, 76])
def test_decimals_that_would_be_rounded_name_nobody(tmp_path: Path, precision: int) -> None:
    """The database reads them as doubles, so that two people of 40 digits would be one."""
    with localcontext(prec=90):
        ids = pa.array([Decimal(10**17 + at) for at in range(5)], pa.decimal256(precision, 0))
    parquet.write_table(pa.table({"id": ids}), tmp_path / "ids.parquet")
    data = DataSource(str(tmp_path / "ids.parquet"), "parquet", person="id")
    expected = by_texts([str(10**17 + at) for at in range(5)])
    with framed(pa.table({"id": ids}), "id") as frame:
        assert marks(frame, [])["id"] == expected
    if precision == 38:
        assert marks(data, [])["id"] == expected
        return
    for refused in (lambda: marks(data, []), lambda: default_engine().check(data, [], Resources())):
        with pytest.raises(InvalidInput) as caught:
            refused()
        assert (caught.value.code, caught.value.where) == ("data.long-decimal", "column 'id'")

"""The database reads a frame's columns as they are: sliced, chunked, with missing values, and dictionary-encoded."""

import datetime
import decimal
import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from crowdblend.ledger import FingerprintRequest
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import identify
from crowdblend.sources.engines.duckdb.database import database
from crowdblend.sources.engines.duckdb.relation import open_frame
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.sources.engines.temporary_files import private_folder
from tests.cases import for_each
from tests.refusals import refuses

DAY = datetime.datetime(2020, 1, 1)
TYPES: dict[Any, Any] = {
    pa.int8(): int,
    pa.int64(): int,
    pa.uint32(): int,
    pa.uint64(): int,
    pa.string(): str,
    pa.large_string(): str,
    pa.string_view(): str,
    pa.float64(): float,
    pa.float16(): np.float16,
    pa.bool_(): bool,
    pa.date32(): lambda number: (DAY + datetime.timedelta(number)).date(),
    pa.timestamp("s"): lambda number: DAY + datetime.timedelta(hours=number),
    pa.timestamp("ns"): lambda number: DAY + datetime.timedelta(hours=number),
    pa.decimal128(9, 2): decimal.Decimal,
    pa.decimal256(40, 2): decimal.Decimal,
}


def pieces(kind: Any, draw: random.Random) -> tuple[pa.ChunkedArray, list[Any]]:
    """A column in pieces, each cut out of a longer one, and what it holds."""
    encoded = draw.random() < 0.5 and not pa.types.is_string_view(kind) and not pa.types.is_float16(kind)
    chunks, expected = [], []
    for size in draw.choices((0, 1, 5, 64, 3000), k=3):
        held = [None if draw.random() < 0.2 else TYPES[kind](draw.randrange(50)) for _ in range(size + 9)]
        made = pa.array(held, kind)
        start = draw.randrange(9)
        # Every piece has a dictionary of its own.
        chunks.append((made.dictionary_encode() if encoded else made).slice(start, size))
        expected += held[start : start + size]
    return pa.chunked_array(chunks), expected


@for_each("kind", TYPES, daily=8)
def test_columns_are_read_as_they_are(kind: Any) -> None:
    draw = random.Random(str(kind))
    for once in (False, True):
        column, expected = pieces(kind, draw)
        table = pa.table({"place": range(len(column)), "x": column})
        data = table.to_reader(max_chunksize=700) if once else table
        with opened_frame(data) as frame, private_folder() as folder, database(Resources(), folder) as connection:
            source = DataSource(source="x", format="frame", person="place", frame=frame)
            relation = open_frame(connection, source, ["place", "x"])
            rows = connection.sql(f"SELECT c1 FROM {relation.sql} ORDER BY c0").fetchall()
        assert [value for (value,) in rows] == expected


def test_the_name_of_the_content_is_of_the_values() -> None:
    """However they are chunked, encoded or sliced; and of every one of them."""
    texts = [None if at % 7 == 0 else f"v{at}" for at in range(2_000)]
    plain = pa.table({"a": range(2_000), "b": texts})
    others = [
        pa.Table.from_batches(plain.to_batches(max_chunksize=77)),
        pa.table({"a": plain["a"], "b": plain["b"].dictionary_encode()}),
        pa.table({"a": plain["a"], "b": plain["b"].cast(pa.string_view())}),
        pa.concat_tables([plain, plain]).slice(2_000),
        plain.to_pandas(),
    ]

    def name(data: Any) -> str:
        with opened_frame(data) as frame:
            source = DataSource(source="x", format="frame", person="a", frame=frame)
            return identify(source, Resources(), FingerprintRequest(bytes(32))).source

    assert {name(data) for data in others} == {name(plain)}
    changed = [
        plain.set_column(0, "a", [[*range(1_999), 0]]),
        plain.set_column(1, "b", [[*texts[:-1], None]]),
        plain.set_column(1, "b", [["", *texts[1:]]]),
        plain.rename_columns(["a", "c"]),
        plain.slice(0, 1_999),
        plain.set_column(0, "a", plain["a"].cast(pa.float64())),
    ]
    assert len({name(data) for data in [plain, *changed]}) == 1 + len(changed)


def test_every_level_of_an_index_that_has_a_name_is_a_column() -> None:
    levels = pd.MultiIndex.from_tuples([(1, "a", 0.5), (2, "b", 1.5)], names=["person", None, "pay"])
    with opened_frame(pd.DataFrame({"sex": ["f", "m"]}, index=levels)) as frame:
        assert list(frame.columns) == ["sex", "person", "pay"]
        assert frame.columns["pay"].to_pylist() == [0.5, 1.5]


@for_each("names", [["a", "b"], ["b", "a"]])
def test_two_columns_of_one_name_are_refused_whichever_can_be_read(names: list[str]) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": pd.to_timedelta([1, 2], unit="D")})[names]
    with opened_frame(frame) as opened:
        assert list(opened.unreadable) == ["b"]
    with refuses("data.repeated-column", "column 'x'"), opened_frame(frame.set_axis(["x", "x"], axis=1)):
        pass

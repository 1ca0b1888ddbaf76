"""Files that can be misread: each is read as it means, or refused; nobody is lost, added or changed silently."""

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.methods.designs.draw import Coin, Everybody, Exactly
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes, default_engine
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.policies.policies import policy_text
from tests.refusals import refuses
from tests.sources.engines.test_engine import KEY, counted, policy

SEX = {"sex": '{ values = ["F", "M"] }'}
AGE = {"age": "{ prefix = 5 }"}


def classes(folder: Path, columns: dict[str, str], source: str, data: str = "", **more: Any) -> dict[Any, int]:
    return counted(count_classes(policy(folder, columns, source, data, **more), Everybody()).classes)


def write(path: Path, **columns: Any) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    parquet.write_table(pa.table(columns), path)


def test_a_line_feed_in_a_quoted_header_of_a_file_with_other_line_ends(tmp_path: Path) -> None:
    rows = "".join(f"{i},F,x\r\n" for i in range(10))
    (tmp_path / "a.csv").write_bytes(('id,sex,"my\nnote"\r\n' + rows).encode())
    (tmp_path / "b.csv").write_bytes(('id,sex,"my\nnote"\n' + rows.replace("\r", "").replace(",F", ",M")).encode())
    assert classes(tmp_path, SEX, "a.csv") == {("F",): 10}
    (tmp_path / "b.csv").write_text((tmp_path / "b.csv").read_text().replace("\n1", "\n101"))
    with refuses("data.repeated-person"):
        classes(tmp_path, SEX, ".", 'format = "csv"')
    assert classes(tmp_path, SEX, ".", 'format = "csv"', person="rows_are_people = true") == {("F",): 10, ("M",): 10}


def test_files_of_a_folder_may_have_different_line_ends_and_byte_order_marks(tmp_path: Path) -> None:
    for number, end in enumerate(("\n", "\r\n", "\r")):
        text = "id,sex\n" + "".join(f"{number}{i},F\n" for i in range(5))
        mark = b"\xef\xbb\xbf" if number % 2 else b""
        (tmp_path / f"{number}.csv").write_bytes(mark + text.replace("\n", end).encode())
    assert classes(tmp_path, SEX, "*.csv") == {("F",): 15}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fields_with_line_ends_in_a_large_file(tmp_path: Path, end: str) -> None:
    lines = [f'{i},"x,y{end}{i},z{end}1,2,3{end}{end}4,5,6",Male' for i in range(300_000)]
    (tmp_path / "a.csv").write_bytes(end.join(["a,b,d", *lines, ""]).encode())
    assert (tmp_path / "a.csv").stat().st_size > 8_000_000
    assert classes(tmp_path, {"b": "{ prefix = 3 }"}, "a.csv", person='person = "a"') == {("x,y",): 300_000}


def test_a_folder_that_is_called_like_a_column_does_not_replace_it(tmp_path: Path) -> None:
    write(tmp_path / "sex=M" / "a.parquet", id=[1, 2, 3], sex=["F", "F", "M"])
    for source in ("sex=M/a.parquet", "sex=M", "**/*.parquet"):
        assert classes(tmp_path, SEX, source, 'format = "parquet"') == {("F",): 2, ("M",): 1}


def test_a_column_that_only_folders_have_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "data" / "sex=M" / "a.parquet", id=[1, 2, 3])
    with refuses("data.folder-column"):
        classes(tmp_path, SEX, "data", 'format = "parquet"')


DIFFERENT = {
    "numbers": (pa.array([40]), pa.array([39.7])),
    "names": (pa.array(["000012"]), pa.array([12])),
    "sizes": (pa.array([1], pa.int32()), pa.array([1], pa.int64())),
    "days": (pa.array([1], pa.timestamp("ms")), pa.array([1], pa.timestamp("us"))),
}


@for_each("case", DIFFERENT)
@for_each("column", ["id", "age"])
def test_files_with_different_types_are_refused(tmp_path: Path, case: str, column: str) -> None:
    for name, values in zip(("one.parquet", "two.parquet"), DIFFERENT[case], strict=True):
        write(tmp_path / name, **{"id": [1], "age": ["1"], column: values})
    with refuses("data.different-types", f"column '{column}'"):
        classes(tmp_path, AGE, "*.parquet")


def test_files_whose_columns_are_in_another_order_are_read(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", id=[1], age=["1"], note=["x"])
    write(tmp_path / "two.parquet", note=["x"], age=pa.array(["1"]).dictionary_encode(), id=[2])
    assert classes(tmp_path, AGE, "*.parquet") == {("1",): 2}


def test_a_column_that_is_spelt_differently_in_a_later_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", id=[1], sex=["F"])
    write(tmp_path / "two.parquet", id=[2], SEX=["F"])
    with refuses("data.missing-column", "column 'sex'"):
        classes(tmp_path, SEX, "*.parquet")


@for_each("nobody", [float("nan"), float("inf"), float("-inf")])
@for_each("named", [[1.5], [1.0, 2.0], []])
def test_a_number_that_is_none_names_nobody(tmp_path: Path, nobody: float, named: list[float]) -> None:
    write(tmp_path / "people.parquet", id=[*named, nobody], sex=["F"] * (len(named) + 1))
    with refuses("data.missing-person", "column 'id'"):
        classes(tmp_path, SEX, "people.parquet")


def test_a_value_that_is_no_number_is_outside_though_statistics_hide_it(tmp_path: Path) -> None:
    write(tmp_path / "people.parquet", id=[1, 2], income=[5.0, float("nan")])
    columns = {"income": '{ from = 0, to = 10, width = 5, include_to = true, other = "none" }'}
    assert classes(tmp_path, columns, "people.parquet") == {("[5, 10]",): 1, ("none",): 1}


def test_rows_that_the_database_does_not_read_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdblend.sources.engines import csv_records

    (tmp_path / "a.csv").write_text("id,sex\n1,F\n2,M\n")
    count = csv_records.count_records

    def one_more(*given: Any) -> Any:
        found = count(*given)
        found.records += 1
        return found

    monkeypatch.setattr(csv_records, "count_records", one_more)
    with refuses("data.missing-rows"):
        classes(tmp_path, SEX, "a.csv")


def test_who_is_drawn_does_not_depend_on_threads(tmp_path: Path) -> None:
    """Rows without names: the key and the order of the rows decide, however many threads share the files."""
    for number in range(12):
        lines = (f"{number},{'x' * 60}\n" for _ in range(200_000 if number == 0 else 5_000))
        (tmp_path / f"{number:02}.csv").write_text("age,note\n" + "".join(lines))
    drawn = []
    for threads in (1, 2, 4):
        made = policy(tmp_path, AGE, "*.csv", person="rows_are_people = true", release=f"threads = {threads}")
        with default_engine().open(made.data, ["age"], made.resources) as opened:
            drawn.append(counted(opened.class_counts(made.columns, Exactly(DrawKey(KEY), 5_000, 255_000)).classes))
    assert drawn[0] == drawn[1] == drawn[2]


def test_the_database_does_not_believe_statistics_that_leave_nan_out(tmp_path: Path) -> None:
    from crowdblend.sources.engines.duckdb.database import database

    write(tmp_path / "a.parquet", x=[1.0, 2.0, float("nan")])
    with database(policy(tmp_path).resources, tmp_path) as connection:
        found = connection.sql(f"SELECT isnan(x), x > 10 FROM '{tmp_path / 'a.parquet'}' ORDER BY x").fetchall()
    assert found == [(False, False), (False, False), (True, True)]


GRAPH = policy_text(
    data='source = "links.csv"',
    privacy="epsilon = 50.0\naccept_epsilon = true",
    publish=(
        'kind = "graph"\npeople = 4\ndegree_bound = 3\nvertices = "people.csv"',
        '[[publish.statistics]]\nname = "average"\ncolumn = "age"\nfrom = 0\nto = 100\nsamples = 3',
    ),
)
LINKS = "source,target\na,b\nb,c\nc,d\n"


@for_each(
    ("age", "code"),
    [
        ("30", None),
        (" 3e1 ", None),
        ("3_0", "data.not-numbers"),
        ("٣٠", "data.not-numbers"),
        ("nan", "data.not-numbers"),
        (" ", "data.not-numbers"),
    ],
)
def test_people_in_a_network_have_numbers_as_recodings_read_them(tmp_path: Path, age: str, code: str | None) -> None:
    from crowdblend.kinds.graph.network import read_network

    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "people.csv").write_text(f"id,age\na,{age}\nb,30\nc,30\nd,30\n")
    made: Any = parse_policy(GRAPH, tmp_path).only
    if code is None:
        assert read_network(made, default_engine()).values(made.publication.statistics[0]) == [30]
    else:
        with refuses(code, "column 'age'"):
            read_network(made, default_engine())


@for_each("name", ["", " ", "\t"])
def test_people_in_a_network_have_names(tmp_path: Path, name: str) -> None:
    from crowdblend.kinds.graph.network import read_network

    (tmp_path / "links.csv").write_text(LINKS + f"d,{name}\n")
    (tmp_path / "people.csv").write_text("id,age\na,1\nb,30\nc,30\nd,30\n")
    with refuses("data.blank", "column 'target'"):
        read_network(parse_policy(GRAPH, tmp_path).only, default_engine())
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "people.csv").write_text(f"id,age\na,1\nb,30\nc,30\n{name},30\n")
    with refuses("data.blank", "column 'id'"):
        read_network(parse_policy(GRAPH, tmp_path).only, default_engine())


ZONED = (
    *("2024-12-31T23:30:00-05:00", "2025-01-01T04:30:00Z", "2025-01-01 04:30:00+00", "2025-01-01 04:30:00.123456-0330"),
    *(" 2025-01-01T04:30Z ", "2025-01-01 04:30:00 UTC", "2025-01-01T05:30:00+01:00[Europe/Berlin]", "2025-01-01Z"),
    *("01.01.2025 04:30 +0100", "2025-01-01 04:30:00 Europe/Berlin", "2024-12-31-05:00"),
)
TIMED = ("2024-12-31", " 2024-12-31 ", "2024-12-31T23:30:00", "2024-12-31 23:30", "2024-12-31 23:30:00.5")


@pytest.mark.parametrize("text", ZONED)
@pytest.mark.parametrize(
    "column",
    [
        '{ date = "year" }',
        '{ date = "day", other = "rest", missing = "none" }',
        '{ date = "month", from = 2020-01-01, to = 2026-01-01, other = "rest" }',
        '{ date = "year", from = 2020-01-01, to = 2026-01-01 }',
    ],
)
def test_texts_with_a_time_zone_are_refused_as_moments_of_that_type(tmp_path: Path, text: str, column: str) -> None:
    """`other` takes what is no date; a moment has a date, and which one depends on the zone."""
    texts = [*TIMED, "", text, *TIMED]
    given = column if "missing" in column else column.replace(" }", ', missing = "none" }')
    write(tmp_path / "texts.parquet", id=list(range(len(texts))), day=texts)
    (tmp_path / "texts.csv").write_text("id,day\n" + "".join(f"{at},{one}\n" for at, one in enumerate(texts)))
    for source in ("texts.parquet", "texts.csv"):
        with refuses("data.zoned-column", "column 'day'"):
            classes(tmp_path, {"day": given}, source)
    (tmp_path / "texts.csv").write_text("id,day\n" + "".join(f"{at},{one}\n" for at, one in enumerate([*TIMED, ""])))
    assert len(classes(tmp_path, {"day": given}, "texts.csv")) == 2


def test_people_who_are_not_drawn_may_have_such_texts(tmp_path: Path) -> None:
    write(tmp_path / "texts.parquet", id=list(range(50)), day=["2024-12-31"] * 49 + [ZONED[0]])
    made = policy(tmp_path, {"day": '{ date = "year" }'}, "texts.parquet")
    drawn = [key for key in (DrawKey(bytes([n]) * 32) for n in range(20)) if _draws(tmp_path, 49, key)]
    assert 0 < len(drawn) < 20
    for key in (DrawKey(bytes([n]) * 32) for n in range(20)):
        if key in drawn:
            with refuses("data.zoned-column"):
                count_classes(made, Coin(key, 0.5))
        else:
            assert set(counted(count_classes(made, Coin(key, 0.5)).classes)) == {("2024",)}


def _draws(folder: Path, person: int, key: DrawKey) -> bool:
    """Return whether a key draws somebody."""
    write(folder / "alone.parquet", id=[person], day=["2024-12-31"])
    about = policy(folder, {"day": '{ date = "year" }'}, "alone.parquet")
    return count_classes(about, Coin(key, 0.5)).people == 1


def test_new_years_eve_in_new_york(tmp_path: Path) -> None:
    """Half an hour before midnight there it is the new year in UTC: a moment has no day, as a type or as a text."""
    days = {"day": '{ date = "day" }'}
    moment, text = datetime(2024, 12, 31, 23, 30, tzinfo=ZoneInfo("America/New_York")), "2024-12-31T23:30:00-05:00"
    write(tmp_path / "moments.parquet", id=[1, 2], day=[moment, moment])
    write(tmp_path / "local.parquet", id=[1, 2], day=[moment.replace(tzinfo=None)] * 2)
    write(tmp_path / "texts.parquet", id=[1, 2], day=[text, text])
    (tmp_path / "texts.csv").write_text(f"id,day\n1,{text}\n2,{text}\n")
    assert classes(tmp_path, days, "local.parquet") == {("2024-12-31",): 2}
    for source in ("texts.parquet", "texts.csv"):
        with refuses("data.zoned-column"):
            classes(tmp_path, days, source)
    for column in days["day"], "{ prefix = 4 }", '{ values = ["2024"], other = "o" }':
        with refuses("data.zoned-column"):
            classes(tmp_path, {"day": column}, "moments.parquet")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.execute("CREATE TABLE people AS SELECT 1 AS id, TIMESTAMPTZ '2024-12-31 23:30:00-05:00' AS day")
    with refuses("data.zoned-column"):
        classes(tmp_path, days, "people.duckdb", 'table = "people"')
    there = "query = \"SELECT id, CAST(day AT TIME ZONE 'America/New_York' AS DATE) AS day FROM people\""
    assert classes(tmp_path, days, "people.duckdb", there) == {("2024-12-31",): 1}

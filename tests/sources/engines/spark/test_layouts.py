"""The sample does not depend on files, order, partitions or the type of ids; bad input is refused by the same code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute, csv, parquet

from crowdblend.errors import CrowdblendError
from crowdblend.methods.designs.draw import Coin, Everybody, Exactly
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import LEAST_MEMORY, Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import count_classes, default_engine
from crowdblend.sources.engines.spark import shares
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY = DrawKey(bytes(range(32)))
PEOPLE = 3_000
COLUMNS = 'sex = { values = ["F", "M"], missing = "?" }\nage = { from = 0, to = 90, width = 10 }\n'


def people() -> pa.Table:
    """Numbers and texts for names, and three columns; every third text is a number."""
    draw = np.random.default_rng(5)
    numbers = np.arange(PEOPLE)
    texts = [f"{n}" if n % 3 == 0 else f"p-{n:x}" if n % 3 == 1 else f"0{n}" for n in numbers.tolist()]
    return pa.table(
        {
            "number": numbers,
            "mixed": texts,
            "text": [f"p{n}" for n in numbers.tolist()],
            "sex": pa.array(["F", "M", None]).take(pa.array(draw.integers(0, 3, PEOPLE))),
            "age": draw.integers(0, 90, PEOPLE),
            "place": [f"{x:03d}" for x in draw.integers(0, 300, PEOPLE)],
        }
    )


def policy(
    folder: Path, source: str, person: str = 'person = "number"', data: str = "", place: str = "{ prefix = 2 }"
) -> Any:
    text = (
        f'[data]\nsource = "{source}"\n{person}\n{data}\n[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        f"[columns]\n{COLUMNS}place = {place}\n"
        f'[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\nk = 20\n'
    )
    return parse_policy(text, folder)


def about_frame(frame: Any, person: str = 'person = "number"', data: str = "") -> Any:
    placed = policy(Path("/"), "people.parquet", person, data)
    return placed.with_source(DataSource(source="The Spark DataFrame", format="frame", frame=frame))


def same(here: Any, there: Any) -> bool:
    return bool(
        here.rows_read == there.rows_read
        and here.people == there.people
        and here.classes.labels == there.classes.labels
        and np.array_equal(here.classes.codes, there.classes.codes)
        and np.array_equal(here.classes.counts, there.classes.counts)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same people in one file, in many with another order, and as CSV."""
    place, table = tmp_path_factory.mktemp("a folder, 100% [odd]"), people()
    parquet.write_table(table, place / "people.parquet")
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(PEOPLE)))
    for number in range(7):
        (place / "many").mkdir(exist_ok=True)
        parquet.write_table(shuffled.slice(number * 500, 500), place / "many" / f"part {number}.parquet")
    csv.write_csv(table, place / "people.csv")
    return place


@for_each(("person", "layouts"), [("mixed", ["many", "csv"]), ("number", ["frame"]), ("text", ["frame"])], daily=1)
def test_ids_of_every_type_in_every_layout(
    person: str, layouts: list[str], folder: Path, spark: SparkSession, engine: SparkEngine
) -> None:
    named = f'person = "{person}"'
    expected = count_classes(policy(folder, "people.parquet", named), Coin(KEY, 0.5))
    for layout in layouts:
        about = {
            "frame": lambda: about_frame(spark.createDataFrame(people()).repartition(3, "place"), named),
            "many": lambda: policy(folder, "many", named, 'format = "parquet"'),
            "csv": lambda: policy(folder, "people.csv", named),
        }[layout]
        assert same(count_classes(about(), Coin(KEY, 0.5), engine), expected), layout


def test_exactly_k_people_by_marks_and_rows_by_places(folder: Path, engine: SparkEngine) -> None:
    draw = Exactly(KEY, 400, PEOPLE)
    for source, person, data in (
        ("many", 'person = "mixed"', 'format = "parquet"'),
        ("people.csv", "rows_are_people = true", ""),
    ):
        about = policy(folder, source, person, data)
        assert same(count_classes(about, draw, engine), count_classes(about, draw))


def test_files_are_divided_among_tasks(folder: Path, engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large file in parts of whole row groups, and five small ones in three tasks."""
    monkeypatch.setattr(shares, "_TASK_BYTES", 9_000)
    monkeypatch.setattr(shares, "_TASKS", 2)
    (folder / "some").mkdir()
    for number, rows in enumerate((300, 100, 1900, 300, 300, 100)):
        table = people().slice((0, 300, 400, 2300, 2600, 2900)[number], rows)
        parquet.write_table(table, folder / "some" / f"{number:02d}.parquet", row_group_size=400)
    named = people().append_column("File_Row_Number", pa.array(range(PEOPLE, 0, -1)))
    parquet.write_table(named, folder / "named.parquet", row_group_size=400)
    for whole in ("named.parquet", "people.csv"):
        about = policy(folder, whole, 'person = "mixed"')
        assert same(count_classes(about, Coin(KEY, 0.5), engine), count_classes(about, Coin(KEY, 0.5))), whole
    for person, draw in (('person = "mixed"', Coin(KEY, 0.5)), ("rows_are_people = true", Exactly(KEY, 400, PEOPLE))):
        about = policy(folder, "some", person, 'format = "parquet"')
        with engine.open(about.data, (), about.resources) as source:
            divided = source.relation.shares(source.relation.opening(()))
        assert [(one.start, one.end) for one in divided if one.end] == [(0, 800), (800, 1600), (1600, 1900)]
        assert sorted(len(one.files) for one in divided if not one.end) == [1, 2, 2]
        assert same(count_classes(about, draw, engine), count_classes(about, draw))


def code_of(work: Callable[[], object]) -> tuple[str, str | None]:
    with pytest.raises(CrowdblendError) as refused:
        work()
    return refused.value.code, refused.value.where


def broken() -> dict[str, pa.Table]:
    """Tables that no engine takes."""
    table = people().slice(0, 300)
    blank = pa.array([None if n == 7 else n for n in range(300)], pa.int64())
    twice = pa.array([f"p{n % 299}" for n in range(300)])
    return {
        "missing column": table.drop_columns(["age"]),
        "blank person": table.set_column(0, "number", blank),
        "same text twice": table.set_column(0, "number", twice),
        "same number twice": table.set_column(0, "number", pa.array(np.arange(300) % 299)),
        "outside the domain": table.set_column(4, "age", compute.add(table.column("age"), 80)),
        "no rows": table.slice(0, 0),
        "nested column": table.set_column(4, "age", pa.array([[n] for n in range(300)])),
        "moments": table.set_column(4, "age", pa.array([0] * 300, pa.timestamp("us", "UTC"))),
    }


# A file and a frame are one relation to the tasks; what is refused before them is tried with both.
BOTH_WAYS = ("missing column", "same text twice")


@for_each("name", broken(), daily=4)
def test_bad_input_is_refused_by_the_same_code(
    name: str, tmp_path: Path, spark: SparkSession, engine: SparkEngine
) -> None:
    table = broken()[name]
    parquet.write_table(table, tmp_path / "people.parquet")
    about, everybody = policy(tmp_path, "people.parquet"), Everybody(row_key=KEY)
    expected = code_of(lambda: count_classes(about, everybody, default_engine()))
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(3)
    for given in (about_frame(frame), about) if name in BOTH_WAYS else (about_frame(frame),):
        assert code_of(lambda given=given: count_classes(given, everybody, engine)) == expected  # type: ignore[misc]


def test_a_csv_file_with_two_readings_is_refused_as_by_duckdb(tmp_path: Path, engine: SparkEngine) -> None:
    (tmp_path / "people.csv").write_text('number,sex,age,place\n1,F,3,"a"b\n2,M,4,c\n')
    about, everybody = policy(tmp_path, "people.csv"), Everybody(row_key=KEY)
    expected = code_of(lambda: count_classes(about, everybody, default_engine()))
    assert expected[0] == "data.quotes"
    assert code_of(lambda: count_classes(about, everybody, engine)) == expected


def test_texts_with_a_time_zone_are_refused_as_by_duckdb(tmp_path: Path, engine: SparkEngine) -> None:
    days = pa.array(["2024-12-31"] * 299 + ["2024-12-31T23:30:00-05:00"])
    parquet.write_table(people().slice(0, 300).set_column(5, "place", days), tmp_path / "people.parquet")
    about = policy(tmp_path, "people.parquet", place='{ date = "year", other = "o" }')
    for where in (default_engine(), engine):
        found = code_of(lambda where=where: count_classes(about, Everybody(row_key=KEY), where))  # type: ignore[misc]
        assert found == ("data.zoned-column", "column 'place'")


def test_what_leads_out_of_a_folder_is_refused_as_by_duckdb(tmp_path: Path, engine: SparkEngine) -> None:
    for folder, some in (("data", people().slice(0, 300)), ("outside", people().slice(300, 300))):
        (tmp_path / folder).mkdir()
        parquet.write_table(some, tmp_path / folder / "part.parquet")
    (tmp_path / "data" / "other.parquet").symlink_to(tmp_path / "outside" / "part.parquet")
    about = policy(tmp_path, "data", data='format = "parquet"')
    for where in (default_engine(), engine):
        assert code_of(lambda where=where: count_classes(about, Everybody(), where))[0] == "data.link"  # type: ignore[misc]
    address = DataSource((tmp_path / "data").as_uri(), "parquet", rows_are_people=True)
    with pytest.raises(CrowdblendError) as refused, engine.open(address, (), Resources()):
        pass
    assert refused.value.code == "data.local-address"


def test_more_classes_than_the_driver_takes_are_refused_by_their_allowed_number(
    folder: Path, engine: SparkEngine
) -> None:
    about = policy(folder, "people.parquet")
    resources = Resources(LEAST_MEMORY)
    with engine.open(about.data, [one.name for one in about.columns], resources) as source:
        source._memory.limit = 1000
        with pytest.raises(CrowdblendError) as refused:
            source.class_counts(about.columns, Coin(KEY, 0.5))
    assert refused.value.code == "data.memory"
    assert "27" in refused.value.message  # 1000 bytes for classes of 36 each


def test_rows_of_a_frame_have_no_places(spark: SparkSession, engine: SparkEngine) -> None:
    about = about_frame(spark.createDataFrame(people()), "rows_are_people = true")
    assert code_of(lambda: count_classes(about, Exactly(KEY, 10, PEOPLE), engine))[0] == "data.unordered"

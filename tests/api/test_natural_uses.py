"""Data as people have them, beside test_frames.py: read, or refused with the line that makes them readable."""

import decimal
import enum
import gzip
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from tests.api.survey import KEY, survey, table
from tests.cases import for_each


class Sex(enum.Enum):
    FEMALE = "Female"
    MALE = "Male"


def frame(**changes: Any) -> pd.DataFrame:
    return survey().to_pandas().assign(**changes)


def sex(kind: Any) -> pa.Table:
    """The survey with its text in another Arrow type."""
    rows = survey()
    return rows.set_column(rows.column_names.index("sex"), "sex", rows["sex"].cast(kind))


# Each is made in a folder that holds the survey as a.csv, a.csv.gz, a.parquet and in two files of parts/.
READ: dict[str, Callable[[Path], Any]] = {
    "a path": lambda folder: folder / "a.csv",
    "a path as text": lambda folder: str(folder / "a.parquet"),
    "gz": lambda folder: folder / "a.csv.gz",
    "a pattern": lambda folder: str(folder / "parts" / "*.parquet"),
    "a folder": lambda folder: folder / "parts",
    "an Arrow dataset": lambda folder: dataset.dataset(folder / "parts"),
    "a DuckDB relation": lambda _: duckdb.from_arrow(survey()),
    "a reader": lambda _: survey().to_reader(),
    "a record batch": lambda _: survey().combine_chunks().to_batches()[0],
    "chunks": lambda _: pa.concat_tables([survey().slice(0, 50), survey().slice(50)]),
    "a dictionary": lambda _: sex(pa.dictionary(pa.int32(), pa.string())),
    "large text": lambda _: sex(pa.large_string()),
    "text by views": lambda _: sex(pa.string_view()),
    "a lazy frame, collected": lambda folder: pl.scan_parquet(folder / "a.parquet").collect(),
    "categories of numbers": lambda _: frame(age=lambda rows: rows.age.astype("category")),
    "short floats": lambda _: frame(age=lambda rows: rows.age.astype("float32")),
    "very short floats": lambda _: frame(age=lambda rows: rows.age.astype("float16")),
    "unsigned numbers": lambda _: frame(age=lambda rows: rows.age.astype("uint8")),
    "numbers as text": lambda _: frame(age=lambda rows: rows.age.astype(str)),
    "pandas text": lambda _: frame(sex=lambda rows: rows.sex.astype("string")),
    "a nullable truth value that nobody needs": lambda _: frame(x=pd.array([True] * len(survey()), dtype="boolean")),
    "ids that are UUIDs": lambda _: frame(person_id=[uuid.UUID(int=at) for at in range(len(survey()))]),
    "a column of nulls that nobody needs": lambda _: survey().append_column("x", pa.nulls(len(survey()))),
    "a nested column that nobody needs": lambda _: survey().append_column("x", pa.array([{"a": 1}] * len(survey()))),
    "pandas text in Arrow": lambda _: frame(sex=lambda rows: rows.sex.astype("string[pyarrow]")),
    "pandas with Arrow's types": lambda _: frame().convert_dtypes(dtype_backend="pyarrow"),
    "pandas with nullable types": lambda _: frame().convert_dtypes(),
    "an index that repeats": lambda _: frame().set_axis([0] * len(survey())),
    "a named index": lambda _: frame().set_index("sex"),
    "two named indexes": lambda _: frame().set_index(["person_id", "sex"]),
    "rows in another order": lambda _: frame().sample(frac=1, random_state=1),
    "Polars": lambda _: pl.from_arrow(survey()),
    "Polars categories": lambda _: pl.DataFrame(survey()).with_columns(pl.col("sex").cast(pl.Categorical)),
    "a Polars enum": lambda _: pl.DataFrame(survey()).with_columns(pl.col("sex").cast(pl.Enum(["Female", "Male"]))),
    "decimals": lambda _: frame(age=lambda rows: [decimal.Decimal(int(one)) for one in rows.age]),
    "names in capitals beside": lambda _: frame(SEX2="x"),
}
# Each with words of the line that makes it readable.
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a lazy query": (lambda folder: pl.scan_parquet(folder / "a.parquet"), "collect()"),
    "a list of paths": (lambda folder: [folder / "a.parquet"], "pyarrow.dataset.dataset(paths)"),
    "a list of batches": (lambda _: survey().to_batches(), "pyarrow.Table.from_batches(data)"),
    "a scanner": (lambda folder: dataset.dataset(folder / "parts").scanner(), "data.to_reader()"),
    "a dict": (lambda _: survey().to_pydict(), "pandas.DataFrame(data)"),
    "a list of dicts": (lambda _: survey().to_pylist(), "pandas.DataFrame(data)"),
    "an array": (lambda _: frame().to_numpy(), "pandas.DataFrame(data, columns=[...])"),
    "a recarray": (lambda _: frame().to_records(), "pandas.DataFrame(data, columns=[...])"),
    "a Series": (lambda _: frame()["sex"], "Pass a DataFrame"),
    "a Polars Series": (lambda _: pl.from_arrow(survey())["sex"], "Pass a DataFrame"),  # type: ignore[index]
    "groups": (lambda _: frame().groupby("sex"), "DataFrame"),
    "a generator": (lambda _: (one for one in [1]), "DataFrame"),
    "a number": (lambda _: 3, "DataFrame"),
    "a connection": (lambda _: duckdb.connect(), "DuckDB relation"),
    "an address": (lambda _: "https://example.org/a.csv", "Download"),
    "a bucket": (lambda _: "s3://bucket/a.parquet", "Download"),
    "no such file": (lambda folder: folder / "no.csv", "Check the path"),
    "a format by no name": (lambda folder: folder / "a.feather", "format="),
    "nothing": (lambda _: None, "pass the data"),
    "members of an enum": (
        lambda _: frame(sex=lambda rows: [Sex(one) for one in rows.sex]),
        "frame['sex'] = frame['sex'].map(lambda one: getattr(one, \"value\", one))",
    ),
    "intervals": (lambda _: frame(age=lambda rows: pd.cut(rows.age, [-1, 50, 200])), "frame['age'].astype(str)"),
    "truth values for labels": (lambda _: frame(sex=lambda rows: rows.sex == "Female"), "Declare other"),
    "endless numbers": (lambda _: frame(age=float("inf")), "Declare other"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, rows = tmp_path_factory.mktemp("uses"), frame()
    (made / "parts").mkdir()
    rows.to_csv(made / "a.csv", index=False)
    rows.to_parquet(made / "a.parquet")
    rows.iloc[:100].to_parquet(made / "parts" / "1.parquet")
    rows.iloc[100:].to_parquet(made / "parts" / "2.parquet")
    (made / "a.csv.gz").write_bytes(gzip.compress((made / "a.csv").read_bytes()))
    (made / "a.feather").write_bytes(b"ARROW1")
    return made


@for_each("name", READ)
def test_what_people_have_is_read(name: str, folder: Path) -> None:
    done = cb.release(READ[name](folder), table(), key=KEY, ledger=None, figures=False)
    assert len(done.data) > 0


def test_the_uses_are_many() -> None:
    assert len(READ) + len(REFUSED) >= 59


def typed_frame() -> pd.DataFrame:
    """A frame with a column of every type that labels come back in."""
    places = np.arange(300)
    return pd.DataFrame(
        {
            "id": places,
            "flag": places % 2 == 0,
            "grade": places % 3 + 1,
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(places % 2, unit="D"),
            "age": places % 60,
            "sex": np.array(["f", "m"])[places % 2],
        }
    )


TYPED = {
    "flag": cb.values("true", "false"),
    "grade": cb.values("1", "2", "3"),
    "day": cb.date("day", "2024-01-01", "2024-01-03"),
    "age": cb.intervals(0, 60, width=20),
    "sex": cb.values("f", "m"),
}
# The type of every column, as each package says it, in the order of TYPED.
_AGES = ["[0, 20)", "[20, 40)", "[40, 60)"]
TYPES: dict[str, tuple[Callable[[pd.DataFrame], Any], Callable[[Any, str], Any], list[Any]]] = {
    "pandas": (
        lambda frame: frame,
        lambda frame, name: frame[name].dtype,
        [
            *("bool", "int64", "datetime64[us]"),
            pd.CategoricalDtype(pd.Index(_AGES, dtype="str"), ordered=True),
            pd.CategoricalDtype(pd.Index(["f", "m"], dtype="str")),
        ],
    ),
    "Polars": (
        pl.from_pandas,
        lambda frame, name: frame.schema[name],
        [pl.Boolean, pl.Int64, pl.Date, pl.Enum(_AGES), pl.Enum(["f", "m"])],
    ),
    "Arrow": (
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda table, name: table.schema.field(name).type,
        [
            *(pa.bool_(), pa.int64(), pa.date32()),
            pa.dictionary(pa.int32(), pa.string(), ordered=True),
            pa.dictionary(pa.int32(), pa.string()),
        ],
    ),
}


@for_each("package", TYPES)
def test_labels_come_back_in_the_type_of_what_they_stand_for(package: str) -> None:
    make, type_of, types = TYPES[package]
    data, expected = make(typed_frame()), dict(zip(TYPED, types, strict=True))
    terms: Any = {"person": "id", "sampling": cb.Everybody(), "epsilon": 5.0, "columns": TYPED}
    policy = cb.Policy(**terms, publish=[cb.Table(one, name=f"by_{one}") for one in TYPED])
    done = cb.release(data, policy, ledger=None, figures=False)
    frames = {"recoded": policy.recode(data), "synthetic": done.synthesize(20).data}
    for one in TYPED:
        by = done[f"by_{one}"]
        frames |= {
            f"{one}: data": by.data,
            f"{one}: estimates": by.estimates(),
            f"{one}: ends": by.estimates(intervals=True),
        }
    for name, frame in frames.items():
        for column in [name.partition(":")[0]] if ":" in name else TYPED:
            assert type_of(frame, column) == expected[column], (name, column)


@for_each("column", ["age_from", "age_to", "age_interval"])
def test_ends_of_classes_overwrite_no_column_of_the_data(column: str) -> None:
    data = typed_frame().assign(**{column: "a"})
    columns = {"age": TYPED["age"], column: cb.values("a", "b")}
    policy = cb.Policy(person="id", sampling=cb.Everybody(), epsilon=5.0, columns=columns, publish=cb.Table())
    for one in (data, pl.from_pandas(data)):
        done = cb.release(one, policy, ledger=None, figures=False)
        assert column in done.estimates().columns
        with pytest.raises(CrowdblendError, match=f"column '{column}', which is one of the data"):
            done.estimates(intervals=True)
    alone = policy.replace(publish=cb.Table(column))
    assert column in cb.release(data, alone, ledger=None, figures=False).estimates(intervals=True).columns


@for_each("name", REFUSED)
def test_or_refused_with_the_line_that_makes_it_readable(name: str, folder: Path) -> None:
    make, line = REFUSED[name]
    with pytest.raises(CrowdblendError) as caught:
        cb.release(make(folder), table(), key=KEY, ledger=None, figures=False)
    assert line in str(caught.value)
    assert caught.value.remedy

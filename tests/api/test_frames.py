"""Frames as people have them: each is released as the same rows from Parquet are, or refused in one sentence."""

import datetime
import decimal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import crowdblend as cb
from crowdblend.errors import InvalidInput
from tests.api.survey import KEY, PEOPLE, survey, table
from tests.cases import for_each, some_daily

DAYS = [datetime.datetime(2020 + at % 2, 1, 1, 23, 30) for at in range(PEOPLE)]


def pandas(**changes: Any) -> pd.DataFrame:
    """The survey in pandas, with other columns."""
    frame = survey().to_pandas()
    for name, values in changes.items():
        frame[name] = values
    return frame


def arrow(**changes: Any) -> pa.Table:
    """The survey in Arrow, with other columns."""
    rows = survey()
    for name, values in changes.items():
        rows = rows.drop_columns([name]) if name in rows.column_names else rows
        rows = rows.append_column(name, values)
    return rows


def sexes() -> list[str]:
    return list(survey()["sex"].to_pylist())


def ages() -> np.ndarray:
    return np.asarray(survey()["age"].to_numpy())


BORN = {"columns": {"born": cb.date("year", "2020-01-01", "2023-01-01")}}
YEAR = {"columns": {"born": cb.prefix(4)}}
ZONED = pd.to_datetime(DAYS).tz_localize("America/New_York")
PAY = {"columns": {"pay": cb.breaks(0, 1, 2, top=True)}}
TEXT = {"columns": {"sex": cb.values("Female", "Male", missing="none")}}

# How the frame is made, and what is different about the policy.
RELEASED: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "categorical": (lambda: pandas(sex=pd.Categorical(sexes())), {}),
    "ordered categorical": (lambda: pandas(age=pd.Categorical(ages(), ordered=True)), {}),
    "nullable whole numbers": (lambda: pandas(age=pd.array(ages(), dtype="Int16")), {}),
    "nullable numbers": (lambda: pandas(pay=pd.array(ages() / 7, dtype="Float64")), PAY),
    "Arrow-backed text": (lambda: pandas(sex=pd.array(sexes(), dtype=pd.ArrowDtype(pa.string()))), {}),
    "Python text": (lambda: pandas(sex=np.array(sexes(), dtype=object)), {}),
    "missing text": (lambda: pandas(sex=np.array([None, *sexes()[1:]], dtype=object)), TEXT),
    "NaN in text": (lambda: pandas(sex=np.array([np.nan, *sexes()[1:]], dtype=object)), TEXT),
    "sparse": (lambda: pandas(pay=pd.arrays.SparseArray((ages() % 2).astype(float))), PAY),
    "days and times": (lambda: pandas(born=DAYS), BORN),
    "days in seconds": (lambda: pandas(born=np.array(DAYS, dtype="datetime64[s]")), BORN),
    "days in nanoseconds": (lambda: pandas(born=np.array(DAYS, dtype="datetime64[ns]")), BORN),
    "Python dates": (lambda: pandas(born=[day.date() for day in DAYS]), BORN),
    "decimals": (lambda: pandas(pay=[decimal.Decimal(int(age) % 3) / 2 for age in ages()]), PAY),
    "whole numbers as floats": (lambda: pandas(person_id=np.arange(PEOPLE, dtype=float)), {}),
    "texts as persons": (lambda: pandas(person_id=[f"p{at}" for at in range(PEOPLE)]), {}),
    "named index": (lambda: pandas().set_index("person_id"), {}),
    "two index levels": (lambda: pandas().set_index(["person_id", "sex"]), {}),
    "shuffled index": (lambda: pandas().sample(frac=1, random_state=1), {}),
    "column names that are no text": (lambda: pandas().assign(**{"x": 1}).rename(columns={"x": 7}), {}),
    "a mixed column that nobody needs": (lambda: pandas(notes=[1, "x"] * (PEOPLE // 2)), {}),
    "a duration that nobody needs": (lambda: pandas(notes=pd.to_timedelta(ages(), unit="D")), {}),
    "Polars categorical": (lambda: pl.from_arrow(survey()).with_columns(pl.col("sex").cast(pl.Categorical)), {}),
    "Polars enum": (lambda: pl.from_arrow(survey()).with_columns(pl.col("sex").cast(pl.Enum(["Male", "Female"]))), {}),
    "Polars decimal": (
        lambda: pl.from_arrow(survey()).with_columns(pay=(pl.col("age") % 3).cast(pl.Decimal(10, 2))),
        PAY,
    ),
    "a slice": (lambda: pa.concat_tables([survey(), survey()]).slice(PEOPLE // 2, PEOPLE), {}),
    "a list that nobody needs": (lambda: arrow(notes=pa.array([[1]] * PEOPLE)), {}),
}


def as_parquet(frame: Any, path: Path) -> Path:
    if isinstance(frame, pd.DataFrame):
        frame = frame.loc[:, [name for name in frame.columns if name not in ("notes", 7)]]
        frame = pa.Table.from_pandas(frame.astype({name: float for name in frame if str(frame[name].dtype) == "float16"
                                                   or str(frame[name].dtype).startswith("Sparse")}),
                                    preserve_index=None not in frame.index.names)  # fmt: skip
    elif isinstance(frame, pl.DataFrame):
        frame = frame.to_arrow()
    elif isinstance(frame, duckdb.DuckDBPyRelation):
        frame = survey()
    parquet.write_table(frame, path)
    return path


@pytest.mark.parametrize("case", some_daily(RELEASED, 12))
def test_released_as_from_parquet(case: str, tmp_path: Path) -> None:
    make, changes = RELEASED[case]
    policy = table(**changes)
    done = cb.release(make(), policy, key=KEY, ledger=None)
    path = as_parquet(make(), tmp_path / "rows.parquet")
    expected = cb.release(path, policy, key=KEY, ledger=None)
    assert done.files is not None
    assert expected.files is not None
    assert done.files["data.parquet"] == expected.files["data.parquet"]
    assert done.certificate == expected.certificate
    assert len(done.data) > 0
    # Frames come back as what came in.
    came_in = type(make())
    assert isinstance(done.data, came_in if came_in.__module__.startswith(("pandas", "polars")) else pa.Table)


def twice() -> pd.DataFrame:
    frame = pandas()
    frame.columns = pd.Index(["person_id", "sex", "sex"])
    return frame


def two_levels() -> pd.DataFrame:
    frame = pandas()
    frame.columns = pd.MultiIndex.from_product([["a"], frame.columns])
    return frame


REFUSED: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "days with a zone": (lambda: pandas(born=ZONED), BORN, "data.zoned-column"),
    "first characters of days with a zone": (lambda: pandas(born=ZONED), YEAR, "data.zoned-column"),
    "Polars days with a zone": (lambda: pl.from_pandas(pandas(born=ZONED)), BORN, "data.zoned-column"),
    "Polars objects": (
        lambda: pl.from_arrow(survey()).with_columns(person_id=pl.Series([object()] * PEOPLE, dtype=pl.Object)),
        {},
        "data.column-type",
    ),
    "Polars numbers of 128 bits": (
        lambda: pl.from_arrow(survey()).with_columns(pl.col("person_id").cast(pl.Int128)),
        {},
        "data.column-type",
    ),
    "a list": (lambda: [1, 2], {}, "data.type"),
    "a dictionary": (lambda: {"person_id": [1]}, {}, "data.type"),
    "a Series": (lambda: pandas()["age"], {}, "data.type"),
    "a lazy frame": (lambda: pl.from_arrow(survey()).lazy(), {}, "data.type"),
    "bytes": (lambda: b"rows.parquet", {}, "data.type"),
    "two columns of one name": (twice, {}, "data.repeated-column"),
    "Arrow columns of one name": (lambda: pa.table([[1], [2]], names=["a", "a"]), {}, "data.repeated-column"),
    "an index called as a column": (lambda: pandas().rename_axis("sex"), {}, "data.repeated-column"),
    "two levels of names": (two_levels, {}, "data.column-names"),
    "mixed values": (lambda: pandas(sex=[1, "x"] * (PEOPLE // 2)), {}, "data.column-type"),
    "bytes and text": (lambda: pandas(sex=[b"x", "x"] * (PEOPLE // 2)), {}, "data.column-type"),
    "complex numbers": (lambda: pandas(age=ages() * 1j), {}, "data.column-type"),
    "periods": (lambda: pandas(age=pd.period_range("2000", periods=PEOPLE, freq="D")), {}, "data.column-type"),
    "intervals": (lambda: pandas(age=pd.interval_range(0, PEOPLE)), {}, "data.column-type"),
    "durations": (lambda: pandas(age=pd.to_timedelta(ages(), unit="D")), {}, "data.column-type"),
    "an unreadable column where rows are people": (
        lambda: pandas(notes=[1, "x"] * (PEOPLE // 2)),
        {"person": None, "rows_are_people": True},
        "data.column-type",
    ),
    "no such column": (lambda: pandas().drop(columns="age"), {}, "data.missing-column"),
    "another case": (lambda: pandas().rename(columns={"age": "Age"}), {}, "data.missing-column"),
    "an unnamed index for persons": (lambda: pandas().drop(columns="person_id"), {}, "data.missing-column"),
    "no rows": (lambda: pandas().iloc[:0], {}, "data.no-rows"),
    "persons without a number": (lambda: pandas(person_id=[np.nan, *range(PEOPLE - 1)]), {}, "data.missing-person"),
    "nullable persons": (
        lambda: pandas(person_id=pd.array([None, *range(PEOPLE - 1)], dtype="Int64")),
        {},
        "data.missing-person",
    ),
    "blank persons": (lambda: pandas(person_id=["", *map(str, range(PEOPLE - 1))]), {}, "data.missing-person"),
    "persons twice": (lambda: pd.concat([pandas(), pandas()]), {}, "data.repeated-person"),
    "lists": (lambda: arrow(age=pa.array([[1]] * PEOPLE)), {}, "data.nested-column"),
    "missing values without a class": (
        lambda: pandas(sex=np.array([None] * PEOPLE, dtype=object)),
        {},
        "data.outside-domain",
    ),
    "values outside the domain": (lambda: pandas(sex=["other"] * PEOPLE), {}, "data.outside-domain"),
}


@for_each("case", REFUSED)
def test_refused_in_one_sentence_and_nothing_is_recorded(case: str, tmp_path: Path) -> None:
    make, changes, code = REFUSED[case]
    ledger = cb.Ledger(tmp_path / "ledger.db")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a new ledger is worth a warning
        with pytest.raises(InvalidInput) as refused:
            cb.release(make(), table(**changes), out=tmp_path / "out", ledger=ledger)
    assert refused.value.code == code
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ledger.db").exists() or not ledger.entries()


def test_no_value_is_shown() -> None:
    frame = pandas(sex=["a secret value", 7] * (PEOPLE // 2))
    with pytest.raises(InvalidInput) as refused:
        cb.release(frame, table(), ledger=None)
    assert "secret" not in str(refused.value)


def test_a_reader_is_read_once_and_everybody_counts() -> None:
    """A duplicate at the end of a stream is found, although the stream is gone by then."""
    rows = pa.concat_tables([survey(), survey().slice(0, PEOPLE)])
    with pytest.raises(InvalidInput, match="person"):
        cb.release(rows.to_reader(max_chunksize=50), table(), ledger=None)
    again = survey().to_reader(max_chunksize=50)
    cb.release(again, table(), ledger=None)
    with pytest.raises(InvalidInput):
        cb.release(again, table(), ledger=None)  # it has no rows left


def test_a_table_is_not_copied() -> None:
    rows = survey(200_000)
    before = pa.total_allocated_bytes()
    from crowdblend.sources.engines.frames import opened_frame

    with opened_frame(rows) as frame:
        assert frame.table.num_rows == 200_000
        assert pa.total_allocated_bytes() - before < rows.nbytes / 4

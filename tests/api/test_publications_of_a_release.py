"""Publications by their names, in the declared order, as frames whose labels have their own types."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import ClosedRecoding, WiderClasses
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Values
from crowdblend.reading.data_frames import TableForm, label_type
from tests.cases import for_each

PEOPLE = 400
COLUMNS = {
    "member": cb.values(True, False),
    "rank": cb.values(1, 2, 3),
    "visits": cb.intervals(0, 4, width=1, whole=True),
    "age": cb.intervals(0, 120, width=20),
    "born": cb.date("day", "2020-01-01", "2020-01-04"),
    "area": cb.values("2", "10", "1"),
}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "id": np.arange(PEOPLE),
            "member": draw.random(PEOPLE) < 0.4,
            "rank": draw.integers(1, 4, PEOPLE),
            "visits": draw.integers(0, 4, PEOPLE),
            "age": draw.integers(0, 120, PEOPLE),
            "born": pd.to_datetime("2020-01-01") + pd.to_timedelta(draw.integers(0, 3, PEOPLE), unit="D"),
            "area": draw.choice(["1", "2", "10"], PEOPLE),
        }
    )


def policy(**changes: object) -> cb.Policy:
    publish = [
        cb.Table("member", "rank", name="z_members"),
        cb.Table("age", "area", name="a_age"),
        cb.Table("visits", "born", name="m"),
    ]
    given = {"person": "id", "sampling": cb.Everybody(), "epsilon": 8.0, "columns": COLUMNS, "publish": publish}
    return cb.Policy(**{**given, **changes})


@pytest.fixture(scope="module")
def done(people: pd.DataFrame) -> cb.Release:
    return cb.release(people, policy(), ledger=None)


def test_the_first_declared_publication_is_the_first_everywhere(done: cb.Release, tmp_path: Path) -> None:
    """The names are in no order that sorting would give."""
    names = ["z_members", "a_age", "m"]
    assert list(done) == list(done.tables) == names
    assert list(done.data.columns)[:2] == list(done.estimates().columns)[:2] == ["member", "rank"]
    folder = cb.read(done.save(tmp_path / "out"))
    assert list(folder) == list(folder.files) == names
    assert folder.data.column_names[:2] == folder.estimates().column_names[:2] == ["member", "rank"]


def test_one_publication_by_its_name(done: cb.Release, tmp_path: Path) -> None:
    one = done["a_age"]
    pd.testing.assert_frame_equal(one.data, done.tables["a_age"])
    pd.testing.assert_frame_equal(one.estimates(), done.estimates(table="a_age"))
    assert one.estimates(margin="area")["area"].tolist() == ["2", "10", "1"]
    folder = cb.read(done.save(tmp_path / "out"), frames="pandas")
    pd.testing.assert_frame_equal(folder["a_age"].estimates(), one.estimates())
    assert folder["a_age"].plot() == one.plot() != done.plot()
    assert one.plot().save(tmp_path / "age.svg").read_text(encoding="utf-8").startswith("<svg xmlns=")
    for source in (done, folder):
        with pytest.raises(InvalidInput, match=r"no table 'age'\. Its tables are z_members, a_age, m\."):
            source["age"]
    with pytest.raises(InvalidInput, match=r"does not end in \.svg"):
        one.plot().save(tmp_path / "age.png")


def test_a_single_publication_has_its_name_too(people: pd.DataFrame) -> None:
    single = cb.release(people, policy(publish=cb.Table("age", name="ages")), ledger=None)
    pd.testing.assert_frame_equal(single["ages"].data, single.data)
    pd.testing.assert_frame_equal(single["data"].data, single.data)


def test_labels_have_the_types_of_the_data(done: cb.Release, people: pd.DataFrame) -> None:
    """So that estimates can be merged with the truth as it is."""
    members, ages, visits = done["z_members"].estimates(), done["a_age"].data, done["m"].data
    assert members.dtypes[["member", "rank"]].tolist() == [bool, np.int64]
    assert visits["visits"].dtype == np.int64
    assert visits["born"].dtype.kind == "M"
    assert ages["age"].cat.ordered
    assert not ages["area"].cat.ordered
    truth = people.groupby(["member", "rank"]).size().rename("truth").reset_index()
    both = members.merge(truth, on=["member", "rank"])
    assert len(both) == 6
    # At ε = 8 noise of 20 and more has probability below 1e-20 in all cells together.
    assert (both["estimate"] - both["truth"]).abs().max() < 20
    assert ages["age"].sort_values().unique().tolist() == [f"[{low}, {low + 20})" for low in range(0, 120, 20)]


def test_polars_and_arrow_have_the_same_types(people: pd.DataFrame, done: cb.Release, tmp_path: Path) -> None:
    made = cb.release(pl.from_pandas(people), policy(), ledger=None)
    members, ages, visits = (made[name].estimates() for name in made)
    assert members.schema["member"] == pl.Boolean
    assert members.schema["rank"] == visits.schema["visits"] == pl.Int64
    assert visits.schema["born"] == pl.Date
    labels = [f"[{low}, {low + 20})" for low in range(0, 120, 20)]
    assert ages["age"].sort().unique(maintain_order=True).to_list() == labels
    folder = cb.read(done.save(tmp_path / "out"))
    schema = folder["z_members"].data.schema
    # A folder does not say whether listed numbers are names.
    assert schema.field("member").type == pa.bool_()
    assert pa.types.is_dictionary(schema.field("rank").type)
    with pytest.raises(InvalidInput, match="frames takes arrow, pandas or polars"):
        cb.read(tmp_path / "out", frames="numpy")  # type: ignore[call-overload]


def test_listed_numbers_of_a_column_of_texts_stay_texts(done: cb.Release) -> None:
    assert done["a_age"].data["area"].cat.categories.tolist() == ["2", "10", "1"]


def test_blanks_leave_whole_numbers_whole(people: pd.DataFrame) -> None:
    one = policy(sampling=cb.Poisson(0.5), delta=1e-3, epsilon=1.0, publish=cb.Table("age", "area"))
    found = cb.release(people, one, ledger=None).estimates()
    assert found["sampled"].isna().any()
    assert str(found["sampled"].dtype) == "Int64"


_WHOLE = {"recoding": "intervals", "labels": ("0", "1"), "start": 0, "to": 2, "width": 1, "whole": True}


@for_each(
    ("domain", "kind"),
    [
        (_WHOLE, pa.int64()),
        ({**_WHOLE, "width": 2}, None),
        ({**_WHOLE, "whole": False}, None),
        ({**_WHOLE, "top": True}, None),
        ({**_WHOLE, "bottom": True}, None),
        ({**_WHOLE, "include_to": True}, None),
        ({**_WHOLE, "join": 2}, None),
        ({**_WHOLE, "missing": "none"}, None),
        ({"recoding": "values", "labels": ("true", "false"), "other": "unknown"}, None),
        ({"recoding": "values", "labels": ("true", "maybe")}, None),
        ({"recoding": "values", "labels": ("1", "2")}, pa.int64()),
        ({"recoding": "values", "labels": ("01", "2")}, None),
        ({"recoding": "dates", "period": "day"}, pa.date32()),
        ({"recoding": "dates", "period": "year"}, None),
        ({"recoding": "prefix", "length": 1}, None),
    ],
)  # fmt: skip
def test_labels_that_are_one_value_each(domain: dict, kind: pa.DataType | None) -> None:
    assert label_type(Domain(**domain), whole=True) == kind


def test_statistics_have_a_column_for_each_group(people: pd.DataFrame, tmp_path: Path) -> None:
    publish = cb.Statistics(
        cb.average("age", by=["member", "area"], name="mean"),
        cb.count({"member": True}, by="rank"),
        cb.histogram("area"),
    )
    done = cb.release(people, policy(publish=publish, people=PEOPLE), out=tmp_path / "out", ledger=None)
    assert cb.verify(tmp_path / "out") == done.certificate
    found = done.estimates()
    assert list(found.columns) == ["statistic", "member", "area", "rank", "estimate", "low", "high"]
    assert found.dtypes[["member", "rank"]].map(str).tolist() == ["boolean", "Int64"]
    means = found[found.statistic == "mean"]
    assert means.groupby(["member", "area"], observed=True).size().tolist() == [1] * 6
    assert means["rank"].isna().all()
    assert found.groupby("statistic").size().tolist() == [3, 3, 6]
    named = {**COLUMNS, "value": cb.values("a", "b")}
    with pytest.raises(InvalidInput, match="has the name of a column that the published data have of their own"):
        policy(columns=named, publish=cb.Statistics(cb.histogram("value")), people=PEOPLE)


def test_synthetic_rows_come_first_and_make_rows_of_any_release(people: pd.DataFrame) -> None:
    one = policy(columns={name: COLUMNS[name] for name in ("member", "rank", "age")}, publish=cb.Synthetic(rows=200))
    done = cb.release(people, one, ledger=None)
    assert next(iter(done)) == "synthetic"
    assert len(done.data) == len(done["synthetic"].data) == 200
    assert done.data.dtypes[["member", "rank"]].tolist() == [bool, np.int64]
    tables = cb.release(people, policy(publish=cb.Table("member", "rank")), ledger=None)
    rows = tables.synthesize(50)
    assert rows.data.dtypes.tolist() == [bool, np.int64]
    assert len(rows.data) == cb.synthesize(tables, rows=50).data.num_rows == 50


def test_columns_that_no_publication_uses_are_not_read(people: pd.DataFrame) -> None:
    """A code book that several policies share: a column that is not in the data is no mistake while nobody uses it."""
    shared = {**COLUMNS, "elsewhere": cb.values("a")}
    one, other = (
        cb.release(people, policy(columns=columns, publish=cb.Table("age")), key=bytes(32), ledger=None)
        for columns in (shared, COLUMNS)
    )
    assert one.certificate == other.certificate
    assert next(iter(one.data.columns)) == "age"


def test_another_design_needs_no_other_budget() -> None:
    sampled = policy(sampling=cb.Poisson(0.5), delta=1e-6, publish=cb.Table("age"))
    register = sampled.replace(sampling=cb.Everybody())
    assert {one.delta for one in register.plan().guarantees if hasattr(one, "delta")} == {0.0}
    programme = policy(sampling=cb.Poisson(0.5), delta=1e-6).replace(sampling=cb.Everybody())
    assert programme.plan().guarantees
    with pytest.raises(InvalidInput, match="delta"):
        sampled.replace(sampling=cb.Everybody(), delta=1e-6)


def test_classes_by_their_ends(people: pd.DataFrame, done: cb.Release) -> None:
    found = done["a_age"].estimates(intervals=True)
    assert found["age_interval"].dtype == pd.IntervalDtype("float64", closed="left")
    assert 45 in found["age_interval"].iloc[6]
    assert [found[name].dtype for name in ("area", "age")] == ["category", "category"]
    assert list(found.columns)[:3] == ["age", "age_interval", "area"]
    arrow = replace(done, form=TableForm())["a_age"].estimates(intervals=True)
    assert arrow.column_names[:4] == ["age", "age_from", "age_to", "area"]
    assert set(zip(*(arrow[name].to_pylist() for name in ("age_from", "age_to")), strict=True)) == {
        (low, low + 20) for low in range(0, 120, 20)
    }


def test_intervals_hold_what_their_classes_do(people: pd.DataFrame) -> None:
    """The last one its upper end, where that belongs to it; classes that are no intervals keep their labels."""
    ages = cb.intervals(0, 60, width=30, include_to=True, other="older", missing="not said")
    made = policy(columns={"age": ages}, publish=cb.Table("age"))
    found = cb.release(people, made, ledger=None).estimates(intervals=True)
    rows = dict(zip(found["age"], found["age_interval"], strict=True))
    assert list(rows) == ["[0, 30)", "[30, 60]", "older", "not said"]
    assert [[age in rows[label] for age in (0, 29.9, 30, 60, 60.1)] for label in list(rows)[:2]] == [
        [True, True, False, False, False],
        [False, False, True, True, False],
    ]
    assert found["age_interval"].isna().tolist() == [False, False, True, True]


@for_each(
    ("recoding", "ends"),
    [
        (Intervals(0, 30, 10), [(0, 10), (10, 20), (20, 30)]),
        (Intervals(Decimal("0.1"), Decimal("0.4"), Decimal("0.1")), [(0.1, 0.2), (0.2, 0.3), (0.3, 0.4)]),
        (Intervals(0, 10, 10, bottom=True, top=True, missing="?"), [(None, 0), (0, 10), (10, None), (None, None)]),
        (Breaks((0, 5, 50), top=True, other="x"), [(0, 5), (5, 50), (50, None), (None, None)]),
        (WiderClasses(Intervals(0, 50, 10), 2), [(0, 20), (20, 40), (40, 50)]),
        (WiderClasses(Intervals(0, 40, 10), 2), [(0, 20), (20, 40)]),
        (Values(("a", "b")), None),
    ],
)  # fmt: skip
def test_ends_of_classes(recoding: ClosedRecoding, ends: list | None) -> None:
    domain = recoding.domain()
    assert domain.class_ends == (None if ends is None else tuple(ends))
    assert ends is None or len(ends) == len(domain.labels)

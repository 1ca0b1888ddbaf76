"""The private check: what does not fit, and how often; nothing of it anywhere else."""

import json
import stat
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.sources.checking.check import FOR_YOU_ALONE, Check
from tests.commands import crowdblend

_ROWS = [
    *({"id": f"p{n}", "sex": "Female", "age": str(n % 11), "born": "2001-02-03", "pay": "10"} for n in range(90)),
    *({"id": f"q{n}", "sex": "Male", "age": "11", "born": "03.02.2001", "pay": "1500"} for n in range(6)),
    {"id": "p1", "sex": "female", "age": "", "born": "1999-01-01", "pay": ""},
    {"id": "P2", "sex": "X", "age": "3.5", "born": "2001-02-04", "pay": "many"},
]
_POLICY = cb.Policy(
    person="id",
    population="town",
    sampling=cb.Poisson(0.5),
    epsilon=1.0,
    delta=1e-6,
    columns={
        "sex": cb.values("Female", "Male", "Divers"),
        "age": cb.intervals(0, 11, width=1, whole=True),
        "born": cb.date("year", "2000", "2010"),
        "pay": cb.breaks(0, 1000, 2000, other="unknown", missing="blank"),
    },
    publish=cb.Table("sex", "age", "born", "pay"),
)


@pytest.fixture(scope="module")
def found() -> Check:
    return cb.check(pd.DataFrame(_ROWS), _POLICY)


def _column(found: Check, name: str):
    return next(column for column in found.columns if column.name == name)


def test_every_column_says_which_values_do_not_fit_and_how_often(found: Check) -> None:
    sex, age, born, pay = (_column(found, name) for name in ("sex", "age", "born", "pay"))
    assert [(one.value, one.rows, one.near) for one in sex.values] == [("X", 1, None), ("female", 1, "Female")]
    assert sex.unused == ("Divers",)
    assert (age.blank, age.outside) == (1, 7)
    assert [(one.value, one.rows) for one in age.values] == [("11", 6), ("3.5", 1)]
    assert born.outside == 7
    assert [(one.value, one.rows) for one in born.forms] == [("9999-99-99", 92), ("99.99.9999", 6)]
    assert born.hint == 'Add `data.date_format = "%d.%m.%Y"`'
    assert (pay.outside, pay.outside_becomes, pay.blank_becomes) == (
        1,
        "published as 'unknown'",
        "published as 'blank'",
    )
    assert found.misfits == ("id", "sex", "age", "born")


def test_notations_are_proposed_where_most_values_have_them() -> None:
    pays = [*(f"{n}.765,9{n}" for n in range(1, 10)), *(f"{n}65,94" for n in range(1, 10)), "k. A."]
    sexes = ["Female", "female", "FEMALE", "male "] * 5
    rows = [{**_ROWS[n], "pay": pay, "sex": sexes[n]} for n, pay in enumerate(pays)]
    columns = {"sex": cb.values("Female", "Male"), "pay": cb.breaks(0, 10_000)}
    found = cb.check(pd.DataFrame(rows), _POLICY.replace(columns=columns, publish=cb.Table("sex", "pay")))
    assert _column(found, "pay").hint == 'Add `data.decimal = ","` and `data.thousands = "."`, which reads most of them'
    hint = _column(found, "sex").hint
    assert "upper and lower case and spaces around them alone" in hint
    assert "declare each once" in hint


def test_people_with_several_rows_are_named_and_counted(found: Check) -> None:
    person = found.person
    assert person is not None
    assert (person.people, person.repeated, person.repeated_rows, person.alike) == (97, 1, 2, 1)
    assert [(one.value, one.rows) for one in person.most] == [("p1", 2)]
    assert not person.row_numbers


def test_what_a_notebook_keeps_has_no_value_and_no_count(found: Check) -> None:
    assert repr(found) == (
        "Check(A release of The pandas DataFrame would be refused for 'id', 'sex', 'age', 'born'. "
        "describe() shows values and counts, for you alone.)"
    )
    assert found.describe().startswith(FOR_YOU_ALONE)
    assert "'female'" in found.describe()
    assert json.loads(json.dumps(found.to_dict()))["columns"][0]["different"] == 2


def _written(folder: Path, rows: list[dict[str, str]], **changes: object) -> Path:
    pd.DataFrame(rows).to_csv(folder / "people.csv", index=False)
    policy = _POLICY.replace(source="people.csv", **changes)
    (folder / "policy.toml").write_text(policy.to_toml())
    return folder / "policy.toml"


def test_the_command_shows_columns_alone_where_nobody_watches(tmp_path: Path) -> None:
    policy = _written(tmp_path, _ROWS)
    done = crowdblend("check", policy, folder=tmp_path)
    assert done.returncode == 1
    assert "would be refused for 'id', 'sex', 'age', 'born'" in done.stdout
    assert not any(secret in done.stdout + done.stderr for secret in ("female", "3.5", "p1", "98", "many"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["people.csv", "policy.toml"]


def test_a_file_of_it_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    policy, out = _written(tmp_path, _ROWS), tmp_path / "mine.txt"
    out.write_text("older")
    assert "--force" in crowdblend("check", policy, "--out", out).stderr
    assert crowdblend("check", policy, "--out", out, "--force").returncode == 1
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert out.read_text().startswith(FOR_YOU_ALONE)
    assert crowdblend("check", policy, "--out", "-").stdout == out.read_text()


def test_json_is_one_object(tmp_path: Path) -> None:
    done = crowdblend("check", _written(tmp_path, _ROWS), "--json")
    assert json.loads(done.stdout)["person"]["repeated"] == 1
    assert done.returncode == 1


def test_rows_that_fit_end_with_0_and_are_released(tmp_path: Path) -> None:
    done = crowdblend("check", policy := _written(tmp_path, _ROWS[:89]), "--json")
    assert (done.returncode, json.loads(done.stdout)["fits"]) == (0, True)
    crowdblend("ledger", "init", tmp_path / "ledger.db")
    arguments = ("--yes", "--no-figures", "--ledger", tmp_path / "ledger.db", "--out", tmp_path / "out")
    assert crowdblend("release", policy, *arguments).returncode == 0


def test_a_refusal_of_a_column_points_to_the_check_without_a_value(tmp_path: Path) -> None:
    crowdblend("ledger", "init", tmp_path / "ledger.db")
    policy = _written(tmp_path, [{**row, "id": str(at)} for at, row in enumerate(_ROWS)], sampling=cb.Poisson(0.99))
    done = crowdblend("release", policy, "--yes", "--ledger", tmp_path / "ledger.db", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "crowdblend check" in done.stderr
    assert "female" not in done.stderr


def test_ids_that_number_the_rows_are_told() -> None:
    rows = pd.DataFrame([{**row, "id": at + 1} for at, row in enumerate(_ROWS)])
    found = cb.check(rows, _POLICY)
    assert found.person is not None
    assert found.person.row_numbers
    assert 'ids="table"' in found.describe()
    assert 'ids="table"' not in cb.check(rows, _POLICY.replace(ids="table")).describe()


@pytest.mark.parametrize("form", ["parquet", "duckdb", "arrow"])
def test_every_source_says_the_same(found: Check, form: str, tmp_path: Path) -> None:
    frame, data, more = pd.DataFrame(_ROWS), tmp_path / f"people.{form}", {}
    if form == "parquet":
        frame.to_parquet(data)
    elif form == "duckdb":
        with duckdb.connect(str(data)) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM frame")
        more = {"table": "people"}
    policy = _POLICY.replace(source=str(data), **more) if form != "arrow" else _POLICY
    other = cb.check(None if form != "arrow" else frame.convert_dtypes(dtype_backend="pyarrow"), policy)
    assert (other.columns, other.person) == (found.columns, found.person)


def test_moments_with_a_time_zone_do_not_fit_whatever_takes_other_texts() -> None:
    columns = {"born": cb.date("year", "2000", "2010", other="unknown")}
    for texts, becomes in (
        (["2001-02-03", "long ago"], "published as 'unknown'"),
        (["2001-02-03", "2001-12-31T23:30:00-05:00"], None),
    ):
        frame = pd.DataFrame({"id": ["a", "b"], "born": texts})
        (born,) = cb.check(frame, _POLICY.replace(columns=columns, publish=cb.Table("born"))).columns
        assert (born.outside, born.outside_becomes, born.fits) == (1, becomes, becomes is not None)
        assert born.hint == (None if becomes else "Convert moments with a time zone to dates of the zone that you mean")


def test_numbers_dates_and_bounds_with_types_of_their_own() -> None:
    frame = pd.DataFrame(
        {
            "id": range(4),
            "when": pd.to_datetime(["2001-01-01", "2011-01-01", None, "2002-02-02"]),
            "pay": [1.0, None, 7000.0, float("inf")],
        }
    )
    policy = cb.Policy(
        person="id",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        people=4,
        columns={"when": cb.date("month", "2000", 2010), "pay": cb.bounds(0, 5000, resolution=1, outside="clamp")},
        publish=cb.Statistics(cb.median("pay"), by="when"),
    )
    found = cb.check(frame, policy)
    when, pay = found.columns
    assert (when.blank, when.outside, pay.blank, pay.outside) == (1, 1, 1, 1)
    assert [one.value for one in pay.values] == ["inf"]
    assert not pay.fits


def test_a_survey_of_more_people_than_were_drawn_does_not_fit(found: Check) -> None:
    survey = _POLICY.replace(sampling=cb.Survey(96, of=100_000, thin=0.8))
    person = cb.check(pd.DataFrame(_ROWS[2:96]), survey).person
    assert person is not None
    assert person.fits
    assert "the policy says 96 people: a release is refused" in cb.check(pd.DataFrame(_ROWS), survey).describe()
    assert "the policy says" not in found.describe()


def test_networks_are_refused_in_a_sentence() -> None:
    graph = cb.Policy(
        epsilon=1.0,
        population="friends",
        publish=cb.Graph(cb.GraphStatistic(name="average-degree", samples=20), people=100, degree_bound=5),
    )
    with pytest.raises(InvalidInput, match="declares no domains"):
        cb.check(pd.DataFrame({"source": [1], "target": [2]}), graph)

"""What readers get from a folder: data with categories, the domain, and estimates that hold for the made-up town."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from crowdblend.cli.main import cli
from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.reading.release import PublishedRelease, read
from tests.cases import for_each
from tests.golden.releases import DISTRICTS

COUNTED = ("table", "table-noise", "table-flag", "table-drawn", "microdata", "outlier-table", "table-register")
HOLDS = 0.8  # of the cells: intervals are made for 95 %, and these releases are fixed


@pytest.fixture(scope="module")
def town(sources: Path) -> pd.DataFrame:
    people = pq.read_table(sources / "town.parquet").to_pandas()
    ages = (people["age"] // 10 * 10).astype(int)
    people["age"] = [f"[{low}, {low + 10})" if low < 90 else "≥ 90" for low in ages]
    return people


def test_totals_hold_the_population(folders: dict[str, Path], town: pd.DataFrame) -> None:
    holds = []
    for name in COUNTED:
        people = len(town) * (2 if name == "table-drawn" else 1)
        if name != "table-several":
            (row,) = read(folders[name]).estimates(margin=[]).to_pylist()
            holds.append(row["low"] <= people <= row["high"])
    assert sum(holds) >= HOLDS * len(holds)


@for_each("name", COUNTED)
@for_each("margin", [["district"], ["age"], ["sex"], []])
def test_margins_hold_the_population(
    name: str, margin: list[str], folders: dict[str, Path], town: pd.DataFrame
) -> None:
    release = read(folders[name])
    rows = release.estimates(margin=margin).to_pylist()
    assert len(margin) != 1 or release.estimates(margin=margin[0]).to_pylist() == rows
    truth = town.groupby(margin).size().to_dict() if margin else {(): len(town)}
    labels = [tuple(row[column] for column in margin) for row in rows]
    assert len(set(labels)) == len(rows)
    if margin == ["district"]:
        # Every declared label is there, published or not, in the declared order.
        assert [label for (label,) in labels] == list(DISTRICTS)
    keys = [label[0] if len(label) == 1 else label for label in labels]
    # A sample that was drawn before has half of the people in the table by assumption: everybody in it is the sample.
    people = [truth.get(key, 0) * (2 if name == "table-drawn" else 1) for key in keys]
    holds = [row["low"] <= number <= row["high"] for row, number in zip(rows, people, strict=True)]
    assert len(rows) == 1 or sum(holds) >= HOLDS * len(rows)
    for row in rows:
        if all(law.noiseless for table in release.tables.values() for law in table.shown_by):
            assert (row["estimate"] is None) == (row["unpublished_cells"] > 0)
        else:
            assert row["estimate"] is not None


def test_cells_that_are_not_published_are_rows_with_an_upper_end(folders: dict[str, Path]) -> None:
    release = read(folders["table"])
    rows = release.estimates().to_pylist()
    assert len(rows) == 2 * 10 * 8
    hidden = [row for row in rows if row["sampled"] is None]
    assert len(hidden) == len(rows) - release.data.num_rows
    assert all((row["low"], row["high"], row["estimate"]) == (0, 84, None) for row in hidden)
    most = read(folders["table"]).estimates(0.5).to_pylist()
    assert {row["high"] for row in most if row["sampled"] is None} < {row["high"] for row in rows} | set(range(84))
    published = {tuple(row.values())[:3]: row for row in release.data.to_pylist()}
    for row in rows:
        if row["sampled"] is not None:
            same = published[(row["sex"], row["age"], row["district"])]
            assert [row[name] for name in ("sampled", "estimate", "low", "high")] == list(same.values())[3:]


def test_an_open_domain_has_no_upper_end_and_says_so(folders: dict[str, Path]) -> None:
    release = read(folders["table-open"])
    assert release.domain == {"district": None, "sex": None}
    rows = release.estimates(margin=["sex"]).to_pylist()
    assert all(row["high"] is None and row["estimate"] is None and row["low"] > 0 for row in rows)
    assert any("not listed" in line for line in release.notes(["sex"]))


def test_a_file_of_totals_is_no_table(folders: dict[str, Path]) -> None:
    release = read(folders["table-visits"])
    (row,) = release.estimates(margin=[]).to_pylist()
    assert row["count"] == sum(release.data.column("count").to_pylist())
    assert list(release.files) == ["data", "totals"]


def test_an_assumed_rate_is_said(folders: dict[str, Path]) -> None:
    assert any("assumption of the publisher" in line for line in read(folders["table-drawn"]).notes())
    assert any("no chance to be sampled" in line for line in read(folders["table-biased"]).notes())


def test_statistics_have_the_errors_that_are_stated(folders: dict[str, Path]) -> None:
    release = read(folders["statistics"])
    rows = release.estimates().to_pylist()
    assert rows[0]["low"] < 0.5 < rows[0]["high"]
    with pytest.raises(InvalidInput) as refused:
        release.estimates(0.9)
    assert refused.value.code == "reading.confidence"


def test_points_add_up_by_the_labels_that_travel_along(folders: dict[str, Path], town: pd.DataFrame) -> None:
    release = read(folders["points"])
    rows = {row["sex"]: row for row in release.estimates(margin=["sex"]).to_pylist()}
    for sex, people in town.groupby("sex").size().items():
        assert rows[sex]["low"] <= people <= rows[sex]["high"]
    assert release.estimates(margin=[]).num_rows == 1


def refused(code: str, call: object) -> None:
    with pytest.raises(CrowdblendError) as raised:
        call()  # type: ignore[operator]
    assert raised.value.code == code


def test_what_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    release = read(folders["table"])
    refused("reading.no-column", lambda: release.estimates(margin=["income"]))
    refused("reading.confidence", lambda: release.estimates(1.0))
    refused("reading.no-table", lambda: release.table("other"))
    refused("reading.no-counts", lambda: read(folders["synopsis"]).estimates())
    refused("reading.no-folder", lambda: read(tmp_path / "nothing"))
    cut = read(folders["table-noise"])
    noise = {**cut.certificate.facts["mechanism"], "show_from": 3}
    facts = {**cut.certificate.facts, "mechanism": noise}
    cut = PublishedRelease(cut.folder, type(cut.certificate)(cut.certificate.derivations, (), facts))
    refused("reading.cut-cells", lambda: cut.estimates(margin=["sex"]))
    shutil.copytree(folders["table"], tmp_path / "edited")
    (tmp_path / "edited" / "README.md").write_text("other words")
    with pytest.raises(DoesNotVerify):
        read(tmp_path / "edited")


def test_the_command_prints_csv_or_one_object(folders: dict[str, Path]) -> None:
    told = CliRunner().invoke(cli, ["read", str(folders["table"]), "--margin", "district"])
    assert told.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    assert [row["district"] for row in rows] == list(DISTRICTS)
    assert "not zero" in told.stderr
    assert all(row["estimate"] == "" or row["estimate"].lstrip("-").isdigit() for row in rows)
    marked = CliRunner().invoke(cli, ["read", str(folders["table"]), "--margin", "district", "--excel"])
    assert marked.stdout == "\ufeff" + told.stdout
    told = CliRunner().invoke(cli, ["read", str(folders["table"]), "--margin", "", "--json", "--confidence", "0.5"])
    found = json.loads(told.stdout)
    assert found["confidence"] == 0.5
    assert found["about"]["publisher"] == "Office"
    assert found["domain"]["sex"] == ["female", "male"]
    (row,) = found["estimates"]
    assert row["low"] <= 8000 <= row["high"]
    assert CliRunner().invoke(cli, ["read", str(folders["table"]), "--margin", "x", "--json"]).exit_code == 2


@for_each("name", ["table", "table-noise", "table-open", "microdata", "points"])
@for_each(("confidence", "missed"), [("0.99", 1), ("0.5", 50), ("0.95", 5)])
def test_notes_are_about_the_confidence_of_the_intervals(
    name: str, confidence: str, missed: int, folders: dict[str, Path]
) -> None:
    told = CliRunner().invoke(cli, ["read", str(folders[name]), "--confidence", confidence])
    assert f"{100 - missed} times in 100" in told.stderr
    assert set(re.findall(r"(\d+) (?:times )?in 100", told.stderr)) <= {str(100 - missed), str(missed)}
    held = re.search(r"may have up to ([\d,]+) people .* fewer than (\d+) in 100", told.stderr)
    if name in ("table", "microdata"):  # some classes are missing, and their rows say the same
        assert held is not None
        rows = csv.DictReader(io.StringIO(told.stdout))
        highs = {row["high"] for row in rows if not row["sampled"]}
        assert (highs, int(held[2])) == ({held[1].replace(",", "")}, missed)


def test_margins_named_one_by_one_are_those_with_a_comma(folders: dict[str, Path]) -> None:
    said = [
        CliRunner().invoke(cli, ["read", str(folders["table"]), *options]).stdout
        for options in (["--margin", "district", "--margin", "sex"], ["--margin", "district,sex"], ["--margin", "sex"])
    ]
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize("name", ["table-noise", "table-register", "points", "outlier-table", "statistics"])
def test_printed_numbers_have_no_more_digits_than_are_known(folders: dict[str, Path], name: str) -> None:
    told = CliRunner().invoke(cli, ["read", str(folders[name])])
    printed = list(csv.DictReader(io.StringIO(told.stdout)))
    rows = read(folders[name]).estimates().to_pylist()
    if any(isinstance(row.get("estimate"), float) and row["estimate"] < (row["low"] or 0) for row in rows):
        assert "may be negative, and so may estimates, below low" in told.stderr
    for row, shown in zip(rows, printed, strict=True):
        for column, value in row.items():
            if isinstance(value, float) and column == "estimate" and name != "statistics":
                assert int(shown[column]) == round(value)
            elif isinstance(value, float) and name == "statistics":
                assert float(shown[column]) == float(f"{value:.6g}")

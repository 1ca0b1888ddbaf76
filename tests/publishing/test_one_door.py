"""Published files are opened in one place; `verify` derives a certificate once and hashes every file once."""

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.kinds.shared import data_formats
from crowdblend.reading.numbers import COLUMNS
from crowdblend.reading.release import read
from crowdblend.reading.reports.write import report_html
from crowdblend.reading.verification import consistency
from crowdblend.trusted.calculus import checker, folder_files
from tests.golden.releases import POLICIES

SOURCE = Path(cb.__file__).parent
# They read what a release begins with or write for other programs, and open no file of a release.
OTHERS = {"sources", "policies", "api", "cli", "studio", "lab", "reading/exports"}


def opening_names() -> set[tuple[str, str]]:
    """Every use of a name that opens a table, or an ending that a format has, by file."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        file = path.relative_to(SOURCE).as_posix()
        if any(file.startswith(f"{other}/") for other in OTHERS):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in (
                *("read_csv", "open_csv", "read_table", "read_schema", "ParquetFile", "ParquetWriter", "CSVWriter"),
                *("read_metadata", "read_parquet"),
            ):
                found.add((file, node.attr))
            if isinstance(node, ast.Constant) and node.value in (*data_formats.FORMATS,):
                found.add((file, node.value))
    return found


def test_one_file_knows_the_formats_of_published_files() -> None:
    """Beside the names of data files in the trusted base, which compares their sizes."""
    assert {file for file, _ in opening_names()} == {"kinds/shared/data_formats.py", "trusted/calculus/folder_files.py"}
    assert set(folder_files.DATA_ENDINGS) == set(data_formats.FORMATS)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often files are hashed and opened, and certificates derived."""
    found: Counter[str] = Counter()

    def count(owner: Any, name: str, what: Callable[..., str]) -> None:
        usual = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            found[what(*given)] += 1
            return usual(*given, **named)

        monkeypatch.setattr(owner, name, counting)

    count(folder_files, "regular_file_hash", lambda path: f"hash {path.name}")
    count(checker, "_derive", lambda *_: "derive")
    count(consistency, "derive", lambda *_: "derive")
    for form in data_formats.FORMATS.values():
        for name in ("header", "footer", "batches", "table"):
            count(type(form), name, lambda _, path, *__, name=name: f"{name} {path.name}")
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_verify_derives_once_and_hashes_every_file_once(
    name: str, releases: dict[str, Path], counted: Counter[str]
) -> None:
    consistency.verify_release(releases[name])
    files = {path.name for path in releases[name].iterdir()} - {"certificate.json"}
    assert {what for what in counted if what.startswith("hash")} == {f"hash {file}" for file in files}
    once = {what: times for what, times in counted.items() if not what.startswith(("batches", "table"))}
    assert set(once.values()) == {1}
    # Rows are compared cell by cell, then their intervals, a page is made from them, and rows are held against tables.
    assert all(times <= (5 if name == "synthetic" else 4) for times in counted.values())


def test_a_report_reads_what_is_open(releases: dict[str, Path], counted: Counter[str]) -> None:
    report_html(releases["table"])
    assert {times for what, times in counted.items() if not what.startswith("derive")} == {1}


@pytest.mark.parametrize("name", POLICIES)
def test_numbers_of_every_kind_have_one_form(name: str, releases: dict[str, Path]) -> None:
    """What is exported has the rows as they were published, and every number with its interval and its status."""
    release = read(releases[name])
    for table in release.files:
        columns, rows = release.columns(table), release.batches(table).read_all()
        assert [column.name for column in columns] == rows.column_names == release.table(table).column_names
        assert all(column.meaning for column in columns)
        assert rows.num_rows == release.table(table).num_rows
    for one in release.publications.values():
        if one.tables or one.facts.stated_confidence is not None:
            check_numbers(one)


def check_numbers(release: cb.PublishedRelease) -> None:
    numbers, estimates = release.numbers(), release.estimates()
    assert [numbers.schema.field(one).type for one in COLUMNS] == list(COLUMNS.values())
    for column in ("estimate", "low", "high"):
        assert numbers.column(column).cast(pa.float64()).equals(estimates.column(column).cast(pa.float64()))
    hidden = [status == "hidden" for status in numbers.column("status").to_pylist()]
    if release.tables:
        assert numbers.num_rows == estimates.num_rows
        assert numbers.column("count").equals(estimates.column(release.tables["data"].laws.counter))
        assert hidden == [count is None for count in numbers.column("count").to_pylist()]
    else:
        assert not any(hidden)


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        ("table", {"exact", "hidden"}),
        ("table-flag", {"exact", "noisy", "hidden"}),
        ("table-noise", {"noisy"}),
        ("table-register", {"noisy"}),
        ("points", {"partial", "hidden"}),
        ("statistics", {"noisy"}),
    ],
)
def test_the_status_of_a_number_is_what_was_done_to_it(
    name: str, statuses: set[str], releases: dict[str, Path]
) -> None:
    numbers = read(releases[name]).numbers()
    assert {*numbers.column("status").to_pylist()} <= statuses
    exact = [row for row in numbers.to_pylist() if row["status"] == "exact"]
    assert bool(exact) == ("exact" in statuses)


def test_what_cannot_be_exported_is_refused(releases: dict[str, Path], tmp_path: Path) -> None:
    release, several = read(releases["table"]), read(releases["table-visits"])
    with pytest.raises(cb.InvalidInput, match="no export to"):
        release.export(tmp_path / "table.docx")
    assert release.export(tmp_path / "table.csv").stat().st_size > 0
    with pytest.raises(cb.InvalidInput, match="exists"):
        release.export(tmp_path / "table.csv")
    release.export(tmp_path / "table.csv", force=True)
    with pytest.raises(cb.InvalidInput, match="one table"):
        several.export(tmp_path / "several.csv")
    with pytest.raises(cb.InvalidInput, match="no table"):
        several.export(tmp_path / "several.csv", "elsewhere")
    totals = several.numbers(table="totals")
    assert totals.column("estimate").equals(several.table("totals").column("estimate"))
    with pytest.raises(cb.InvalidInput, match="no counts of people in cells"):
        read(releases["synopsis"]).numbers()
    several.export(tmp_path / "totals.csv", "totals")
    assert (tmp_path / "totals.csv").read_text(encoding="utf-8-sig").startswith('"total"')

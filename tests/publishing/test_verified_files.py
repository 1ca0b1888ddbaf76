"""The files of a folder that is verified: names, kinds and sizes that somebody chose to deceive or to fill memory."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv, parquet

from crowdblend.calculus.folder_files import regular_file_hash
from crowdblend.cli.main import cli
from crowdblend.errors import DoesNotVerify
from crowdblend.publishing.verification.consistency import verify_release
from crowdblend.reading import cells
from crowdblend.reading.release import read
from crowdblend.reports.write import report_html
from tests.calculus.documents import resealed
from tests.cases import for_each
from tests.publishing.test_verification import forged, refused, smallest_cell, unchanged


def test_files_that_the_publisher_adds_are_named(releases: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(releases["table"], folder)
    for name in (".hidden", "notes.md"):
        (folder / name).write_text("mine")
    assert verify_release(folder).uncovered == (".hidden", "notes.md")
    told = CliRunner().invoke(cli, ["verify", str(folder)])
    assert told.exit_code == 0
    assert ".hidden, notes.md" in told.output
    told = CliRunner().invoke(cli, ["verify", str(folder), "--json"])
    assert json.loads(told.output)["not_covered"] == [".hidden", "notes.md"]


def test_a_certificate_alone_says_that_the_data_were_not_checked(releases: dict[str, Path]) -> None:
    alone = CliRunner().invoke(cli, ["verify", str(releases["table"] / "certificate.json"), "--json"])
    assert json.loads(alone.output)["data_checked"] is False
    assert json.loads(CliRunner().invoke(cli, ["verify", str(releases["table"]), "--json"]).output)["data_checked"]


@for_each("name", ["\x1b[2K\rverified", "line\nverified: every number", "\u202egnp", "\x7f"])
def test_a_file_name_cannot_forge_a_line(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(releases["table"], folder)
    (folder / name).write_text("x")
    refused(folder, "file-name")
    told = CliRunner().invoke(cli, ["verify", str(folder)])
    assert told.exit_code == 1
    assert len(told.output.splitlines()) <= 1
    assert told.output.rstrip("\n").isprintable()


def test_a_listed_file_name_cannot_forge_a_line_or_leave_the_folder(releases: dict[str, Path], tmp_path: Path) -> None:
    for at, name in enumerate(("\x1b[2K\rverified", "../table/data.csv", "certificate.json", "")):
        folder = tmp_path / str(at)
        shutil.copytree(releases["table"], folder)
        document = json.loads((folder / "certificate.json").read_text())
        document["facts"]["files"] = {name: document["facts"]["files"]["data.csv"]}
        (folder / "certificate.json").write_text(resealed(document))
        with pytest.raises(DoesNotVerify) as raised:
            verify_release(folder)
        assert str(raised.value).isprintable()


def test_what_is_no_regular_file_is_refused(releases: dict[str, Path], tmp_path: Path) -> None:
    makers: dict[str, Callable[[Path], Any]] = {
        "folder": lambda path: path.mkdir(),
        "link": lambda path: path.symlink_to(releases["table"] / "report.html"),
        "pipe": os.mkfifo,
    }
    for what, make in makers.items():
        for name in ("report.html", "data.csv"):
            folder = tmp_path / f"{what}-{name}"
            shutil.copytree(releases["table"], folder)
            (folder / name).unlink()
            make(folder / name)
            refused(folder, "file-not-regular")


def test_a_link_that_took_the_place_of_a_file_is_not_followed(releases: dict[str, Path], tmp_path: Path) -> None:
    """After the folder was looked through, and before the file is opened."""
    link = tmp_path / "data.csv"
    link.symlink_to(releases["table"] / "data.csv")
    with pytest.raises(DoesNotVerify, match="cannot be read"):
        regular_file_hash(link)


def test_no_report_of_data_that_contradict_their_certificate(releases: dict[str, Path], tmp_path: Path) -> None:
    folder = forged(releases["table"], tmp_path / "forged", lambda text: smallest_cell(text, 1))
    told = CliRunner().invoke(cli, ["report", str(folder), "--force"])
    assert told.exit_code == 1
    assert not (folder / "report.html").exists()


def in_parquet(folder: Path, target: Path, data: pa.Table) -> Path:
    """A forged copy with other data, as Parquet."""
    both = shutil.copytree(folder, target.with_name("both"), dirs_exist_ok=True)
    parquet.write_table(data, both / "data.parquet", compression="zstd", row_group_size=data.num_rows)
    (both / "data.csv").unlink()

    def replace_data(facts: Any) -> None:
        del facts["files"]["data.csv"]
        facts["files"]["data.parquet"] = ""

    return forged(both, target, unchanged, replace_data)


CELLS, MEMORY = "more rows than the certificate has cells", "far more memory than it has bytes"


@pytest.mark.parametrize(
    ("name", "rows", "why"),
    [
        ("table", 10_000, CELLS),
        ("statistics", 1_000_001, CELLS),
        # Nothing says how many people are published, but a release writes no such groups of rows.
        ("microdata", 3_000_000, MEMORY),
        ("points", 3_000_000, MEMORY),
        ("microdata", None, MEMORY),
    ],
)
def test_small_files_that_unpack_to_much_are_not_read(
    name: str, rows: int | None, why: str, releases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = csv.read_csv(releases[name] / "data.csv")
    if rows is None:
        monkeypatch.setattr(cells, "LARGEST_UNPACKED", 1 << 20)
        large = pa.table({column: ["x" * (1 << 23)] for column in original.column_names})
    else:
        large = pa.table({column: pa.repeat(original.column(column)[0], rows) for column in original.column_names})
    folder = in_parquet(releases[name], tmp_path / "large", large)
    assert (folder / "data.parquet").stat().st_size < 100_000
    for opening in (verify_release, read, report_html):
        with pytest.raises(DoesNotVerify, match=why):
            opening(folder)

"""The files of a folder that is verified: names, kinds and sizes that somebody chose to deceive or to fill memory."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv, parquet

from crowdblend.cli.main import cli
from crowdblend.errors import DoesNotVerify
from crowdblend.reading import data_file
from crowdblend.reading.allowance import Allowance
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.parquet_pages import pages_of
from crowdblend.reading.release import read
from crowdblend.reading.reports.write import report_html
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import sha256_of
from crowdblend.trusted.calculus.folder_files import regular_file_hash
from tests.cases import for_each
from tests.publishing.test_verification import forged, refused, smallest_cell, unchanged
from tests.trusted.calculus.documents import resealed


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
    name: str, rows: int | None, why: str, releases: dict[str, Path], tmp_path: Path
) -> None:
    original = csv.read_csv(releases[name] / "data.csv")
    if rows is None:
        large = pa.table({column: ["x" * (1 << 23)] for column in original.column_names})
    else:
        large = pa.table({column: pa.repeat(original.column(column)[0], rows) for column in original.column_names})
    folder = in_parquet(releases[name], tmp_path / "large", large)
    assert (folder / "data.parquet").stat().st_size < 100_000
    for opening in (verify_release, read, report_html):
        with pytest.raises(DoesNotVerify, match=why):
            opening(folder)


def zigzag(number: int, length: int = 0) -> bytes:
    """A whole number as Thrift writes it, with as many bytes as asked for."""
    rest, found = 2 * number, list[int]()
    while rest >= 128 or len(found) + 1 < length:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found, rest])


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("name", ["table", "microdata"])
def test_a_footer_that_lies_is_found_by_the_pages(
    name: str, codes: bool, releases: dict[str, Path], tmp_path: Path
) -> None:
    """Twenty kilobytes that would take a gigabyte, and whose footer says that they take 900 bytes."""
    original = csv.read_csv(releases[name] / "data.csv")
    columns: dict[str, Any] = {column: original.column(column)[:1] for column in original.column_names}
    columns[original.column_names[0]] = ["x" * (80 << 20)]
    folder = in_parquet(releases[name], tmp_path / "large", pa.table(columns))
    path = folder / "data.parquet"
    parquet.write_table(pa.table(columns), path, compression="zstd", use_dictionary=codes)
    group = parquet.read_metadata(path).row_group(0)
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:]
    for size in (group.column(0).total_uncompressed_size, group.total_byte_size):
        footer = footer.replace(zigzag(size), zigzag(900, len(zigzag(size))))
    path.write_bytes(content[:start] + footer)
    lying = parquet.read_metadata(path).row_group(0)
    assert (lying.total_byte_size, lying.column(0).total_uncompressed_size) == (900, 900)
    document = json.loads((folder / "certificate.json").read_text())
    document["facts"]["files"]["data.parquet"] = sha256_of(path)
    (folder / "certificate.json").write_text(resealed(document))
    for opening in (verify_release, read, report_html):
        with pytest.raises(DoesNotVerify, match=MEMORY):
            opening(folder)


def test_a_footer_that_announces_long_lists_takes_no_room(
    releases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """49 bytes announce a group of a million columns, for which 700 MB were taken before the first was read."""
    names = b"".join(bytes([0x48, 1, letter, *more, 0]) for letter, more in ((114, (0x15, 2)), (97, ())))
    lists = b"\x19\x2c" + names + b"\x16\x00\x19\x1c\x19\xfc" + b"\xc0\x84\x3d"  # 1,000,000
    footer = b"\x15\x02" + lists + bytes(10)
    folder = in_parquet(releases["table"], tmp_path / "large", csv.read_csv(releases["table"] / "data.csv"))
    path = folder / "data.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DoesNotVerify, match=MEMORY):
        Allowance({}, 1_000).check(DataFile(path))
    monkeypatch.setattr(data_file, "LONGEST_LIST", 1 << 21)
    Allowance({}, 1_000).check(DataFile(path))  # it is the limit that stops it: the reader calls it damaged


def test_sizes_are_compared_before_anything_is_read(releases: dict[str, Path], tmp_path: Path) -> None:
    """A README of a gigabyte, and a table of one: holes in a file cost nothing."""
    for name in ("README.md", "report.html", "data.csv"):
        folder = tmp_path / name
        shutil.copytree(releases["table"], folder)
        os.truncate(folder / name, 1 << 30)
        begun = time.process_time()
        for opening in (verify_release, read):
            with pytest.raises(DoesNotVerify, match=r"longer than what it explains|more bytes than its cells"):
                opening(folder)
        assert time.process_time() - begun < 1


def test_every_page_of_a_release_is_found(tmp_path: Path) -> None:
    """Their headers and what they hold are the whole column, in several pages, with dictionaries or without."""
    rows = 200_000
    table = pa.table({"a": ["x", "long label"] * (rows // 2), "n": range(rows), "f": [1.5, None] * (rows // 2)})
    for options in ({}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"data_page_size": 4_096}):
        parquet.write_table(table, tmp_path / "t.parquet", compression="zstd", **options)  # type: ignore[arg-type]
        group = parquet.read_metadata(tmp_path / "t.parquet").row_group(0)
        for at in range(group.num_columns):
            pages = list(pages_of(tmp_path / "t.parquet", group.column(at)))
            unpacked, packed = (sum(getattr(page, name) for page in pages) for name in ("unpacked", "packed"))
            headers = group.column(at).total_compressed_size - packed
            assert 0 < headers == group.column(at).total_uncompressed_size - unpacked


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"data_page_version": "2.0"}])
def test_a_release_that_shows_nothing_is_as_large_as_it_may_be(options: dict[str, Any], tmp_path: Path) -> None:
    """A column without rows may have a dictionary, also one of many labels, and no page of data."""
    for labels in ([], ["x", "y"]):
        texts = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array(labels, pa.string()))
        batch = pa.record_batch({"a": texts, "n": pa.array([], pa.int64())})
        with parquet.ParquetWriter(tmp_path / "t.parquet", batch.schema, store_schema=False, **options) as writer:
            writer.write_batch(batch)
        Allowance({}, 1_000).check(DataFile(tmp_path / "t.parquet"))
        assert parquet.read_table(tmp_path / "t.parquet").num_rows == 0


def test_bytes_that_are_no_pages_are_refused(tmp_path: Path) -> None:
    """Whatever a byte of a small file becomes: it is refused, or it reads as a file of the allowed size."""
    table = pa.table({"a": ["x", "y"] * 500, "n": range(1_000)})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
    content, chance = (tmp_path / "t.parquet").read_bytes(), random.Random(5)
    for _ in range(300):
        place = chance.randrange(4, len(content))
        (tmp_path / "t.parquet").write_bytes(content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :])
        with suppress(DoesNotVerify, pa.ArrowException, OSError):
            Allowance({}, 1_000).check(DataFile(tmp_path / "t.parquet"))

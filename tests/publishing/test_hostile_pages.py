"""Pages of a Parquet file whose headers, or whose footer, lie: none is believed, and no look goes on for ever."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import DoesNotVerify
from crowdblend.reading import allowance, parquet_pages
from crowdblend.reading.allowance import Allowance
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.parquet_pages import DamagedPage, Page, pages_of
from tests.cases import for_each


def number(value: int) -> bytes:
    """A whole number in Thrift's compact protocol."""
    whole = value << 1 if value >= 0 else (-value << 1) - 1
    found = b""
    while whole > 127:
        found, whole = found + bytes([whole & 127 | 128]), whole >> 7
    return found + bytes([whole])


def page(unpacked: int, packed: int) -> bytes:
    """A page of data with its header, and as many bytes as it says, if that is a number of bytes."""
    return b"\x15\x00\x15" + number(unpacked) + b"\x15" + number(packed) + b"\x00" + bytes(max(packed, 0))


def column(size: int, start: int = 4, rows: int = 1, **said: Any) -> Any:
    """What a footer says of a column."""
    usual = {"has_dictionary_page": False, "dictionary_page_offset": None}
    return SimpleNamespace(
        **{"data_page_offset": start, "total_compressed_size": size, "num_values": rows, **usual, **said}
    )


def written(folder: Path, *pages: bytes) -> Path:
    (folder / "t.parquet").write_bytes(b"PAR1" + b"".join(pages))
    return folder / "t.parquet"


def test_honest_pages_are_found_and_the_dictionary_comes_first(tmp_path: Path) -> None:
    two = page(70, 30), page(500, 40)
    path, size = written(tmp_path, *two), len(two[0]) + len(two[1])
    assert list(pages_of(path, column(size))) == [Page(70, 30), Page(500, 40)]
    beside = {"has_dictionary_page": True, "dictionary_page_offset": 4}
    assert list(pages_of(path, column(size, start=4 + len(two[0]), **beside))) == [Page(70, 30), Page(500, 40)]


@for_each("lying", [page(-1, 30), page(30, -1), page(30, -40), page(-(2**40), 8), page(10, 10_000)[:20]])
def test_a_header_with_an_impossible_size_is_none(lying: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, page(70, 30), lying, page(70, 30))
    with pytest.raises(DamagedPage):
        list(pages_of(path, column(path.stat().st_size - 4)))


def test_pages_are_as_many_as_rows_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_pages, "_FEW_PAGES", 3)
    monkeypatch.setattr(parquet_pages, "_ROWS_IN_A_PAGE", 10)
    pages = [page(8, 8)] * 5
    path, size = written(tmp_path, *pages), sum(map(len, pages))
    assert len(list(pages_of(path, column(size, rows=20)))) == 5
    with pytest.raises(DamagedPage):
        list(pages_of(path, column(size, rows=19)))


def test_no_page_is_larger_than_the_largest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the rows of its group could take as many bytes in several pages."""
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table({"n": range(1_000), "m": range(1_000)}), path, use_dictionary=False, compression="none"
    )
    for largest, accepted in ((8_100, True), (7_000, False)):
        monkeypatch.setattr(allowance, "_LARGEST_PAGE", largest)
        if accepted:
            Allowance({}, 1_000).check(DataFile(path))
        else:
            with pytest.raises(DoesNotVerify, match="more memory"):
                Allowance({}, 1_000).check(DataFile(path))


@for_each("place", range(3))
def test_every_column_is_looked_at(place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, columns = tmp_path / "t.parquet", {name: ["x"] * 1_000 for name in "abc"}
    columns["abc"[place]] = ["y" * 4_000 for _ in range(1_000)]
    parquet.write_table(pa.table(columns), path, use_dictionary=False, compression="zstd")
    with pytest.raises(DoesNotVerify, match="more memory"):
        Allowance({}, 1_000).check(DataFile(path))

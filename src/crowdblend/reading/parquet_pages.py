"""The pages of a Parquet file, by their own headers: how many bytes each unpacks to, whatever the footer says.

A reader takes as much memory for a page as its header states. So the headers are read first, and nothing is unpacked:
they are a few bytes before every page, in Thrift's compact protocol (https://parquet.apache.org/docs/file-format).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from crowdblend.trusted.machine.regular_files import open_regular

# Statistics in a header may hold two labels.
_LARGEST_HEADER = 1 << 20
_USUAL_HEADER = 1 << 10
_DEEPEST = 8
# Old writers left this many bytes out of the size of a column that they state.
_PADDING = 100
# A page of data holds this many rows of a column, or its bytes are many: more pages would only take time.
_ROWS_IN_A_PAGE = 512
_FEW_PAGES = 64


@dataclass(frozen=True)
class Page:
    """A page: the bytes that it unpacks to, and those that it has in the file."""

    unpacked: int
    packed: int


class DamagedPage(ValueError):
    """A header that is none, or that does not fit its file."""


def pages_of(path: Path, column: Any) -> Iterator[Page]:
    """Return the pages of a column of a group of rows, given what the footer says of it."""
    at = column.data_page_offset
    # Without rows there is no page of data, and its place is 0; a dictionary may be there.
    if column.has_dictionary_page and (at == 0 or 0 < column.dictionary_page_offset < at):
        at = column.dictionary_page_offset
    end, left = at + column.total_compressed_size, _FEW_PAGES + column.num_values // _ROWS_IN_A_PAGE
    if at < 0 or column.total_compressed_size < 0:
        raise DamagedPage
    with open_regular(path) as file:
        while at < end:
            if left == 0:
                raise DamagedPage
            page, size = _read_page(file, at)
            yield page
            at, left = at + size + page.packed, left - 1
    if at > end + _PADDING:
        raise DamagedPage


def _read_page(file: BufferedReader, at: int) -> tuple[Page, int]:
    """Return the page at a place of a file, and the size of its header."""
    for most in (_USUAL_HEADER, _LARGEST_HEADER):
        file.seek(at)
        header = _Header(file.read(most))
        try:
            fields = header.numbers()
        except IndexError:  # it goes on
            continue
        unpacked, packed = fields.get(2, -1), fields.get(3, -1)
        if unpacked < 0 or packed < 0:
            break
        return Page(unpacked, packed), header.at
    raise DamagedPage


class _Header:
    """Bytes in Thrift's compact protocol, read from the front."""

    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def numbers(self, depth: int = 0) -> dict[int, int]:
        """Return the whole numbers of a struct by their fields, and go on behind it."""
        found, field = {}, 0
        while kind := self._byte():
            field = field + (kind >> 4) if kind >> 4 else self._number()
            value = self._value(kind & 15, depth)
            if value is not None:
                found[field] = value
        return found

    def _value(self, kind: int, depth: int) -> int | None:
        if kind in (1, 2):  # truth values have no bytes of their own
            return None
        if kind in (4, 5, 6):
            return self._number()
        if kind == 3:
            self._skip(1)
        elif kind == 7:
            self._skip(8)
        elif kind == 8:
            self._skip(self._whole())
        elif kind == 12 and depth < _DEEPEST:
            self.numbers(depth + 1)
        else:  # page headers have no lists and no maps
            raise DamagedPage
        return None

    def _byte(self) -> int:
        byte = self._content[self.at]
        self.at += 1
        return byte

    def _whole(self) -> int:
        found = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
        raise DamagedPage

    def _number(self) -> int:
        whole = self._whole()
        return (whole >> 1) ^ -(whole & 1)

    def _skip(self, size: int) -> None:
        if self.at + size > len(self._content):
            raise IndexError
        self.at += size

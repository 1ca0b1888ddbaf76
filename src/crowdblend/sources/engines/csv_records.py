"""Count the records of a CSV file from its bytes, and refuse files whose records can be read in more than one way.

A database that splits a file among threads guesses where records begin. What it read is compared with what is counted
here, by other means: a line end outside quotation marks ends a record, and nothing else does. Refused are

- two kinds of line ends in one file, outside quotation marks;
- quotation marks inside a field that does not begin with one, or that do not end it;
- a quotation mark that is never closed, and zero bytes;
- blank lines where there is a single column, since each may be a person without a value or nothing;
- more or fewer delimiters than the columns of the header need;
- compressed files that are cut off or do not match their checksum.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import NDArray

from crowdblend.policies.files import open_unpacked
from crowdblend.sources.engines.refusals import refusal

_BLOCK = 1 << 18
_BOM = b"\xef\xbb\xbf"
_LF, _CR, _QUOTE = b'\n\r"'
_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


@dataclass
class CsvRecords:
    """Counts so far: records with the header, delimiters outside quotation marks, line ends."""

    records: int = 0
    blank: int = 0
    delimiters: int = 0
    line_end: str | None = None
    quoted_line_ends: bool = False


def count_records(file: Path, delimiter: str, columns: int) -> CsvRecords:
    """Return the records of a file with this many columns; refuse what has no single reading."""
    reader = _Reader(file, delimiter)
    try:
        with open_unpacked(file) as stream:
            reader.read(stream)
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError):
        _refuse(file, "damaged-file", "cannot be read to its end: it is cut off or damaged", "Write or copy it again")
    found = reader.found
    if columns == 1 and found.blank:
        _refuse(
            file,
            "blank-lines",
            "has blank lines, each of which may be a person without a value or nothing",
            'Remove them, or write "" for a person without a value',
        )
    if found.delimiters == found.records * columns - 1 and found.records > 1:
        _refuse(
            file,
            "field-count",
            "has lines that end with a delimiter, and a first line that does not",
            "Add a delimiter at the end of the first line",
        )
    if len(delimiter.encode()) == 1 and found.delimiters != found.records * (columns - 1):
        _refuse(
            file,
            "field-count",
            "has lines with more or fewer fields than the header",
            "Check the lines, and `data.delimiter`",
        )
    return found


class _Reader:
    """Goes through a file block by block, and remembers whether it is inside quotation marks."""

    def __init__(self, file: Path, delimiter: str) -> None:
        self.found = CsvRecords()
        self._file, self._delimiter = file, delimiter.encode()
        self._ends = dict.fromkeys(_NAMES, 0)  # how many of each kind, outside quotation marks
        self._inside = False
        self._start_of_line = True  # nothing has come since the last line end
        self._before = _LF  # the byte before the block

    def read(self, stream: IO[bytes]) -> None:
        """All blocks; the last byte of each is held back, since what it means depends on the next."""
        for block, last in _blocks(stream):
            buffer = np.frombuffer(block, np.uint8)
            self._block(buffer, len(buffer) if last else len(buffer) - 1)
        if self._inside:
            _refuse(self._file, "open-quote", "has a quotation mark that is never closed", "Correct the line")
        if not self._start_of_line:
            self.found.records += 1
        ends = [end for end, count in self._ends.items() if count]
        if len(ends) > 1:
            kinds = " and ".join(_NAMES[end] for end in ends)
            _refuse(self._file, "line-ends", f"has different line ends ({kinds})", "Convert it to one kind")
        self.found.line_end = ends[0] if ends else None

    def _block(self, buffer: Bytes, until: int) -> None:
        """Count in the bytes before `until`; at most one more follows."""
        here, found = buffer[:until], self.found
        if not len(here):
            return
        if not here.all():
            remedy = 'Add `data.encoding = "utf-16"` if it is that, or convert it to UTF-8 text'
            _refuse(self._file, "zero-bytes", "has zero bytes", remedy)
        is_end, is_delimiter = self._line_ends(buffer, here), here == self._delimiter[0]
        quotes = here == _QUOTE
        if self._inside or quotes.any():
            inside = _odd_so_far(quotes) ^ self._inside  # after each byte
            self._check_quotes(buffer, quotes, inside)
            found.quoted_line_ends |= bool((is_end & inside).any())
            is_end &= ~inside
            is_delimiter &= ~inside
            self._inside = bool(inside[-1])
        found.delimiters += int(np.count_nonzero(is_delimiter))
        self._count_lines(here, np.flatnonzero(is_end))
        self._before = int(here[-1])

    def _line_ends(self, buffer: Bytes, here: Bytes) -> Mask:
        """Return the places where lines end: at LF, or at CR without LF."""
        is_end: Mask = here == _LF
        returns = here == _CR
        if returns.any():
            following = np.empty(len(here), np.bool_)
            following[:-1] = is_end[1:]
            following[-1] = len(buffer) > len(here) and buffer[-1] == _LF
            is_end |= returns & ~following
        return is_end

    def _check_quotes(self, buffer: Bytes, quotes: Mask, inside: Mask) -> None:
        """Refuse a mark that neither begins nor ends a field, unless it is one of two that stand for one."""
        border = buffer == _LF
        for byte in (_CR, _QUOTE, self._delimiter[0], self._delimiter[-1]):
            border |= buffer == byte
        before, after = np.empty(len(quotes), np.bool_), np.ones(len(quotes), np.bool_)
        before[0] = self._before in (_LF, _CR, _QUOTE, self._delimiter[-1])
        before[1:] = border[: len(quotes) - 1]
        after[: len(buffer) - 1] = border[1 : len(quotes) + 1]
        if (quotes & ~((inside & before) | (~inside & after))).any():
            _refuse(
                self._file,
                "quotes",
                "has quotation marks inside a field",
                "Put the whole field between quotation marks, and double those inside",
            )

    def _count_lines(self, here: Bytes, ends: NDArray[np.intp]) -> None:
        found = self.found
        if not len(ends):
            self._start_of_line &= len(here) == 1 and here[0] == _CR
            return
        feeds = here[ends] == _LF
        before = np.where(ends > 0, here[ends - 1], self._before)
        pairs = feeds & (before == _CR)
        self._ends["\r\n"] += int(pairs.sum())
        self._ends["\n"] += int(feeds.sum()) - int(pairs.sum())
        self._ends["\r"] += len(ends) - int(feeds.sum())
        starts = np.concatenate([[0], ends[:-1] + 1])
        blank = ends - pairs <= starts
        blank[0] &= self._start_of_line
        found.blank += int(blank.sum())
        found.records += len(ends) - int(blank.sum())
        rest = here[int(ends[-1]) + 1 :]
        self._start_of_line = not len(rest) or (len(rest) == 1 and rest[0] == _CR)


def _odd_so_far(marks: Mask) -> Mask:
    """Return whether the number of marks up to each place is odd: 64 places at a time."""
    padded = np.zeros(-(-len(marks) // 64) * 64, np.bool_)
    padded[: len(marks)] = marks
    words = np.packbits(padded, bitorder="little").view("<u8")
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd_before = np.zeros(len(words), np.uint64)
    odd_before[1:] = np.bitwise_xor.accumulate(words >> np.uint64(63))[:-1]
    words ^= np.uint64(0) - odd_before
    return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)[: len(marks)]


def _blocks(stream: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Blocks, each of which begins with the last byte of the one before, and whether it is the last."""
    held = stream.read(_BLOCK).removeprefix(_BOM)
    while more := stream.read(_BLOCK):
        yield held, False
        held = held[-1:] + more
    yield held, True


def _refuse(file: Path, code: str, why: str, remedy: str) -> NoReturn:
    raise refusal(code, f"{file.name!r} {why}.", f"{remedy}.", file.name)

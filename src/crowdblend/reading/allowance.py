"""The sizes that files of a release may have by its certificate: compared before they are read or hashed.

A folder comes from anywhere, and a page of a few kilobytes can unpack to gigabytes. What a release writes follows from
the labels and the cells that it certifies, and that is what its files may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.errors import DoesNotVerify
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.parquet_pages import DamagedPage, pages_of
from crowdblend.trusted.machine.packages import pyarrow as pa

# Bytes beside labels and numbers: headers, and dictionaries of numbers.
_BESIDE = 1 << 20
_NUMBER = 24
# The longest label of a domain that does not list its labels.
_LONGEST_OPEN = 1 << 12
_LARGEST_PAGE = 1 << 26
# Releases are written in groups of this many rows: equal rows of one group take no bytes, and time all the same.
MOST_IN_A_GROUP = 1 << 20
# Columns of numbers beside labels.
_MOST_NUMBERS = 16


@dataclass(frozen=True)
class Allowance:
    """The content that a data file may have: its labels by column, and the number of its rows where it is known."""

    domains: Mapping[str, tuple[Domain, ...]]
    most_rows: int | None = None

    def check(self, file: DataFile) -> None:
        """Refuse a file that is larger than what is certified, or unpacks to more."""
        if self.most_rows is not None and file.size > self._largest(self.most_rows):
            raise _too_large(file.path, "has more bytes than its cells can take")
        try:
            found = file.footer
        except (pa.ArrowException, OSError) as problem:
            if "size limit" in str(problem):
                raise _too_large(file.path, "takes far more memory than it has bytes") from None
            return  # nothing can be read from it: its hash is wrong, or the reader refuses it as damaged
        if found is not None:
            self._check_footer(file.path, found)

    def _check_footer(self, path: Path, found: Any) -> None:
        if self.most_rows is not None and found.num_rows > self.most_rows:
            raise _too_large(path, "has more rows than the certificate has cells")
        large = found.num_columns > len(self.domains) + _MOST_NUMBERS
        for place in range(0 if large else found.num_row_groups):
            group = found.row_group(place)
            large |= group.num_rows > MOST_IN_A_GROUP
            large |= any(self._is_large(path, group.column(at), group.num_rows) for at in range(group.num_columns))
            if large:
                break
        if large:
            raise _too_large(path, "takes far more memory than it has bytes")

    def _is_large(self, path: Path, column: Any, rows: int) -> bool:
        """Return whether a column of a group of rows unpacks to more than its labels and numbers take."""
        if not 0 <= rows <= MOST_IN_A_GROUP or column.num_values > rows:
            return True
        listed, longest = self._labels(column.path_in_schema)
        left = _BESIDE + listed + rows * (_NUMBER + longest)
        try:
            for page in pages_of(path, column):
                left -= page.unpacked
                if left < 0 or page.unpacked > _LARGEST_PAGE:
                    return True
        except DamagedPage:
            return True
        return False

    def _labels(self, name: str) -> tuple[int, int]:
        """Return how many bytes the labels of a column take, and the longest of them."""
        if name not in self.domains:  # a number, or the name of a statistic and of groups
            return 0, sum(self._labels(other)[1] for other in self.domains) + 1024
        sizes = [len(label.encode()) for domain in self.domains[name] for label in domain.labels or ()]
        is_open = any(domain.labels is None for domain in self.domains[name])
        return sum(sizes) + 4 * len(sizes), max([64, *sizes, *([_LONGEST_OPEN] if is_open else [])])

    def _largest(self, rows: int) -> int:
        each = [self._labels(name) for name in self.domains]
        return _BESIDE + sum(listed for listed, _ in each) + (rows + 1) * self._widest_row(each)

    def _widest_row(self, each: list[tuple[int, int]]) -> int:
        return sum(2 * longest + _NUMBER for _, longest in each) + 2048 + _MOST_NUMBERS * _NUMBER


def _too_large(path: Path, why: str) -> DoesNotVerify:
    message = f"{path.name} {why}. Ask the publisher for the original folder."
    return DoesNotVerify(message, where=path.name, code="data-contradict")

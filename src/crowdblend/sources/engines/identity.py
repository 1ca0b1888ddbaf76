"""Identity of a source in the ledger: its content, its people, and its rows without ids.

A table that was already drawn is one sample for ever, whatever policy, order, format or folder reads it. A sample drawn
for a release is known by its key, so a key that is used twice is noticed, also for other people: the key draws the
noise too, and the same noise twice cancels out.

Every source is known by its rows too, without the person column: so it is recognized when its ids were numbered anew,
and when one of two policies says that ids number the rows of one table only. Where several sets of columns tell rows
apart, it is known by more than one, so that no single column is in all of them: a copy is recognized although one of
its columns was recoded.

Which columns tell rows apart is chosen from the hashes of some rows. Columns with few values come first, the most
telling of them before the others: they are cheap to read, and hardly ever a numbering, which unrelated tables share.
Columns in which nearly every row has a value of its own come last, and only where the others do not suffice.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import GCM
from numpy.typing import NDArray

from crowdblend.ledger.chain import sample_name
from crowdblend.ledger.identity import MOST, UNNAMED
from crowdblend.policies.files import source_files
from crowdblend.policies.sampling_section import Sampling
from crowdblend.policies.source import DataSource
from crowdblend.trusted.machine.regular_files import open_regular
from crowdblend.trusted.randomness.source import subkey

if TYPE_CHECKING:
    from crowdblend.policies.strata import DeclaredStrata


@dataclass(frozen=True)
class Hashes:
    """The rows whose hash begins with `level` zeros: the hash that decides, the one that is compared, how often.

    `numbers` has the whole numbers of a single column, by the hash that is compared.
    """

    level: int
    rows: list[tuple[int, int, int]]
    numbers: Mapping[int, int]

    def numbers_rows(self, rows: int) -> bool:
        """Return whether the values look like a table's own numbering, 1 to n: small whole numbers."""
        values = (self.numbers.get(content, -1) for _, content, _ in self.rows)
        return bool(self.rows) and all(0 <= value <= 2 * rows for value in values)


def sample_of(sampling: Sampling, source: str, key: bytes) -> str:
    """Return the sample's name: that of the table which is the sample, or a commitment to the key that draws it."""
    return source if sampling.already_drawn else sample_name(key)


def largest_rate(sampling: Sampling, design: DeclaredStrata | None = None) -> float | None:
    """Return the largest probability with which an already drawn table holds anyone."""
    return sampling.table_rate if design is None else design.high


def files_of(data: DataSource) -> list[Path]:
    """Return the files that are read; none where a server has the data."""
    if data.format in ("csv", "parquet"):
        return source_files(data.source, data.format)
    return [Path(data.source)] if data.format == "duckdb" else []


def source_name(
    data: DataSource, secret: bytes, digests_of: Callable[[list[Path], bytes], list[bytes]] | None = None
) -> str:
    """A name for the exact content of all files that are read, whatever they are called, under the ledger's secret.

    `digests_of` hashes files elsewhere under a key, with the same result as here.
    """
    files, key = files_of(data), subkey(secret, b"source", b"files")
    digests = sorted(digests_of(files, key) if digests_of else (digest_of(file, key) for file in files))
    digests = digests or [data.source.partition("?")[0].encode()]
    table = (data.table or "").lower().removeprefix("main.")
    return name_of([table.encode(), *digests], secret)


def name_of(parts: Sequence[bytes], secret: bytes) -> str:
    """Return a name for what these parts are, under the ledger's secret."""
    return UNNAMED + hmac.new(secret, b"\0".join(parts), "sha256").hexdigest()[:32]


def digest_of(file: Path, key: bytes) -> bytes:
    """Return the keyed hash of a file's content: GMAC, of which processors have the arithmetic built in.

    Two different files of up to L bytes share it with probability at most (L/16 + 2)/2^128, for anyone who does not
    know the key (McGrew and Viega, The Security and Performance of the Galois/Counter Mode, 2004, Lemma 2). It goes
    into `name_of`, whose value says nothing about it: so one nonce serves all files.
    """
    hashed, block = Cipher(AES256(key), GCM(bytes(12))).encryptor(), memoryview(bytearray(_BLOCK))
    with open_regular(file) as opened:
        while read := opened.readinto(block):
            hashed.authenticate_additional_data(block[:read])
    hashed.finalize()
    return hashed.tag


_BLOCK = 1 << 18
ROWS_TO_LOOK_AT = 20_000
_CELLS = 4_000_000
# These columns tell apart all but one in a thousand of the rows that all columns tell apart.
_ENOUGH = 0.999
_UNIQUE = 0.9
# Other columns are kept too where they tell apart this share of the rows that all columns tell apart.
_TELLING = 0.5
# At least about this many different values decide which rows a sketch keeps.
_DECIDING = 32
_MANY_ROWS = 1_000_000
# Columns with more different values than this share of rows come last.
_FEW_VALUES = 0.1


def rows_to_look_at(columns: int) -> int:
    """Return the number of rows to read: fewer where there are many columns."""
    return max(100, min(ROWS_TO_LOOK_AT, _CELLS // max(1, columns)))


Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SomeRows:
    """A part of the rows of a source: the 64-bit hash of every value, by row and column.

    `numberings` are the columns that number rows: whole numbers, all unlike, and not farther apart than rows are many.
    `rounded_ids` says that some of the ids were rounded.
    """

    names: tuple[str, ...]
    hashes: NDArray[np.uint64]
    numberings: frozenset[str] = frozenset()
    rounded_ids: bool = False

    def different(self, names: Sequence[str]) -> int:
        """Return the number of distinct rows in these columns."""
        return self._codes(names)[1]

    def enough(self, names: Sequence[str], among: Sequence[str]) -> bool:
        """Return whether some columns tell rows apart nearly as well as all of `among`."""
        return self.different(names) >= _ENOUGH * self.different(among)

    def column_sets(self, content: Sequence[str], earlier: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """Return the sets of columns, beside earlier ones, by which rows are recognized.

        One tells rows apart nearly as well as all columns do. Each of the others is without some of the columns that
        all sets so far have in common. A numbering is in none of the others, since unrelated tables have the same.
        """
        if not content:
            return []
        found: list[tuple[str, ...]] = []
        if not any(self.enough(names, content) for names in earlier):
            found.append(self.telling(content))
        among = [name for name in content if name not in self.numberings]
        least = _TELLING * self.different(content)
        telling = [set(names) for names in (*earlier, *found) if self.different(names) >= least]
        common = set.intersection(*telling) if telling else set()
        groups = self._dispensable(sorted(common), among, least)
        found += [self.telling([name for name in among if name not in without]) for without in groups]
        return list(dict.fromkeys(found))

    def _dispensable(self, names: Sequence[str], among: Sequence[str], least: float) -> list[set[str]]:
        """Return few groups of some columns, without each of which the others of `among` tell enough rows apart."""
        groups: list[set[str]] = []
        for name in sorted(names, key=lambda name: (self.different([name]), name)):
            for group in (*groups, set[str]()):
                rest = [one for one in among if one != name and one not in group]
                if rest and self.different(rest) >= least:
                    groups = [*(one for one in groups if one is not group), {*group, name}]
                    break
        return groups

    def unique(self, names: Sequence[str]) -> list[str]:
        """Return the columns in which nearly every row has a value of its own."""
        return [name for name in names if self.different([name]) >= _UNIQUE * len(self.hashes)]

    def telling(self, among: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of `among` that tell rows apart nearly as well as all of them, in the order of choice."""
        values = {name: self.different([name]) for name in among}
        most = max(1.0, _FEW_VALUES * len(self.hashes))
        few = sorted((name for name in among if values[name] <= most), key=lambda name: (-values[name], name))
        many = sorted((name for name in among if values[name] > most), key=lambda name: (values[name], name))
        wanted = _ENOUGH * self.different(among)
        chosen: list[str] = []
        codes, known = np.zeros(len(self.hashes), dtype=np.int64), 1
        for name in (*few, *many):
            if known >= wanted:
                break
            finer, different = self._finer(codes, name)
            if different > known:
                chosen.append(name)
                codes, known = finer, different
        return tuple(chosen) or tuple(among)

    def deciding(self, telling: Sequence[str], rows: int) -> tuple[str, ...]:
        """Return the first of these columns that have enough values among all rows to decide which rows are kept.

        What decides is read of every row, the other columns only of those that are kept; that matters where there are
        many rows.
        """
        if rows < _MANY_ROWS:
            return tuple(telling)
        least = _DECIDING * rows / MOST
        for number in range(1, len(telling)):
            if self.population(telling[:number], rows) >= least:
                return tuple(telling[:number])
        return tuple(telling)

    def population(self, names: Sequence[str], rows: int) -> int:
        """Return about the number of distinct rows among all, from the number of equal pairs here."""
        codes, different = self._codes(names)
        number = len(codes)
        if number >= rows or not number:
            return different
        counts = np.bincount(codes)
        pairs = int((counts * (counts - 1) // 2).sum())
        return min(rows, max(different, number * (number - 1) // (2 * max(1, pairs))))

    def _codes(self, names: Sequence[str]) -> tuple[Codes, int]:
        """Return the number of every row among the different ones, and how many there are."""
        if len(names) == 1:
            return self._columns[names[0]]
        codes, known = np.zeros(len(self.hashes), dtype=np.int64), min(1, len(self.hashes))
        for name in names:
            if known == len(codes):  # all rows are told apart
                break
            codes, known = self._finer(codes, name)
        return codes, known

    def _finer(self, codes: Codes, name: str) -> tuple[Codes, int]:
        """Return the number of every pair of a code and a value of one more column, and how many there are."""
        values, different = self._columns[name]
        return _number_values(codes * different + values)

    @cached_property
    def _columns(self) -> dict[str, tuple[Codes, int]]:
        """The number of every value among the different ones of its column, and how many there are."""
        return {name: _number_values(self.hashes[:, at]) for at, name in enumerate(self.names)}


def _number_values(values: NDArray[Any]) -> tuple[Codes, int]:
    found, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64, copy=False), len(found)

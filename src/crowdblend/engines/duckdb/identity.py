"""By what a source is known again, computed in the database: hashes of people and rows, for sketches.

Copies in other formats agree: a whole number is hashed as a number, also where a text spells it, everything else as the
text that CSV would have for it, and NULL as the empty text. One scan per anchor, which reads its columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.relation import Relation
from crowdblend.engines.duckdb.source import open_source
from crowdblend.engines.engine import ColumnType
from crowdblend.ledger.sketch import MOST, Anchor
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Fewer different hashes than this, and more rows are looked at.
_FEWEST = MOST // 4
# Rows from whose beginnings it is seen which column tells rows apart.
_PEEK = 2_000
_TELLS_APART = 0.9
# A line of a CSV file is hardly longer, so there are at least this many.
_LONG_LINE = 200
_BITS = 64


@dataclass(frozen=True)
class Hashes:
    """The rows whose hash begins with `level` zeros: the hash that decides, the one that is compared, how often."""

    level: int
    rows: list[tuple[int, int, int]]


class IdentityScan:
    """A source that is open to be known again."""

    def __init__(self, data: DataSource, connection: DuckDBPyConnection, relation: Relation, size: int) -> None:
        self._connection, self._relation = connection, relation
        self._columns = {field.name: (field.identifier, field.type) for field in relation.fields}
        self._rows = max(1, size // _LONG_LINE) if data.format == "csv" else self._counted()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""
        return tuple(sorted(self._columns))

    @property
    def hashing(self) -> str:
        """A name for the hash function: two versions of the database that hash differently have different ones."""
        (probe,) = self._connection.sql("SELECT hash('crowdblend', '12')").fetchall()[0]
        return f"duckdb {probe:016x}"

    def distinctive(self) -> tuple[str, ...]:
        """The columns whose hash tells most rows apart: a single one where the first rows show one, else all."""
        names = self.columns
        counted = ", ".join(f"count(DISTINCT {self._columns[name][0]})" for name in names)
        some = f"(SELECT * FROM {self._relation.sql} LIMIT {_PEEK})"
        total, *distinct = self._connection.sql(f"SELECT count(*), {counted} FROM {some}").fetchall()[0]
        telling = [name for name, found in zip(names, distinct, strict=True) if found >= _TELLS_APART * max(total, 1)]
        # Numbers with a fraction are slow to spell out.
        telling.sort(key=lambda name: self._columns[name][1] not in (ColumnType.WHOLE, ColumnType.TEXT))
        return tuple(telling[:1]) or names

    def hashes(self, anchor: Anchor) -> Hashes:
        """Enough hashes of an anchor for a sketch, whatever the number of rows and of different ones."""
        level = max(0, math.floor(math.log2(self._rows / (2 * MOST)))) if self._rows > 2 * MOST else 0
        while True:
            rows = self._hashed(anchor, level)
            if level == 0 or len(rows) >= _FEWEST:
                return Hashes(level, rows)
            level = max(0, level - math.ceil(math.log2(2 * _FEWEST / (len(rows) + 1))))

    def _hashed(self, anchor: Anchor, level: int) -> list[tuple[int, int, int]]:
        by, content = self._hash(anchor.by), self._hash(anchor.columns)
        which = f"WHERE hashed < {1 << (_BITS - level)}::UBIGINT" if level else ""
        inner = f"SELECT {by} AS hashed, {content} AS content FROM {self._relation.sql}"
        query = f"SELECT hashed, content, count(*) FROM ({inner}) {which} GROUP BY ALL"
        return self._connection.sql(query).fetchall()

    def _hash(self, names: Sequence[str]) -> str:
        each = [_hashed_value(*self._columns[name]) for name in names]
        return each[0] if len(each) == 1 else f"hash({', '.join(each)})"

    def _counted(self) -> int:
        return int(self._connection.sql(f"SELECT count(*) FROM {self._relation.sql}").fetchall()[0][0])


def _hashed_value(identifier: str, kind: ColumnType) -> str:
    """The hash of a value, the same in every format: whole numbers as numbers, everything else as text."""
    number = f"hash(CAST({identifier} AS BIGINT))"
    if kind is ColumnType.WHOLE:
        return f"CASE WHEN {identifier} IS NOT NULL THEN {number} ELSE hash('') END"
    if kind in (ColumnType.SINGLE, ColumnType.DOUBLE):
        whole = f"{identifier} = trunc({identifier}) AND abs({identifier}) < 1e18"
        return f"CASE WHEN {whole} THEN {number} ELSE hash(coalesce(CAST({identifier} AS VARCHAR), '')) END"
    text = identifier if kind is ColumnType.TEXT else f"CAST({identifier} AS VARCHAR)"
    digits = f"{text} >= '-' AND {text} < ':'"  # it begins with a digit, or with - . / which is slower and as right
    without = f"CASE WHEN suffix({text}, '.0') THEN left({text}, -2) ELSE {text} END"
    spelled = f"CASE WHEN NOT contains({without}, '.') THEN TRY_CAST({without} AS BIGINT) END"
    return (
        f"CASE WHEN {digits} THEN CASE WHEN {spelled} IS NOT NULL THEN hash({spelled}) ELSE hash({text}) END "
        f"WHEN {text} IN ('True', 'False') THEN hash(lower({text})) ELSE hash(coalesce({text}, '')) END"
    )


@contextmanager
def open_identity(data: DataSource, resources: Resources, size: int) -> Iterator[IdentityScan]:
    """A source to be known again; `size` is that of its files in bytes."""
    message = "The source cannot be read from beginning to end."
    remedy = "Check that every line has the fields of the header, and quotes and delimiter."
    wanted = [] if data.person is None else [data.person]
    with private_folder() as folder, database(resources, folder) as connection:
        relation = open_source(connection, data, wanted, folder).ready()
        with redacted(message, remedy):
            yield IdentityScan(data, connection, relation, size)

"""By what a source is known again, computed in the database: hashes of people and rows, for sketches.

Every value is hashed as the text that CSV would have for it, so that copies in other formats agree: NULL is the empty
text, 12.0 is 12, and booleans are in lower case. One scan per anchor, which reads the columns of that anchor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.source import Relation, open_source
from crowdblend.ledger.sketch import MOST, Anchor
from crowdblend.policies.sections import DataSource, Release

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
        self._identifiers = {field.name: field.identifier for field in relation.fields}
        self._rows = max(1, size // _LONG_LINE) if data.format == "csv" else self._counted()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""
        return tuple(sorted(self._identifiers))

    @property
    def hashing(self) -> str:
        """A name for the hash function: two versions of the database that hash differently have different ones."""
        (probe,) = self._connection.sql("SELECT hash('crowdblend', '12')").fetchall()[0]
        return f"duckdb {probe:016x}"

    def distinctive(self) -> tuple[str, ...]:
        """The columns whose hash tells most rows apart: a single one where the first rows show one, else all."""
        names = self.columns
        counted = ", ".join(f"count(DISTINCT {self._identifiers[name]})" for name in names)
        some = f"(SELECT * FROM {self._relation.sql} LIMIT {_PEEK})"
        total, *distinct = self._connection.sql(f"SELECT count(*), {counted} FROM {some}").fetchall()[0]
        best = max(range(len(names)), key=lambda place: distinct[place])
        return (names[best],) if distinct[best] >= _TELLS_APART * max(total, 1) else names

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
        return f"hash({', '.join(_text(self._identifiers[name]) for name in names)})"

    def _counted(self) -> int:
        return int(self._connection.sql(f"SELECT count(*) FROM {self._relation.sql}").fetchall()[0][0])


def _text(identifier: str) -> str:
    """The text of a value, the same in every format."""
    text = f"CAST({identifier} AS VARCHAR)"
    return (
        f"CASE WHEN suffix({text}, '.0') THEN left({text}, -2) WHEN {text} IN ('True', 'False') THEN lower({text}) "
        f"ELSE coalesce({text}, '') END"
    )


@contextmanager
def open_identity(data: DataSource, release: Release, size: int) -> Iterator[IdentityScan]:
    """A source to be known again; `size` is that of its files in bytes."""
    must = "the source must be readable from beginning to end"
    remedy = "Check that every line has the fields of the header, and quotes and delimiter."
    wanted = [] if data.person is None else [data.person]
    with private_folder() as folder, database(release, folder) as connection:
        relation = open_source(connection, data, wanted, folder)
        with redacted(must, remedy):
            yield IdentityScan(data, connection, relation, size)

"""By what a source is known again, computed in the database: hashes of people and rows, for sketches.

Copies in other formats agree: a whole number is hashed as a number, also where a text spells it, everything else as the
text that CSV would have for it, and NULL as the empty text. All anchors are read in one scan of their columns; what is
compared is hashed only for the rows that a sketch keeps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdblend.engines.content import SomeRows, rows_to_look_at
from crowdblend.engines.duckdb.relation import Relation
from crowdblend.engines.engine import ColumnType
from crowdblend.engines.identity import Hashes
from crowdblend.ledger.sketch import MOST, Anchor

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Fewer different hashes than this, and more rows are looked at.
_FEWEST = MOST // 4
# Not more are taken out of the database, whatever the source is like: then they are not all, and the level rises.
_BEYOND = 16 * MOST
_BITS = 64


class DuckDBHashes:
    """The hashes of a source that is open."""

    def __init__(self, connection: DuckDBPyConnection, relation: Relation) -> None:
        self._connection, self._relation = connection, relation
        self._columns = {field.name: (field.identifier, field.type) for field in relation.fields}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""
        return tuple(sorted(self._columns))

    @property
    def hashing(self) -> str:
        """A name for the hash function: two versions of the database that hash differently have different ones."""
        (probe,) = self._connection.sql("SELECT hash('crowdblend', '12')").fetchall()[0]
        return f"duckdb {probe:016x}"

    @cached_property
    def some_rows(self) -> SomeRows:
        """The hashes of all columns, of the first rows."""
        names = self.columns
        each = ", ".join(f"{self._hash([name])} AS h{at}" for at, name in enumerate(names))
        query = f"SELECT {each} FROM (SELECT * FROM {self._relation.known_again} LIMIT {rows_to_look_at(len(names))})"
        found = self._connection.sql(query).fetchnumpy()
        return SomeRows(names, np.column_stack([np.asarray(found[f"h{at}"], np.uint64) for at in range(len(names))]))

    def hashes(self, anchors: Sequence[Anchor]) -> list[Hashes]:
        """Enough hashes of every anchor for a sketch, in one scan where the first guess of their levels is right."""
        levels = [self._level(anchor) for anchor in anchors]
        # Of few different rows all are kept, and each of them may be there often: they are grouped as they are read.
        together = [at for at, level in enumerate(levels) if level]
        found = dict(zip(together, self._scan([(anchors[at], levels[at]) for at in together]), strict=True))
        for at, anchor in enumerate(anchors):
            level = levels[at]
            first = found[at] if at in found else self._scan([(anchor, level)])[0]
            found[at] = self._more(anchor, first) if len(first.rows) < _BEYOND else self._fewer(anchor, level)
        return [found[at] for at in range(len(anchors))]

    def _more(self, anchor: Anchor, kept: Hashes) -> Hashes:
        """Hashes of lower levels, until there are enough for a sketch."""
        while kept.level and len(kept.rows) < _FEWEST:
            level = max(0, kept.level - math.ceil(math.log2(2 * _FEWEST / (len(kept.rows) + 1))))
            more = self._scan([(anchor, level)])[0]
            if len(more.rows) >= _BEYOND:
                break
            kept = more
        return kept

    def _fewer(self, anchor: Anchor, level: int) -> Hashes:
        """Hashes of higher levels: the first rows were more alike than the others, and there were too many."""
        while True:
            level = min(_BITS, level + 3)
            kept = self._scan([(anchor, level)])[0]
            if len(kept.rows) < _BEYOND or level == _BITS:
                return kept

    def _level(self, anchor: Anchor) -> int:
        different = self.some_rows.population(anchor.columns, self.rows)
        return max(0, math.floor(math.log2(different / (2 * MOST)))) if different > 2 * MOST else 0

    def _scan(self, wanted: Sequence[tuple[Anchor, int]]) -> list[Hashes]:
        """The hashes of anchors, each up to its level."""
        if not wanted:
            return []
        selected, conditions, groups = [], [], []
        for at, (anchor, level) in enumerate(wanted):
            by = self._hash(anchor.by)
            below = f" < {1 << (_BITS - level)}::UBIGINT" if level else " IS NOT NULL"
            content, number = self._hash(anchor.columns), self._numbered(anchor)
            selected += [f"{by} AS b{at}", f"{content} AS c{at}", f"{number} AS n{at}"]
            conditions.append(by + below)
            found = f"SELECT {at}, b{at}, c{at}, count(*), bool_and(n{at}) FROM kept"
            groups.append(f"({found} WHERE b{at}{below} GROUP BY b{at}, c{at} LIMIT {_BEYOND})")
        # Once per row that is kept, and not once per group that reads it.
        how = "MATERIALIZED" if len(wanted) > 1 else "NOT MATERIALIZED"
        query = (
            f"WITH kept AS {how} (SELECT {', '.join(selected)} FROM {self._relation.known_again} "
            f"WHERE {' OR '.join(conditions)}) {' UNION ALL '.join(groups)}"
        )
        rows: list[list[tuple[int, int, int]]] = [[] for _ in wanted]
        numbered = [True] * len(wanted)
        for at, by_hash, content, count, is_number in self._connection.sql(query).fetchall():
            rows[at].append((by_hash, content, count))
            numbered[at] &= bool(is_number)
        return [Hashes(level, rows[at], numbered[at] and bool(rows[at])) for at, (_, level) in enumerate(wanted)]

    def _numbered(self, anchor: Anchor) -> str:
        """Whether a value could number a row of this table: a whole number not far above the number of rows."""
        if len(anchor.columns) > 1:
            return "false"
        identifier, _ = self._columns[anchor.columns[0]]
        number = f"TRY_CAST(CAST({identifier} AS VARCHAR) AS BIGINT)"
        return f"coalesce({number} BETWEEN 0 AND {2 * self.rows}, false)"

    def _hash(self, names: Sequence[str]) -> str:
        each = [_hashed_value(*self._columns[name]) for name in names]
        return each[0] if len(each) == 1 else f"hash({', '.join(each)})"

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        if self._relation.rows is not None:
            return self._relation.rows
        return int(self._connection.sql(f"SELECT count(*) FROM {self._relation.sql}").fetchall()[0][0])


def _hashed_value(identifier: str, kind: ColumnType) -> str:
    """The hash of a value, the same in every format: whole numbers as numbers, everything else as text."""
    number = f"hash(CAST({identifier} AS BIGINT))"
    if kind is ColumnType.WHOLE:
        return f"CASE WHEN {identifier} IS NOT NULL THEN {number} ELSE hash('') END"
    if kind in (ColumnType.SINGLE, ColumnType.DOUBLE, ColumnType.DECIMAL):
        whole = f"{identifier} = trunc({identifier}) AND abs({identifier}) < 1e18"
        text = f"CAST({identifier} AS VARCHAR)"
        if kind is ColumnType.DECIMAL:  # 70.50 is 70.5, with as many places as it needs
            text = f"CASE WHEN contains({text}, '.') THEN rtrim({text}, '0') ELSE {text} END"
        return f"CASE WHEN {whole} THEN {number} ELSE hash(coalesce({text}, '')) END"
    text = identifier if kind is ColumnType.TEXT else f"CAST({identifier} AS VARCHAR)"
    if kind is ColumnType.TIMESTAMP:
        return f"hash(coalesce({_moment(identifier)}, ''))"
    if kind.is_day:  # no whole number, and to find that out is slow
        return f"hash(coalesce({text}, ''))"
    digits = f"{text} >= '-' AND {text} < ':'"  # it begins with a digit, or with - . / which is slower and as right
    point = f"suffix({text}, '.0') AND strpos({text}, '.') = length({text}) - 1 THEN split_part({text}, '.', 1)"
    # A cast that fails is slow, and dates and times begin with digits.
    time = f"strpos({text}, '-') > 1 OR contains({text}, ':') OR contains({text}, '/') THEN NULL"
    whole = f"NOT contains({text}, '.') THEN {text}"
    spelled = f"TRY_CAST(CASE WHEN {time} WHEN {whole} WHEN {point} END AS BIGINT)"
    moment = f"{text} LIKE '____-__-__ %' OR {text} LIKE '____-__-__T%'"
    stamp = f"hash(coalesce({_moment(f'TRY_CAST({text} AS TIMESTAMP)')}, {text}))"
    return (
        f"CASE WHEN {digits} THEN CASE WHEN {spelled} IS NOT NULL THEN hash({spelled}) WHEN {moment} THEN {stamp} "
        f"ELSE hash({text}) END "
        f"WHEN {text} IN ('True', 'False') THEN hash(lower({text})) ELSE hash(coalesce({text}, '')) END"
    )


def _moment(timestamp: str) -> str:
    """The text of a moment; at midnight that of its day, as files have it where no moment is at another time."""
    day = f"CAST(CAST({timestamp} AS DATE) AS VARCHAR)"
    return f"CASE WHEN {timestamp} = date_trunc('day', {timestamp}) THEN {day} ELSE CAST({timestamp} AS VARCHAR) END"

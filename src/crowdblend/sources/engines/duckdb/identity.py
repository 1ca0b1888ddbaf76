"""Identity of a source, computed in the database: hashes of people and rows, for sketches.

Copies in other formats agree: a number is hashed as a number, also where a text spells it, everything else as the
text that CSV would have for it, and the empty text as NULL. A whole number is hashed by its digits, however many and
of whatever type; what has a fraction as the nearest double. All anchors are read in one scan of their columns.
A table of few rows is hashed once, whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crowdblend.ledger.identity import MOST, Anchor, FingerprintRequest, Identity, Kind, sketch
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.id_sieve import FIRST_LETTER, HIGHEST, UUID, IdSieve, hashes_alike
from crowdblend.sources.engines.duckdb.relation import PLACE, Field, Relation
from crowdblend.sources.engines.duckdb.rounded_ids import rounded_ids, rounded_sql
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.identity import Hashes, SomeRows, name_of, rows_to_look_at
from crowdblend.trusted.machine.packages import duckdb

# Fewer different hashes than this, and more rows are looked at.
_FEWEST = MOST // 4
# Not more are taken out of the database, whatever the source is like: then they are not all, and the level rises.
BEYOND = 16 * MOST
_BITS = 64
_HASHED, _SIFTED, _TEXTS = "crowdblend_hashed", "crowdblend_sifted", "crowdblend_texts"
# Texts that databases and files have for a boolean.
_BOOLEANS = "('true', 'false', 't', 'f')"
# Below, every whole number is a double.
_SMALL = "1e15"
# Fewer ids are read once more sooner than sifted.
_MANY = 1_000_000


class _Value(NamedTuple):
    """SQL of a value's hash, and of the whole number that it is, or NULL."""

    hashed: str
    number: str


class DuckDBHashes:
    """The hashes of a source that is open."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: Relation, person: str | None = None) -> None:
        self._connection, self._relation, self._person = connection, relation, person
        self._columns = {field.name: (field.identifier, field.type) for field in relation.fields}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""
        return tuple(sorted(self._columns))

    @property
    def hashing(self) -> str:
        """A name for the hash function: two versions of the database that hash differently have different ones."""
        (probe,) = self._connection.execute("SELECT hash('crowdblend', '12')").fetchall()[0]
        return f"duckdb {probe:016x}"

    @cached_property
    def some_rows(self) -> SomeRows:
        """The hashes of all columns, of the first rows."""
        names = self.columns
        if self._source == _HASHED:
            each = ", ".join(f"{self._hash([name])} AS h{at}" for at, name in enumerate(names))
        else:  # which rows are alike is seen as well in the values as they are
            each = ", ".join(f"hash({self._columns[name][0]}) AS h{at}" for at, name in enumerate(names))
        most = rows_to_look_at(len(names))
        # Told where the first rows are, the database begins with no others.
        first = f"WHERE {PLACE[1]} < {most}" if self._relation.placed and self._source == self._relation.sql else ""
        rows = f"(SELECT * FROM {self._source} {first} LIMIT {most})"
        found = self._connection.execute(f"SELECT {each} FROM {rows}").fetchnumpy()
        hashes = np.column_stack([np.asarray(found[f"h{at}"], np.uint64) for at in range(len(names))])
        some = SomeRows(names, hashes, rounded_ids=self._has_rounded_ids(most))
        return replace(some, numberings=self._numberings(some.unique(names), rows))

    def _has_rounded_ids(self, most: int) -> bool:
        """Return whether some of the first ids were rounded."""
        rounded = None if self._person is None else rounded_sql(*self._columns[self._person])
        if rounded is None:
            return False
        found = f"SELECT bool_or({rounded}) FROM (SELECT * FROM {self._relation.known_again} LIMIT {most})"
        return bool(self._connection.execute(found).fetchall()[0][0])

    def _numberings(self, names: Sequence[str], rows: str) -> frozenset[str]:
        """Return those of some columns that number the rows."""
        if not names:
            return frozenset()
        most = 2 * self.rows
        each = ", ".join(
            f"bool_and({number} IS NOT NULL) AND max({number}::HUGEINT) - min({number}::HUGEINT) <= {most}"
            for number in (self._values[name].number for name in names)
        )
        found = self._connection.execute(f"SELECT {each} FROM {rows}").fetchall()[0]
        return frozenset(name for name, numbers in zip(names, found, strict=True) if numbers)

    def identity(self, data: DataSource, request: FingerprintRequest, name: Callable[[], str]) -> Identity:
        """Return the identity of the source, with everything that the ledger wants to compare it by.

        Its name is asked for last: an engine may make it meanwhile.
        """
        if data.person is not None and self.some_rows.rounded_ids:
            raise rounded_ids(data.person)
        anchors = self._anchors(data, request)
        sketches, numbered = [], False
        for (kind, anchor), each in zip(anchors, self.hashes([anchor for _, anchor in anchors]), strict=True):
            numbers_rows = each.numbers_rows(self.rows)
            if kind == "person":
                numbered = numbers_rows
            # What numbers the rows of a table is in every table; only an entry that knows nothing else is compared.
            known: Kind = "numbering" if kind == "column" and numbers_rows else kind
            sketches.append(sketch(known, anchor, each.level, each.rows, request.secret, each.numbers))
        return Identity(name(), self.hashing, tuple(sketches), numbered=numbered)

    def _anchors(self, data: DataSource, request: FingerprintRequest) -> list[tuple[Kind, Anchor]]:
        """Return the anchors of the source, and those of earlier sources that have these columns."""
        every = set(self.columns)
        anchors: list[tuple[Kind, Anchor]] = []
        if data.person is not None:
            anchors.append(("person" if data.ids == "people" else "numbering", Anchor((data.person,), (data.person,))))
        others = [name for name in request.columns if name in every and name != data.person]
        anchors += [("column", Anchor((name,), (name,))) for name in others]
        rows = [anchor for anchor in request.rows if {*anchor.columns, *anchor.by} <= every]
        content = [name for name in self.columns if name != data.person]
        rows += self._own_rows(content, rows)
        if data.person is None:
            # One of the columns may be the ids of another policy, and numbered anew there.
            for name in sorted({name for anchor in rows for name in self.some_rows.unique(anchor.columns)}):
                rows += self._own_rows([one for one in content if one != name], rows)
        return anchors + [("rows", anchor) for anchor in rows]

    def _own_rows(self, content: Sequence[str], anchors: Sequence[Anchor]) -> list[Anchor]:
        """Return the columns that identify rows, beside those of earlier sources that tell these rows apart."""
        within = [anchor.columns for anchor in anchors if {*anchor.columns, *anchor.by} <= set(content)]
        some = self.some_rows
        return [
            Anchor(tuple(sorted(telling)), tuple(sorted(some.deciding(telling, self.rows))))
            for telling in some.column_sets(content, within)
        ]

    def content_name(self, secret: bytes) -> str:
        """Return a name for the rows in whatever order, with the names and types of their columns."""
        fields = self._relation.fields
        every = ", ".join(field.identifier for field in fields)
        query = f"SELECT count(*), sum(hash({every})), sum(hash('second', {every})) FROM {self._relation.sql}"
        return content_name(fields, self._connection.execute(query).fetchall()[0], secret)

    def hashes(self, anchors: Sequence[Anchor]) -> list[Hashes]:
        """Enough hashes of every anchor for a sketch, in one scan where the first guess of their levels is right."""
        wanted = [(anchor, self._level(anchor)) for anchor in anchors]
        return [
            self._more(anchor, first) if len(first.rows) < BEYOND else self._fewer(anchor, level)
            for (anchor, level), first in zip(wanted, self._first(wanted), strict=True)
        ]

    def _first(self, anchors: Sequence[tuple[Anchor, int]]) -> list[Hashes]:
        """Return the hashes of the levels that were guessed."""
        # Of few different rows all are kept, and each of them may be there often: they are grouped as they are read.
        sources = [self._source_of_ids(*one) for one in anchors]
        together = [at for at, (_, level) in enumerate(anchors) if level and sources[at] is None]
        found = dict(zip(together, self.scan([anchors[at] for at in together]), strict=True))
        return [
            found[at] if at in found else self._scan([one], sources[at] or self._source)[0]
            for at, one in enumerate(anchors)
        ]

    @cached_property
    def sieve(self) -> IdSieve | None:
        """The sieve that finds the ids of the person column by which many people are recognized, where there is one."""
        if self._person is None or self.rows < _MANY:
            return None
        field, anchor = self._relation.field(self._person), Anchor((self._person,), (self._person,))
        plain = field.csv is None and field.type in (ColumnType.WHOLE, ColumnType.TEXT)
        level = self._level(anchor) if plain else 0
        return IdSieve(anchor, level) if 0 < level <= HIGHEST and hashes_alike(self._connection) else None

    def _source_of_ids(self, anchor: Anchor, level: int) -> str | None:
        """Return the ids of an anchor in SQL, where they were sifted out of all."""
        sieve = self.sieve
        if sieve is None or (sieve.anchor, sieve.level) != (anchor, level) or (ids := sieve.ids()) is None:
            return None
        self._connection.register(_SIFTED, ids)
        return f"(SELECT id AS {self._columns[anchor.columns[0]][0]} FROM {_SIFTED})"

    def _more(self, anchor: Anchor, hashes: Hashes) -> Hashes:
        """Hashes of lower levels, until there are enough for a sketch."""
        while hashes.level and len(hashes.rows) < _FEWEST:
            level = max(0, hashes.level - math.ceil(math.log2(2 * _FEWEST / (len(hashes.rows) + 1))))
            more = self.scan([(anchor, level)])[0]
            if len(more.rows) >= BEYOND:
                break
            hashes = more
        return hashes

    def _fewer(self, anchor: Anchor, level: int) -> Hashes:
        """Hashes of higher levels: the first rows were more alike than the others, and there were too many."""
        while True:
            level = min(_BITS, level + 3)
            kept = self.scan([(anchor, level)])[0]
            if len(kept.rows) < BEYOND or level == _BITS:
                return kept

    def _level(self, anchor: Anchor) -> int:
        different = self.some_rows.population(anchor.columns, self.rows)
        return max(0, math.floor(math.log2(different / (2 * MOST)))) if different > 2 * MOST else 0

    def scan(self, anchors: Sequence[tuple[Anchor, int]]) -> list[Hashes]:
        """Return the hashes of anchors, each up to its level."""
        return self._scan(anchors, self._source) if anchors else []

    def _scan(self, anchors: Sequence[tuple[Anchor, int]], source: str) -> list[Hashes]:
        selected, conditions, groups = [], [], []
        for at, (anchor, level) in enumerate(anchors):
            by, content, number = self._hash(anchor.by), self._hash(anchor.columns), self._number(anchor)
            below = f" < {1 << (_BITS - level)}::UBIGINT" if level else " IS NOT NULL"
            selected += [f"{by} AS b{at}", f"{content} AS c{at}", f"{number} AS n{at}"]
            conditions.append(f"{by}{below}")
            found = f"SELECT {at}, b{at}, c{at}, count(*), min(n{at}) FROM kept"
            groups.append(f"({found} WHERE b{at}{below} GROUP BY b{at}, c{at} LIMIT {BEYOND})")
        # Once per row that is kept, and not once per group that reads it.
        how = "MATERIALIZED" if len(anchors) > 1 else "NOT MATERIALIZED"
        query = (
            f"WITH kept AS {how} (SELECT {', '.join(selected)} FROM {source} "
            f"WHERE {' OR '.join(conditions)}) {' UNION ALL '.join(groups)}"
        )
        rows: list[list[tuple[int, int, int]]] = [[] for _ in anchors]
        numbers: list[dict[int, int]] = [{} for _ in anchors]
        for at, by_hash, content, count, number in self._connection.execute(query).fetchall():
            rows[at].append((by_hash, content, count))
            if number is not None:
                numbers[at][content] = number
        return [Hashes(level, rows[at], numbers[at]) for at, (_, level) in enumerate(anchors)]

    def _number(self, anchor: Anchor) -> str:
        """Return SQL for the whole number that the value of a single column is; NULL where it is none."""
        return self._values[anchor.columns[0]].number if len(anchor.columns) == 1 else "NULL::BIGINT"

    def _hash(self, names: Sequence[str]) -> str:
        return _together([self._values[name].hashed for name in names])

    @cached_property
    def _source(self) -> str:
        """The table to read: the source, or the hashes of all values where all rows are read anyway."""
        if self.rows > rows_to_look_at(len(self._columns)):
            return self._relation.known_again
        values, source = [_value(*each) for each in self._columns.values()], self._relation.known_again
        texts = {at: name for at, (name, kind) in enumerate(self._columns.values()) if kind is ColumnType.TEXT}
        if texts:  # the SQL for one is long, and planning it for every column would take longer than evaluating it
            every = ", ".join(identifier for identifier, _ in self._columns.values())
            hashed = f"list_transform([{', '.join(texts.values())}], lambda x: {_hashed_text('x')})"
            own = _TEXTS
            while own in map(str.casefold, self._columns):
                own += "_"
            source = f"(SELECT {every}, {hashed} AS {own} FROM {source})"
            for place, at in enumerate(texts, start=1):
                values[at] = values[at]._replace(hashed=f"{own}[{place}]")
        each = ", ".join(f"{value.hashed} AS h{at}, {value.number} AS n{at}" for at, value in enumerate(values))
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {_HASHED} AS SELECT {each} FROM {source}")
        return _HASHED

    @cached_property
    def _values(self) -> dict[str, _Value]:
        """The SQL of a value of each column."""
        if self._source == _HASHED:
            return {name: _Value(f"h{at}", f"n{at}") for at, name in enumerate(self._columns)}
        return {name: _value(*each) for name, each in self._columns.items()}

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        if self._relation.rows is not None:
            return self._relation.rows
        return int(self._connection.execute(f"SELECT count(*) FROM {self._relation.sql}").fetchall()[0][0])


def content_name(fields: Sequence[Field], sums: Sequence[int | None], secret: bytes) -> str:
    """Return a name for rows of which the number and the sums of two hashes are known."""
    typed = json.dumps([[field.name, field.type.name] for field in fields])
    return name_of([typed.encode(), *(str((number or 0) % (1 << _BITS)).encode() for number in sums)], secret)


def _together(hashes: Sequence[str]) -> str:
    """Return the hash of a row of hashes."""
    return hashes[0] if len(hashes) == 1 else f"hash({', '.join(hashes)})"


def _value(identifier: str, kind: ColumnType) -> _Value:
    return _Value(_hashed_value(identifier, kind), f"TRY_CAST(CAST({identifier} AS VARCHAR) AS BIGINT)")


def _hashed_value(identifier: str, kind: ColumnType) -> str:
    """The hash of a value, the same in every format: numbers as numbers, everything else as text, nothing as NULL.

    A boolean is 1 or 0, as databases without booleans have it.

    A function of one column is evaluated once for each entry of its dictionary, where a file has one, a CASE for each
    row: so whole numbers and days have none.
    """
    if kind is ColumnType.WHOLE:
        return f"hash(CAST({identifier} AS BIGINT))"
    if kind is ColumnType.DOUBLE:
        return _hashed_number(identifier)
    text = identifier if kind is ColumnType.TEXT else f"CAST({identifier} AS VARCHAR)"
    if kind is ColumnType.SINGLE:  # 0.1 of either is another double than 0.1
        return _hashed_number(f"CAST({text} AS DOUBLE)")
    if kind is ColumnType.DECIMAL:
        without_zeros = f"CASE WHEN contains({text}, '.') THEN {_without_zeros(text)} ELSE {text} END"
        return f"CASE WHEN {_hashed_decimal(without_zeros, f'CAST({text} AS DOUBLE)')} END"
    if kind is ColumnType.TIMESTAMP:
        return f"hash({_moment(identifier)})"
    return f"hash({text})" if kind.is_day else _hashed_text(text)


def _hashed_number(number: str) -> str:
    """Return the hash of a double; of a whole one it is that of its digits, as a whole number of up to 38 has them."""
    least = "CAST('-9223372036854775808' AS DOUBLE)"
    digits = f"CAST(TRY_CAST({number} AS HUGEINT) AS VARCHAR)"
    return (
        f"CASE WHEN {number} = trunc({number}) AND abs({number}) < 1e38 "
        f"THEN CASE WHEN {number} >= {least} AND {number} < -{least} THEN hash(CAST({number} AS BIGINT)) "
        f"ELSE hash({digits}) END "
        f"WHEN isfinite({number}) THEN hash({number}) ELSE hash(CAST({number} AS VARCHAR)) END"
    )


def _without_zeros(decimal: str) -> str:
    """Return the text of a decimal number with a point, without zeros at its end."""
    return f"rtrim(rtrim({decimal}, '0'), '.')"


def _hashed_decimal(digits: str, number: str) -> str:
    """Return the cases of a decimal number: the hash of its digits where it is whole, else that of the nearest double.

    Small ones, which are most, need no look at their digits: a double holds them.
    """
    return (
        f"abs({number}) < {_SMALL} THEN {_hashed_number(number)} "
        f"WHEN NOT contains({digits}, '.') THEN {_hashed_digits(digits)} ELSE {_hashed_number(number)}"
    )


def _hashed_digits(text: str) -> str:
    """Return the hash of a text that is a whole number if it begins like one, of whatever length."""
    whole = f"TRY_CAST({text} AS BIGINT)"
    padded = f"({text} LIKE '0%' OR {text} LIKE '-0%') AND regexp_full_match({text}, '-?[0-9]+')"
    plain = f"CASE WHEN {padded} THEN regexp_replace({text}, '^(-?)0+', '\\1') ELSE {text} END"
    return f"CASE WHEN {whole} IS NULL THEN hash({plain}) ELSE hash({whole}) END"


def _hashed_text(text: str) -> str:
    """Return the hash of a text, or of the number or moment that it spells.

    Most texts begin with a letter, or are UUIDs, whose dashes no number or moment has: their hash is that of the text.
    """
    perhaps = f"{text} < '{FIRST_LETTER}' AND NOT (strlen({text}) = {len(UUID)} AND {text} LIKE '{UUID}')"
    exponent = f"contains({text}, 'e') OR contains({text}, 'E')"
    # A cast that fails is slow, and dates and times begin with digits.
    time = f"contains({text}, ':') OR contains({text}, '/') OR (strpos({text}, '-') > 1 AND NOT ({exponent}))"
    fraction, stamp = (f"TRY_CAST({text} AS {kind})" for kind in ("DOUBLE", "TIMESTAMP"))
    moment = f"({text} LIKE '____-__-__ %' OR {text} LIKE '____-__-__T%') AND {stamp} IS NOT NULL"
    return (
        f"CASE WHEN {perhaps} THEN CASE WHEN {text} = '' THEN hash(NULL) "
        f"WHEN {text} < '-' OR {time} THEN CASE WHEN {moment} THEN hash({_moment(stamp)}) ELSE hash({text}) END "
        # Doubles are written with an exponent, and are what they are.
        f"WHEN {exponent} THEN CASE WHEN {fraction} IS NULL THEN hash({text}) ELSE {_hashed_number(fraction)} END "
        f"WHEN contains({text}, '.') THEN CASE WHEN {fraction} IS NULL THEN hash({text}) "
        f"WHEN {_hashed_decimal(_without_zeros(text), fraction)} END "
        f"ELSE {_hashed_digits(text)} END "
        f"WHEN strlen({text}) < 6 AND lower({text}) IN {_BOOLEANS} THEN hash(CAST(CAST({text} AS BOOLEAN) AS BIGINT)) "
        f"ELSE hash({text}) END"
    )


def _moment(timestamp: str) -> str:
    """Return the text of a moment; at midnight that of its day, as files have it where no moment is at another time."""
    day = f"CAST(CAST({timestamp} AS DATE) AS VARCHAR)"
    return f"CASE WHEN {timestamp} = date_trunc('day', {timestamp}) THEN {day} ELSE CAST({timestamp} AS VARCHAR) END"

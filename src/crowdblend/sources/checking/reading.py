"""Hold rows against a policy: one scan for all columns, and another look at those with values that do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.bounded_recoding import Steps
from crowdblend.methods.recoding.classes import ClosedRecoding, ComputedRecoding, Lookup, Open, Recoding
from crowdblend.methods.recoding.reading import blank_sql, zone_sql
from crowdblend.policies.columns import Column
from crowdblend.policies.domains import NumberDomain
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import DataSource
from crowdblend.policies.terms import Terms
from crowdblend.sources.checking.check import Check, ColumnCheck, ListedValue, PersonCheck
from crowdblend.sources.engines.duckdb.coding import reads_typed
from crowdblend.sources.engines.duckdb.engine import DuckDBEngine
from crowdblend.sources.engines.duckdb.hints import MOST_TEXTS, hint_for
from crowdblend.sources.engines.duckdb.relation import Field, Relation, source_name
from crowdblend.sources.engines.engine import Progress, no_progress
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa

# This many values of a column are listed, and this many labels looked at for one that is nearly the same.
_MOST_LISTED = 20
_MOST_COMPARED = 2_000
_PERSONS = "crowdblend_persons"


def check_rows(policy: Policy, progress: Progress | None = None) -> Check:
    """Return how the rows of a policy's source fit what it declares; a source that lacks a column is refused."""
    if policy.publish[0].rows_are_links:
        message = "A network declares no domains to check its links against."
        raise InvalidInput(message, remedy="Release it: links are checked then.", where="`publish`", code="check.kind")
    return check_terms(policy.terms, policy.data, progress)


def check_terms(terms: Terms, data: DataSource, progress: Progress | None = None) -> Check:
    """Return how the rows of a source fit the declared columns, whatever is published of them."""
    columns, sampling = terms.columns, terms.sampling
    told = progress or no_progress
    with (
        DuckDBEngine().open(data, [column.name for column in columns], terms.resources) as source,
        source.reading() as (connection, relation),
    ):
        rows = _Rows(connection, relation, columns)
        told("all columns", 0)
        total = rows.total
        found = []
        for at, column in enumerate(columns):
            told(f"column {column.name}", total)
            found.append(rows.check(at))
        told("persons", total)
        person = None if data.person is None or not total else _person(connection, relation, data, total)
        if person is not None and sampling is not None and sampling.everybody:
            person = replace(person, expected=terms.people)
        elif person is not None and sampling is not None and sampling.fixed_size:
            person = replace(person, at_most=sampling.people)
        return Check(source_name(data).strip("'"), total, tuple(found), person)


@dataclass(frozen=True)
class _Rows:
    """The rows of a source with, for every column, its text t0, t1, …, and its code in the declared domain."""

    connection: duckdb.DuckDBPyConnection
    relation: Relation
    columns: Sequence[Column]

    @cached_property
    def total(self) -> int:
        """The number of rows."""
        return self._counts[0]

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        """The rows, and for every column the blanks and the values outside its domain, in one scan."""
        each = [
            f"count(*) FILTER (WHERE {blank}), count(*) FILTER (WHERE NOT {blank} AND {self._code(at)} IS NULL)"
            for at, blank in enumerate(self._blank(at) for at in range(len(self.columns)))
        ]
        query = f"SELECT {', '.join(['count(*)', *each])} FROM {self._source()}"
        return tuple(self.connection.execute(query).fetchall()[0])

    def check(self, at: int) -> ColumnCheck:
        """Return what was found of one column."""
        column, recoding = self.columns[at], self._recodings[at]
        blank, outside = self._counts[1 + 2 * at : 3 + 2 * at]
        found = ColumnCheck(
            column.name,
            _words(column, recoding),
            self.total,
            blank,
            outside,
            outside_becomes=_outside(column),
            blank_becomes=_blanks(column),
        )
        if not outside:
            return found
        listed, different = self._frequent(f"t{at}", f"NOT {self._blank(at)} AND {self._code(at)} IS NULL", at)
        csv = self._fields[at].csv
        rewritten = f"CAST(v{at} AS VARCHAR)"
        condition = f"NOT {self._blank(at)} AND {self._code(at)} IS NULL"
        query = f"SELECT DISTINCT {rewritten} FROM {self._source(at)} WHERE {condition} LIMIT {MOST_TEXTS}"
        texts = [text for (text,) in self.connection.execute(query).fetchall()]
        hint = hint_for(recoding, texts, self.connection, *(() if csv is None else (csv.raw_text,)))
        forms: tuple[ListedValue, ...] = ()
        if recoding.reads == "date" and not self._has_type[at]:
            zoned = f"SELECT 1 FROM {self._source(at)} WHERE {condition} AND {zone_sql(f't{at}')} LIMIT 1"
            if self.connection.execute(zoned).fetchall():  # a release refuses these, whatever else it takes
                found = replace(found, outside_becomes=None)
            digits = f"regexp_replace(trim(t{at}), '[0-9]', '9', 'g')"
            form = f"regexp_replace({digits}, '[A-Za-z]+', 'A', 'g')"
            forms, _ = self._frequent(form, f"NOT {self._blank(at)}", at, most=5)
        return replace(
            found,
            values=tuple(replace(one, near=_near(one.value, recoding)) for one in listed),
            different=different,
            unused=self._unused_values(at),
            forms=forms,
            hint=hint,
        )

    def _frequent(
        self, value: str, which: str, at: int, most: int = _MOST_LISTED
    ) -> tuple[tuple[ListedValue, ...], int]:
        """Return the most frequent values of some rows, and how many different ones there are."""
        grouped = f"SELECT {value} AS value, count(*) AS n FROM {self._source(at)} WHERE {which} GROUP BY 1"
        query = f"SELECT value, n, count(*) OVER () FROM ({grouped}) ORDER BY n DESC, value LIMIT {most}"
        found = self.connection.execute(query).fetchall()
        return tuple(ListedValue(text, count) for text, count, _ in found), found[0][2] if found else 0

    def _unused_values(self, at: int) -> tuple[str, ...]:
        """Return the first of the listed values that no row has."""
        recoding = self._recodings[at]
        if not isinstance(recoding, Lookup):
            return ()
        query = f"SELECT DISTINCT t{at} FROM {self._source(at)} WHERE k{at} IS NOT NULL"
        seen = {text for (text,) in self.connection.execute(query).fetchall()}
        return tuple(value for value in recoding.lookup if value not in seen)[:_MOST_LISTED]

    @cached_property
    def _fields(self) -> list[Field]:
        return [self.relation.field(column.name) for column in self.columns]

    @cached_property
    def _recodings(self) -> list[Recoding]:
        """The domains alone, without the classes for what lies outside."""
        return [_own(column) for column in self.columns]

    @cached_property
    def _has_type(self) -> list[bool]:
        return [
            reads_typed(replace(column, recodings=(recoding,)), field.type)
            for column, recoding, field in zip(self.columns, self._recodings, self._fields, strict=True)
        ]

    def _blank(self, at: int) -> str:
        return blank_sql(f"t{at}")

    def _code(self, at: int) -> str:
        recoding = self._recodings[at]
        if isinstance(recoding, ComputedRecoding):
            return f"({recoding.sql(f'v{at}', self._has_type[at])})"
        if isinstance(recoding, Open):
            return f"({recoding.label_sql(f'v{at}', self._has_type[at])})"
        return f"k{at}"

    def _source(self, *place: int) -> str:
        """Return the rows in SQL with the texts, values and listed codes of some columns, or of all."""
        selected, joins = [], []
        for at in place or range(len(self.columns)):
            field, recoding = self._fields[at], self._recodings[at]
            read = field.read_as(recoding.reads)
            selected += [
                f"CAST({field.identifier} AS VARCHAR) AS t{at}",
                f"{read if self._has_type[at] else f'CAST({read} AS VARCHAR)'} AS v{at}",
            ]
            if isinstance(recoding, Lookup):
                joins.append(f"LEFT JOIN {self._lookups[at]} ON v{at} = value{at}")
        rows = f"(SELECT {', '.join(selected) or '1'} FROM {self.relation.sql})"
        return f"{rows} {' '.join(joins)}"

    @cached_property
    def _lookups(self) -> Mapping[int, str]:
        """The listed values of columns as tables of the database, by position."""
        names = {at: f"crowdblend_listed{at}" for at, one in enumerate(self._recodings) if isinstance(one, Lookup)}
        for at, name in names.items():
            listed = getattr(self._recodings[at], "lookup", {})
            codes = pa.array(listed.values(), pa.int32())
            self.connection.register(name, pa.table({f"value{at}": pa.array(listed, pa.string()), f"k{at}": codes}))
        return names


def _own(column: Column) -> Recoding:
    """Return the declared domain alone, without the classes for what lies outside."""
    if isinstance(column.domain, NumberDomain):
        return Steps(replace(column.domain.bounds(), blank=None))
    return replace(column.recoding, other=None, missing=None)


def _words(column: Column, recoding: Recoding) -> str:
    """Return the declared domain in a few words."""
    if isinstance(column.domain, NumberDomain):
        return f"numbers from {column.domain.start} to {column.domain.stop}"
    if isinstance(recoding, Axis):
        return f"numbers from {recoding.start} to {recoding.stop}"
    if not isinstance(recoding, ClosedRecoding):
        period = getattr(recoding, "period", None)
        return f"dates, by {period}" if period else "any text, by its first characters"
    listed = recoding.own_labels
    return ", ".join(listed) if len(listed) <= 6 else f"{', '.join(listed[:3])}, … {listed[-1]} ({len(listed):,})"


def _outside(column: Column) -> str | None:
    """Return what a release makes of values outside the domain; None where it refuses them."""
    if isinstance(column.domain, NumberDomain):
        return None
    if isinstance(column.recoding, Axis):
        return None if column.recoding.other is None else "these people are left out"
    return None if column.recoding.other is None else f"published as {column.recoding.other!r}"


def _blanks(column: Column) -> str | None:
    """Return what a release makes of blanks; None where it refuses them."""
    if isinstance(column.domain, NumberDomain):
        return None if column.domain.blank is None else f"counted as {column.domain.blank}"
    if isinstance(column.recoding, Axis):
        return _outside(column)
    label = column.recoding.missing or column.recoding.other
    return None if label is None else f"published as {label!r}"


def _near(value: str, recoding: Recoding) -> str | None:
    """Return the declared value that a value may be meant for."""
    if not isinstance(recoding, Lookup) or len(recoding.lookup) > _MOST_COMPARED:
        return None
    folded = {known.strip().casefold(): known for known in recoding.lookup}
    near = get_close_matches(value.strip().casefold(), folded, n=1, cutoff=0.75)
    return folded[near[0]] if near else None


def _person(connection: duckdb.DuckDBPyConnection, relation: Relation, data: DataSource, rows: int) -> PersonCheck:
    """Return what was found of the column that tells people apart."""
    name = str(data.person)
    text = f"CAST({relation.field(name).identifier} AS VARCHAR)"
    who = f"CASE WHEN NOT {blank_sql(text)} THEN {text} END"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_PERSONS} AS SELECT {who} AS who, count(*) AS n FROM {relation.sql} GROUP BY 1"
    )
    number, most = "TRY_CAST(who AS BIGINT)", data.unit.most
    query = (
        "SELECT coalesce(sum(n) FILTER (WHERE who IS NULL), 0), count(who), count(who) FILTER (WHERE n > 1), "
        f"coalesce(sum(n) FILTER (WHERE who IS NOT NULL AND n > 1), 0), "
        f"coalesce(sum(greatest(n - {most}, 0)) FILTER (WHERE who IS NOT NULL), 0), min({number}), max({number}), "
        f"count({number}), count(DISTINCT lower(trim(who))) FROM {_PERSONS}"
    )
    blank, people, repeated, repeated_rows, left_out, low, high, numbers, folded = connection.execute(query).fetchall()[
        0
    ]
    often = f"SELECT who, n FROM {_PERSONS} WHERE n > 1 AND who IS NOT NULL ORDER BY n DESC, who LIMIT {_MOST_LISTED}"
    return PersonCheck(
        name,
        rows,
        people,
        int(blank),
        repeated,
        int(repeated_rows),
        data.unit.kept,
        int(left_out),
        tuple(ListedValue(value, count) for value, count in connection.execute(often).fetchall()),
        row_numbers=bool(people == rows == numbers and low in (0, 1) and high - low + 1 == people),
        ids=data.ids,
        alike=people - folded,
    )

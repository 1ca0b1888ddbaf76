"""From a table of people to the class counts of a sample: the only code that sees rows.

    rows ── coin ──▶ sampled rows ── one row per person ── recode ──▶ words ── tally ──▶ SampledClasses

Rows come from the engine in batches. The coin decides about a batch at once; only sampled rows are looked at further.
What is drawn depends on the key and the persons, and what is counted on the sampled rows, so the result is the same
whatever the order of the rows, the batches and the number of threads. The key never leaves Python.

Where every row is a person there is nothing to flip a coin for. All rows are grouped and every class is thinned.

Theorem. Keeping each of n_c people of class c independently with probability `rate` and counting what is left gives
independent Binomial(n_c, rate) counts. So thinning the counts is the same draw. ∎
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.randomness import KeyedSource, new_key, thin
from crowdblend.release.coding import Coding, only_occurring
from crowdblend.release.database import bytes_of, database, private_folder, redacted
from crowdblend.release.people import OneOfEach, OneRowEach, Persons, read_persons
from crowdblend.release.policy import Policy
from crowdblend.release.source import Relation, open_source
from crowdblend.release.tally import Tally, refuse_beyond

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

Progress = Callable[[str, int], None]

# Rows that the coin decides about at once, and sampled rows that are recoded at once.
_BATCH = 1 << 17
_CHUNK = 1 << 19
_CHUNK_BYTES = 1 << 27
# Only tells whether two tables are about the same people; protects nobody, so it need not be secret.
NOBODY_S_SECRET = b"the people of a table, summed up"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}


@dataclass(frozen=True)
class Part:
    """One of the two parts that a second coin splits a sample into: a `share` that chooses, and the others."""

    key: bytes
    share: float
    choosing: bool

    def of_rows(self, persons: Persons) -> NDArray[np.bool_]:
        """Which rows are in this part."""
        drawn = persons.drawn(self.key, self.share)
        return drawn if self.choosing else ~drawn

    def of_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of each class are in this part."""
        chosen = thin(counts, self.share, KeyedSource(self.key, b"choosing part of the finest classes"))
        return chosen if self.choosing else counts - chosen


def sample_classes(
    policy: Policy,
    *,
    key: bytes | None,
    rate: float | None,
    progress: Progress | None = None,
    part: Part | None = None,
    secret: bytes | None = None,
) -> tuple[SampledClasses, dict[str, int]]:
    """The class counts of a sample, and facts for the steward only.

    With a key, everybody is drawn with probability `rate` by the key's coin. Without one the table is itself the
    sample. `part` keeps one part of the sample. `secret` decides which of several rows of a person counts; by default
    the key does. `progress` is told the phase and the rows so far.
    """
    if key is not None and rate is None:
        raise InvalidInput("rate must be given with a key, and is not. Pass the share of people kept.")
    with private_folder() as folder, database(policy.release, folder) as connection:
        return _Run(policy, connection, key, rate, progress, part, secret).result(folder)


def open_columns(policy: Policy) -> None:
    """Open the source and look for the columns; no row is read."""
    wanted = [column.name for column in policy.columns]
    wanted = wanted if policy.data.person is None else [policy.data.person, *wanted]
    with private_folder() as folder, database(policy.release, folder) as connection:
        open_source(connection, policy.data, wanted, folder)


class _Run:
    """One pass over the data."""

    def __init__(
        self,
        policy: Policy,
        connection: DuckDBPyConnection,
        key: bytes | None,
        rate: float | None,
        progress: Progress | None,
        part: Part | None,
        secret: bytes | None,
    ) -> None:
        self._policy, self._connection, self._key, self._rate = policy, connection, key, rate
        self._progress = progress or _silent
        self._room = bytes_of(policy.release.memory)
        self._person = policy.data.person
        self._names = [column.name for column in policy.columns]
        # Marks for the one-row-per-person check need a secret, also when nobody is drawn.
        self._secret = secret or key or new_key()
        self._part = part
        self._rows = 0
        self._people = np.zeros(2, np.uint64)

    def result(self, folder: Path) -> tuple[SampledClasses, dict[str, int]]:
        wanted = [*self._names] if self._person is None else [self._person, *self._names]
        relation = open_source(self._connection, self._policy.data, wanted, folder)
        must = "the data must be rows that can be read from beginning to end"
        remedy = "Check that every line has the fields of the header, and quotes and delimiter."
        # A second connection, because the first one is busy streaming rows.
        with closing(self._connection.cursor()) as second, redacted(must, remedy):
            types = [relation.columns[name][1] for name in self._names]
            coding = Coding(second, self._policy.columns, types)
            tally = Tally(coding.words, coding.classes, self._room)
            if self._person is None:
                self._count_rows(relation, coding, tally)
            else:
                self._count_people(relation, coding, tally)
        if not self._rows:
            raise InvalidInput("the data must have at least one row, and have none. Check source in [data].")
        self._progress("counting", self._rows)
        words, counts = tally.counted()
        # a row of codes, a count and what is needed to make them
        refuse_beyond(self._room, len(counts) * (4 * len(self._names) + 24))
        classes = coding.classes_of(words, counts)
        if self._person is None and (self._key is not None or self._part is not None):
            classes = self._thinned(classes)
        facts = {"rows_read": self._rows, "people_sampled": classes.people, "classes": len(classes.counts)}
        if self._key is None and self._person is not None:
            # A sum, so that the order of rows and the format of the file do not matter.
            facts["same_people"] = int(self._people[0]) << 64 | int(self._people[1])
        return classes, facts

    def _count_rows(self, relation: Relation, coding: Coding, tally: Tally) -> None:
        for chunk in _chunks(self._batches(relation, coding.selected(self._identifiers(relation)))):
            tally.add(coding.coded(chunk)[0])

    def _count_people(self, relation: Relation, coding: Coding, tally: Tally) -> None:
        selected = f"{self._person_sql(relation)} AS person, {coding.selected(self._identifiers(relation))}"
        sample = self._sample(self._batches(relation, selected))
        if self._policy.data.duplicates == "one":
            each = OneOfEach(self._secret, coding.words, self._room)
            for chunk in _chunks(_marked(rows, persons, self._secret) for rows, persons in sample):
                words, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
                each.add(low, high, words)
            tally.add(each.chosen(coding.content))
            return
        check = OneRowEach(self._secret, str(self._person), self._room)
        for chunk in _chunks(_checked(rows, persons, check) for rows, persons in sample):
            tally.add(coding.coded(chunk)[0])
        check.check(lambda: self._persons_again(relation))

    def _sample(
        self, batches: Iterator[pyarrow.RecordBatch], *, again: bool = False
    ) -> Iterator[tuple[pyarrow.RecordBatch, Persons]]:
        """The sampled rows of each batch without their persons, and their persons."""
        import pyarrow as pa  # noqa: PLC0415 - heavy

        for batch in batches:
            persons, rows = read_persons(batch.column(0), str(self._person)), batch.select(batch.schema.names[1:])
            if self._key is None and not again:
                self._people += persons.marks(NOBODY_S_SECRET).sum(axis=0, dtype=np.uint64)
            if self._key is not None and self._rate is not None:
                drawn = persons.drawn(self._key, self._rate)
                # Rows that are not drawn are dropped here, unread: what they hold is never checked or refused.
                rows, persons = rows.filter(pa.array(drawn)), persons.where(drawn)
            if self._part is not None:
                inside = self._part.of_rows(persons)
                rows, persons = rows.filter(pa.array(inside)), persons.where(inside)
            yield rows, persons

    def _persons_again(self, relation: Relation) -> Iterator[Persons]:
        for _, persons in self._sample(self._read(relation, f"{self._person_sql(relation)} AS person"), again=True):
            yield persons

    def _batches(self, relation: Relation, selected: str) -> Iterator[pyarrow.RecordBatch]:
        for batch in self._read(relation, selected):
            self._rows += batch.num_rows
            self._progress("reading", self._rows)
            yield batch

    def _read(self, relation: Relation, selected: str) -> Iterator[pyarrow.RecordBatch]:
        rows = self._connection.sql(f"SELECT {selected} FROM {relation.sql}")
        # DuckDB's later name first; what the other one does is the same.
        streamed = rows.to_arrow_reader if hasattr(rows, "to_arrow_reader") else rows.fetch_record_batch
        yield from streamed(_BATCH)

    def _identifiers(self, relation: Relation) -> Sequence[str]:
        return [relation.columns[name][0] for name in self._names]

    def _person_sql(self, relation: Relation) -> str:
        """The person as a 64-bit number or a text, NULL for nobody."""
        name, kind = relation.columns[str(self._person)]
        if kind in _WHOLE:
            return f"CAST({name} AS BIGINT)"
        if kind in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN NOT isnan({name}) THEN CAST({name} AS VARCHAR) END"
        return f"CAST({name} AS VARCHAR)"

    def _thinned(self, classes: SampledClasses) -> SampledClasses:
        """The classes after a binomial draw from each, in the order of the codes."""
        counts = classes.counts
        if self._key is not None and self._rate is not None:
            counts = thin(counts, self._rate, KeyedSource(self._key, b"release, thinning of the finest classes"))
        if self._part is not None:
            counts = self._part.of_counts(counts)
        left = SampledClasses(classes.columns, classes.labels, classes.codes, counts).where(counts > 0)
        return only_occurring(left, [not column.recoding.closed for column in self._policy.columns])


def _silent(_phase: str, _rows: int) -> None:
    """Nobody wants to know."""


def _marked(rows: pyarrow.RecordBatch, persons: Persons, key: bytes) -> pyarrow.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 - heavy

    low, high = np.ascontiguousarray(persons.marks(key).T)
    return rows.append_column("mark_low", pa.array(low)).append_column("mark_high", pa.array(high))


def _checked(rows: pyarrow.RecordBatch, persons: Persons, check: OneRowEach) -> pyarrow.RecordBatch:
    check.add(persons)
    return rows


def _chunks(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """The batches put together to tables that are worth a query."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(some.num_rows for some in waiting) >= _CHUNK or sum(some.nbytes for some in waiting) >= _CHUNK_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting.clear()
    if sum(some.num_rows for some in waiting):
        yield pa.Table.from_batches(waiting)

"""A table in memory as an engine: the same draws, checks and counts as for files, without a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from crowdblend.engines.class_counter import ClassCounter, PackedCodes
from crowdblend.engines.draw import Coin, Draw, Everybody, Exactly, StratifiedCoin
from crowdblend.engines.engine import ClassCounts, ColumnType, Progress, no_progress
from crowdblend.engines.identity import identity_from
from crowdblend.engines.memory.coding import Coding, Measuring
from crowdblend.engines.memory.links import read_table
from crowdblend.engines.memory.persons import MemoryPersons
from crowdblend.engines.memory.table import MemoryTable
from crowdblend.engines.packing import Packing
from crowdblend.engines.refusals import missing_column, no_rows
from crowdblend.engines.sampling import random_places, smallest, thinned
from crowdblend.engines.strata import drawn_codes, thinned_by_stratum
from crowdblend.engines.totals import Totals, check_people
from crowdblend.ledger.identity import Identity, Wanted
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import DataSource
from crowdblend.recoding import Bounded

if TYPE_CHECKING:
    import pyarrow

    from crowdblend.calculus import Assumption
    from crowdblend.engines.memory.persons import Places

# Up to this many classes it is faster to count all of them than to sort those that occur.
_DENSE = 1 << 14


class MemoryEngine:
    """Opens tables by the name of their source, or one table whatever the source is called."""

    name = "memory"
    assumptions: tuple[Assumption, ...] = ()

    def __init__(self, tables: MemoryTable | Mapping[str, MemoryTable]) -> None:
        self._tables = tables
        self._sources: dict[DataSource, MemorySource] = {}

    @contextmanager
    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> Iterator[MemorySource]:
        """The table; what it was found to hold is kept from one opening to the next."""
        del resources
        if data not in self._sources:
            table = self._tables if isinstance(self._tables, MemoryTable) else self._tables[data.source]
            self._sources[data] = MemorySource(data, table)
        source = self._sources[data]
        for name in [*columns] if data.person is None else [data.person, *columns]:
            if name not in source.table_.columns:
                raise missing_column("The table", name)
        source.progress = progress or no_progress
        yield source

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        """Refuse a table that lacks a column."""
        with self.open(data, columns, resources):
            pass


class MemorySource:
    """A table that is open."""

    def __init__(self, data: DataSource, table: MemoryTable) -> None:
        self.data, self.table_ = data, table
        self.progress: Progress = no_progress
        self._persons = None if data.person is None else MemoryPersons(table.columns[data.person], data.person)
        self._coding = Coding(table)
        self._measuring = Measuring(table)

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The type of every column, by name."""
        return {name: column.type for name, column in self.table_.columns.items()}

    def class_counts(self, columns: Sequence[Column], draw: Draw) -> ClassCounts:
        """How many of the people of a draw are in each class of the columns."""
        self._begin()
        if isinstance(draw, Exactly):
            places = self._exactly(draw)
            check_people(self.data, self.table_.rows, len(places), draw)
            classes = counted(*self._coding.packed(columns, places))
        elif isinstance(draw, StratifiedCoin):
            return self._by_stratum(columns, draw)
        elif self._persons is None:
            classes = thinned(columns, counted(*self._coding.packed(columns, None)), draw)
        else:
            return self._of_persons(self._persons, columns, draw)
        return ClassCounts(classes, self.table_.rows)

    def totals(self, columns: Sequence[Column], measures: Mapping[str, Bounded], draw: Draw) -> Totals:
        """The class counts of a draw, and the sum of every measure in steps of its resolution."""
        self._begin()
        assert isinstance(draw, Everybody | Exactly), "totals are of everybody, or of exactly k people"
        places = self._exactly(draw) if isinstance(draw, Exactly) else self._everybody()
        check_people(self.data, self.table_.rows, len(places), draw)
        classes = counted(*self._coding.packed(columns, places)) if columns else None
        sums = {name: self._measuring.sum(name, bounded, places) for name, bounded in measures.items()}
        return Totals(len(places), classes, sums)

    def table(self, names: Sequence[str], values: Sequence[str], what: str) -> pyarrow.Table:
        """All rows as Arrow columns; a blank anywhere is refused."""
        return read_table(self.table_, names, values, what)

    def identity(self, wanted: Wanted) -> Identity:
        """By what the ledger knows the table again: its content, its people, and its rows without their ids."""
        from crowdblend.engines.memory.identity import MemoryHashes  # noqa: PLC0415  only a ledger needs it

        hashes = MemoryHashes(self.table_)
        return identity_from(hashes, self.data, wanted, lambda: hashes.name(wanted.secret))

    def _begin(self) -> None:
        if not self.table_.rows:
            raise no_rows()
        self.progress("reading", self.table_.rows)
        self.progress("counting", self.table_.rows)

    def _of_persons(self, persons: MemoryPersons, columns: Sequence[Column], draw: Everybody | Coin) -> ClassCounts:
        places = persons.drawn(draw)
        packing, codes = self._coding.packed(columns, places)
        people = dropped = None
        if self.data.rows_per_person is not None:
            most, distinct = self.data.rows_per_person, self.data.counts_people
            codes, people = persons.some_rows_each(places, codes, packing, draw, most, distinct)
            dropped = len(places) - len(codes[0])
        elif self.data.duplicates == "one":
            codes = persons.one_row_each(places, codes, packing, draw)
            dropped = len(places) - len(codes[0])
        else:
            persons.refuse_duplicates(places)
        return ClassCounts(counted(packing, codes), self.table_.rows, people, dropped)

    def _by_stratum(self, columns: Sequence[Column], draw: StratifiedCoin) -> ClassCounts:
        """Everybody has one row before a coin is flipped, so that everybody has one stratum."""
        packing, codes = self._coding.packed(columns, None)
        if self._persons is None:
            return ClassCounts(thinned_by_stratum(columns, counted(packing, codes), draw), self.table_.rows)
        dropped = None
        if self.data.duplicates == "one":
            codes, marks = self._persons.one_row_of_all(codes, packing, draw)
            dropped = self.table_.rows - len(marks)
        else:
            self._persons.refuse_duplicates(None)
            marks = self._persons.all.marks(draw.key.persons)
        drawn = counted(packing, drawn_codes(packing, codes, marks, draw))
        return ClassCounts(drawn, self.table_.rows, dropped=dropped)

    def _everybody(self) -> Places:
        if self._persons is not None:
            self._persons.refuse_duplicates(None)
        return np.arange(self.table_.rows)

    def _exactly(self, draw: Exactly) -> Places:
        """Where the rows of exactly k people are."""
        if self._persons is None:
            places = random_places(draw.samples, draw.people, draw.key)
            return places[places < self.table_.rows]
        self._persons.refuse_duplicates(None)
        return np.flatnonzero(smallest(self._persons.all.marks(draw.key.persons), draw.samples))


def counted(packing: Packing, codes: PackedCodes) -> SampledClasses:
    """How often each class occurs; few people do not make the counter go over a large domain."""
    known = packing.classes
    counter = ClassCounter(packing.width, known if known is not None and known <= _DENSE else None)
    counter.add(codes)
    return packing.classes_of(*counter.counts())

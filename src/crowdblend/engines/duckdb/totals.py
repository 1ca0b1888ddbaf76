"""From rows to exact totals.

    everybody ──────────────▶ packed codes ── count ──▶ classes ──┐
    k smallest marks ───────▶ packed codes ── count ──▶ classes ──┴──▶ totals of every statistic

All labels of a row are counted at once, and every condition and histogram is added up from the classes, so the number
of statistics hardly matters. Averages need one sum for each column with bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from crowdblend.designs.draw import Draw, Everybody, Exactly
from crowdblend.engines.class_counter import ClassCounter, Counts, PackedCodes
from crowdblend.engines.duckdb.coding import Coding
from crowdblend.engines.duckdb.rows import Rows
from crowdblend.engines.outside_values import OutsideCounter
from crowdblend.engines.packing import Packing
from crowdblend.engines.refusals import outside_bounds
from crowdblend.engines.sampling import random_places, smallest_marks
from crowdblend.engines.totals import Totals, check_people
from crowdblend.packages import pyarrow as pa
from crowdblend.policies.columns import Column
from crowdblend.recoding import Bounded

_QUICK = ("parquet", "duckdb", "frame")


def totals(rows: Rows, columns: Sequence[Column], measures: Mapping[str, Bounded]) -> Totals:
    """The totals of everybody, one row each."""
    assert rows.draw == Everybody(row_key=rows.draw.row_key), "totals are of everybody, or of exactly k people"  # type: ignore[union-attr]
    counter = TotalsCounter(rows, columns, measures)
    each = rows.everybody if rows.data.person is None else rows.each_once
    counter.add(each(counter.selected))
    return counter.totals(rows.draw)


def totals_of_exactly(
    rows_again: Callable[[], Rows], draw: Exactly, columns: Sequence[Column], measures: Mapping[str, Bounded]
) -> Totals:
    """The totals of exactly k people, drawn without replacement by the key; `rows_again` begins a new reading."""
    margin = 1.0
    while True:
        rows = rows_again()
        counter = TotalsCounter(rows, columns, measures)
        counter.add(_drawn(rows, counter.selected, draw, _rate(draw, margin)))
        if rows.read != draw.people or counter.people == draw.samples:
            return counter.totals(draw)
        margin *= 2


def _drawn(rows: Rows, selected: str, draw: Exactly, rate: float) -> Iterator[pa.Table]:
    """The rows of the people who are drawn; a source that is quick to read is read twice, persons first."""
    if rows.data.person is None:
        yield from rows.at(random_places(draw.samples, draw.people, draw.key), selected)
    elif rows.data.format in _QUICK:
        for people in smallest_marks(rows.people(rate), draw.samples):
            yield from rows.rows_of(people, selected)
    else:
        yield from smallest_marks(rows.marked(selected, rate), draw.samples)


def _rate(draw: Exactly, margin: float) -> float:
    """A share of marks so large that fewer people than wanted lie below it with probability under 1e-13 only."""
    return min(1.0, (draw.samples + margin * (8 * math.sqrt(draw.samples) + 60)) / draw.people)


class TotalsCounter:
    """Counts classes and sums of some rows."""

    def __init__(self, rows: Rows, columns: Sequence[Column], measures: Mapping[str, Bounded]) -> None:
        names = [column.name for column in columns]
        self._rows, self.sums = rows, dict.fromkeys(measures, 0)
        self._coding = Coding(rows.cursor, columns, rows.types(names), rows.data.csv.raw_text) if columns else None
        self._counter = None
        if self._coding:
            self._counter = ClassCounter(self._coding.packing.width, self._coding.packing.classes, rows.memory_limit)
        typed = [kind.is_number for kind in rows.types([*measures])]
        steps = [bounded.sql(f"m{at}", typed[at]) for at, bounded in enumerate(measures.values())]
        self._query = ", ".join(f"CAST(sum({some}) AS BIGINT), bool_or(({some}) IS NULL)" for some in steps)
        raw = [
            f"{name} AS m{at}" if typed[at] else f"CAST({name} AS VARCHAR) AS m{at}"
            for at, name in enumerate(rows.numbers([*measures]))
        ]
        parts = [self._coding.selected(rows.read_as(columns))] if self._coding else []
        self.selected = ", ".join([*parts, *raw])
        self.people = 0

    def add(self, tables: Iterable[pa.Table]) -> None:
        """Count some more rows."""
        for table in tables:
            self.people += table.num_rows
            if self._coding is not None and self._counter is not None:
                self._counter.add(self._coding.coded(table)[0])
            if self.sums:
                self._sum(table)

    def totals(self, draw: Draw) -> Totals:
        """What was counted, if these were the people that the source speaks of."""
        self._rows.finish()
        check_people(self._rows.data, self._rows.read, self.people, draw)
        found = self.found()
        classes = None if found is None else found[0].classes_of(*found[1])
        return Totals(self.people, classes, self.sums, {} if self._coding is None else self._coding.outside())

    def found(self) -> tuple[Packing, tuple[PackedCodes, Counts]] | None:
        """The classes that were counted; None without columns that have some."""
        if self._coding is None or self._counter is None:
            return None
        return self._coding.packing, self._counter.counts()

    def counted_outside(self) -> dict[str, OutsideCounter]:
        """The counters of what went to `other`, by the name of the column."""
        return {} if self._coding is None else self._coding.counted_outside()

    def _sum(self, table: pa.Table) -> None:
        cursor = self._rows.cursor
        cursor.register("measured", table)
        try:
            (found,) = cursor.sql(f"SELECT {self._query} FROM measured").fetchall()
        finally:
            cursor.unregister("measured")
        for place, name in enumerate(self.sums):
            total, outside = found[2 * place], found[2 * place + 1]
            if outside:
                raise outside_bounds(name)
            self.sums[name] += int(total or 0)

"""From a table of people to the class counts of a draw.

    sampled rows ── recode ──▶ packed codes ── count ──▶ ClassCounts

What is counted depends on the sampled rows alone, so the result is the same whatever the order of the rows, the batches
and the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from crowdblend.designs.draw import Exactly, StratifiedCoin
from crowdblend.engines.class_counter import ClassCounter, PackedCodes
from crowdblend.engines.duckdb.coding import Coding, DirectCoding, HasNoClass, recodes_directly
from crowdblend.engines.duckdb.rows import Rows, chunks
from crowdblend.engines.engine import ClassCounts
from crowdblend.engines.persons import Persons, RandomRowPerPerson
from crowdblend.engines.refusals import refuse_beyond
from crowdblend.engines.sampling import drawn_codes, thinned
from crowdblend.packages import pyarrow as pa
from crowdblend.policies.columns import Column


def class_counts(rows_again: Callable[[], Rows], columns: Sequence[Column]) -> ClassCounts:
    """The class counts of a draw that is everybody or by a coin; `rows_again` begins a new reading."""
    rows = rows_again()
    if recodes_directly(rows.data.format, columns, rows.types([column.name for column in columns])):
        try:
            return _class_counts(rows, columns, DirectCoding)
        except HasNoClass:
            rows = rows_again()  # what to say of it, only the other way knows
    return _class_counts(rows, columns, Coding)


def _class_counts(rows: Rows, columns: Sequence[Column], how: type[Coding]) -> ClassCounts:
    assert not isinstance(rows.draw, Exactly)
    names = [column.name for column in columns]
    coding = how(rows.cursor, columns, rows.types(names), rows.data.csv.raw_text)
    counter = ClassCounter(coding.packing.width, coding.packing.classes, rows.memory_limit)
    selected, people = coding.selected(rows.read_as(columns)), None
    if isinstance(rows.draw, StratifiedCoin) and rows.data.person is not None:
        dropped = _count_strata(rows, coding, counter, selected, rows.draw)
    else:
        people, dropped = _count(rows, coding, counter, selected)
    rows.finish()
    codes, counts = counter.counts()
    # a row of codes, a count and what is needed to make them
    refuse_beyond(rows.memory_limit, len(counts) * (4 * len(names) + 24))
    classes = coding.packing.classes_of(codes, counts)
    if rows.data.person is None:
        classes = thinned(columns, classes, rows.draw)
    return ClassCounts(classes, rows.read, people, dropped, coding.outside())


def _count(rows: Rows, coding: Coding, counter: ClassCounter, selected: str) -> tuple[int | None, int | None]:
    """Count the rows that are kept; how many people have them and how many were dropped, where they have several."""
    if rows.data.person is None:
        for chunk in rows.everybody(selected):
            counter.add(coding.coded(chunk)[0])
    elif rows.data.duplicates == "one" or rows.data.rows_per_person is not None:
        each = RandomRowPerPerson(rows.row_key, coding.packing.width, rows.memory_limit)
        for chunk in chunks(marked(some, persons, rows.row_key) for some, persons in rows.sampled(selected)):
            codes, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
            each.add(low, high, codes)
        if rows.data.rows_per_person is not None:
            most, distinct = rows.data.rows_per_person, rows.data.counts_people
            codes, people = each.several(coding.packing.content, most, distinct=distinct)
            counter.add(codes)
            return people, each.rows - len(codes[0])
        codes = each.chosen(coding.packing.content)
        counter.add(codes)
        return None, each.rows - len(codes[0])
    else:
        for chunk in rows.each_once(selected):
            counter.add(coding.coded(chunk)[0])
    return None, None


def _count_strata(rows: Rows, coding: Coding, counter: ClassCounter, selected: str, draw: StratifiedCoin) -> int | None:
    """Count who is drawn by stratum. Everybody has one row before a coin is flipped, so every row is looked at.

    How many rows were dropped, where a person may have several.
    """
    packing, key = coding.packing, draw.key.persons
    if rows.data.duplicates == "one":
        each = RandomRowPerPerson(rows.row_key, packing.width, rows.memory_limit)
        for chunk in chunks(marked(some, persons, key) for some, persons in rows.all_rows(selected)):
            codes, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
            each.add(low, high, codes)
        codes, marks = each.chosen_with_marks(packing.content)
        counter.add(drawn_codes(packing, codes, marks, draw))
        return each.rows - len(marks)
    for codes in drawn_by_stratum(rows, coding, selected, draw):
        counter.add(codes)
    return None


def drawn_by_stratum(rows: Rows, coding: Coding, selected: str, draw: StratifiedCoin) -> Iterator[PackedCodes]:
    """The packed codes of those who are drawn, where everybody has one row."""
    key = draw.key.persons
    for chunk in chunks(marked(some, persons, key) for some, persons in rows.all_once(selected)):
        codes, words = coding.coded(chunk, ("mark_low", "mark_high"))
        yield drawn_codes(coding.packing, codes, np.column_stack(words), draw)


def marked(rows: pa.RecordBatch, persons: Persons, key: bytes) -> pa.RecordBatch:
    """The rows with the two words of their persons' marks beside them."""
    low, high = np.ascontiguousarray(persons.marks(key).T)
    return rows.append_column("mark_low", pa.array(low)).append_column("mark_high", pa.array(high))

"""From a table of people to the class counts of a draw.

    sampled rows ── recode ──▶ packed codes ── count ──▶ ClassCounts

What is counted depends on the sampled rows alone, so the result is the same whatever the order of the rows, the batches
and the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdblend.engines.class_counter import ClassCounter
from crowdblend.engines.draw import Exactly
from crowdblend.engines.duckdb.coding import Coding
from crowdblend.engines.duckdb.rows import Rows, chunks
from crowdblend.engines.engine import ClassCounts
from crowdblend.engines.persons import Persons, RandomRowPerPerson
from crowdblend.engines.refusals import refuse_beyond
from crowdblend.engines.sampling import thinned
from crowdblend.policies.columns import Column

if TYPE_CHECKING:
    import pyarrow


def class_counts(rows: Rows, columns: Sequence[Column]) -> ClassCounts:
    """The class counts of a draw that is everybody or by a coin."""
    assert not isinstance(rows.draw, Exactly)
    names = [column.name for column in columns]
    coding = Coding(rows.cursor, columns, rows.types(names), rows.data.csv.raw_text)
    counter = ClassCounter(coding.packing.width, coding.packing.classes, rows.memory_limit)
    people = _count(rows, coding, counter, coding.selected(rows.read_as(columns)))
    rows.finish()
    codes, counts = counter.counts()
    # a row of codes, a count and what is needed to make them
    refuse_beyond(rows.memory_limit, len(counts) * (4 * len(names) + 24))
    classes = coding.packing.classes_of(codes, counts)
    if rows.data.person is None:
        classes = thinned(columns, classes, rows.draw)
    return ClassCounts(classes, rows.read, people, coding.outside())


def _count(rows: Rows, coding: Coding, counter: ClassCounter, selected: str) -> int | None:
    """Count the rows that are kept; how many people have them, where they may have several."""
    if rows.data.person is None:
        for chunk in rows.everybody(selected):
            counter.add(coding.coded(chunk)[0])
    elif rows.data.duplicates == "one" or rows.data.rows_per_person is not None:
        each = RandomRowPerPerson(rows.row_key, coding.packing.width, rows.memory_limit)
        for chunk in chunks(_marked(some, persons, rows.row_key) for some, persons in rows.sampled(selected)):
            codes, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
            each.add(low, high, codes)
        if rows.data.rows_per_person is not None:
            codes, people = each.several(coding.packing.content, rows.data.rows_per_person)
            counter.add(codes)
            return people
        counter.add(each.chosen(coding.packing.content))
    else:
        for chunk in rows.each_once(selected):
            counter.add(coding.coded(chunk)[0])
    return None


def _marked(rows: pyarrow.RecordBatch, persons: Persons, key: bytes) -> pyarrow.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 - heavy

    low, high = np.ascontiguousarray(persons.marks(key).T)
    return rows.append_column("mark_low", pa.array(low)).append_column("mark_high", pa.array(high))

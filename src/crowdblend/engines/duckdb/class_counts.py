"""From a table of people to the class counts of a sample.

    sampled rows ── recode ──▶ words ── tally ──▶ SampledClasses

What is counted depends on the sampled rows alone, so the result is the same whatever the order of the rows, the batches
and the number of threads.

Where every row is a person there is nothing to flip a coin for. All rows are grouped and every class is thinned.

Theorem. Keeping each of n_c people of class c independently with probability `rate` and counting what is left gives
independent Binomial(n_c, rate) counts. So thinning the counts is the same draw. ∎
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crowdblend.engines.class_counter import Tally, refuse_beyond
from crowdblend.engines.duckdb.coding import Coding, only_occurring
from crowdblend.engines.duckdb.rows import Draw, Rows, chunks, open_rows
from crowdblend.engines.persons import OneOfEach, Persons
from crowdblend.engines.progress import Progress
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import DataSource
from crowdblend.randomness import KeyedSource, thin

if TYPE_CHECKING:
    import pyarrow

# The class counts of a draw, and facts for the steward.
Classes = Callable[[Draw], tuple[SampledClasses, dict[str, int]]]


class Counted(Protocol):
    """What counting needs to know of a policy."""

    @property
    def data(self) -> DataSource:
        """Where the people are."""

    @property
    def resources(self) -> Resources:
        """How much room the engine has."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are counted by."""


def sample_classes(
    policy: Counted, draw: Draw, progress: Progress | None = None
) -> tuple[SampledClasses, dict[str, int]]:
    """The class counts of a sample, and facts for the steward; `progress` is told the phase and the rows so far."""
    names = [column.name for column in policy.columns]
    with open_rows(policy.data, policy.resources, names, draw, progress) as rows:
        coding = Coding(rows.cursor, policy.columns, rows.types(names))
        tally = Tally(coding.words, coding.classes, rows.room)
        _count(rows, coding, tally, coding.selected(rows.identifiers(names)))
        rows.finish()
        words, counts = tally.counted()
        # a row of codes, a count and what is needed to make them
        refuse_beyond(rows.room, len(counts) * (4 * len(names) + 24))
        classes = coding.classes_of(words, counts)
        if policy.data.person is None and (draw.key is not None or draw.part is not None):
            classes = thinned(policy, classes, draw)
        facts = {"rows_read": rows.read, "people_sampled": classes.people, "classes": len(classes.counts)}
        if rows.same_people is not None:
            facts["same_people"] = rows.same_people
        return classes, facts


def _count(rows: Rows, coding: Coding, tally: Tally, selected: str) -> None:
    if rows.data.person is None:
        for chunk in rows.everybody(selected):
            tally.add(coding.coded(chunk)[0])
    elif rows.data.duplicates == "one":
        each = OneOfEach(rows.secret, coding.words, rows.room)
        for chunk in chunks(_marked(some, persons, rows.secret) for some, persons in rows.sampled(selected)):
            words, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
            each.add(low, high, words)
        tally.add(each.chosen(coding.content))
    else:
        for chunk in rows.each_once(selected):
            tally.add(coding.coded(chunk)[0])


def thinned(policy: Counted, classes: SampledClasses, draw: Draw) -> SampledClasses:
    """The classes after a binomial draw from each, in the order of the codes."""
    counts = classes.counts
    if draw.key is not None and draw.rate is not None:
        counts = thin(counts, draw.rate, KeyedSource(draw.key, b"release, thinning of the finest classes"))
    if draw.part is not None:
        counts = draw.part.of_counts(counts)
    left = SampledClasses(classes.columns, classes.labels, classes.codes, counts).where(counts > 0)
    return only_occurring(left, [not column.recoding.closed for column in policy.columns])


def _marked(rows: pyarrow.RecordBatch, persons: Persons, key: bytes) -> pyarrow.RecordBatch:
    import pyarrow as pa  # noqa: PLC0415 - heavy

    low, high = np.ascontiguousarray(persons.marks(key).T)
    return rows.append_column("mark_low", pa.array(low)).append_column("mark_high", pa.array(high))

"""The protocol of engines: open a source, and count, add up or list its rows.

    Engine ── open ──▶ Source ┬─ class_counts ──▶ ClassCounts      classes and sums, for tables, statistics and others
                              ├─ table ─────────▶ Arrow table      links and people of a network
                              └─ identity ──────▶ Identity         who and what the source is, for the ledger

Nothing here knows SQL or imports an implementation: duckdb/ reads files and databases, spark/ what a cluster holds,
memory.py has made-up people for the audit; choice.py says which is the default. A source is opened once and may be
read several times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Draw, Everybody, Exactly
from crowdblend.policies.source import STDIN, DataSource
from crowdblend.trusted.machine.packages import pyarrow as pa

if TYPE_CHECKING:
    from crowdblend.ledger.identity import FingerprintRequest, Identity
    from crowdblend.methods.mechanisms.mechanism import SampledClasses
    from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
    from crowdblend.policies.columns import Column
    from crowdblend.policies.resources import Resources
    from crowdblend.sources.engines.outside_values import OutsideValues
    from crowdblend.trusted.calculus import Assumption


NO_MEASURES: Mapping[str, BoundedRecoding] = {}

# Called with the name of a phase and the rows read so far.
Progress = Callable[[str, int], None]


def no_progress(_phase: str, _rows: int) -> None:
    """Progress callback that does nothing."""


class ColumnType(Enum):
    """The type of a column. Columns of all other types are read as the text they are shown as."""

    WHOLE = "whole number of up to 64 bits"
    DOUBLE = "floating-point number of 64 bits"
    SINGLE = "floating-point number of 32 bits"
    DECIMAL = "decimal number"
    DATE = "date"
    TIMESTAMP = "date and time without a time zone, to the microsecond"
    ZONED = "date and time with a time zone"
    TEXT = "text"
    OTHER = "other"
    NESTED = "several values in each row"

    @property
    def is_number(self) -> bool:
        """True if values are read as numbers, not as text; each is a double or fits one."""
        return self in (ColumnType.WHOLE, ColumnType.DOUBLE)

    @property
    def is_day(self) -> bool:
        """True if the values are read as dates, not as their text."""
        return self in (ColumnType.DATE, ColumnType.TIMESTAMP)

    @property
    def is_broken_number(self) -> bool:
        """True if the values may have a fraction, so that they name nobody."""
        return self in (ColumnType.DOUBLE, ColumnType.SINGLE, ColumnType.DECIMAL)


@dataclass(frozen=True)
class ClassCounts:
    """The class counts of a draw. Secret: nothing of it is published as it is."""

    classes: SampledClasses
    rows_read: int
    people: int
    """How many people have the rows that were kept."""
    dropped: int | None = None
    """How many rows of the people who are counted were dropped, because too many of one person are in the table."""
    rows_of_people: int | None = None
    """How many rows these people have, if some were dropped."""
    outside: Mapping[str, OutsideValues] = field(default_factory=dict)
    """What went to the class `other` of a column, by its name."""
    sums: Mapping[str, int] = field(default_factory=dict)
    """The sum of every measure in steps of its resolution, by its name."""

    @property
    def facts(self) -> dict[str, int]:
        """Facts about the reading for the steward alone."""
        sampled = {"people_sampled": self.classes.people, "classes": len(self.classes.counts)}
        return {"rows_read": self.rows_read, **sampled, **self.cut}

    @property
    def cut(self) -> dict[str, int]:
        """The rows that were dropped, and all rows, for the steward alone; empty if everybody has one row."""
        if self.dropped is None or self.rows_of_people is None:
            return {}
        return {"rows_dropped": self.dropped, "rows_of_people": self.rows_of_people}


class Source(Protocol):
    """A source that is open."""

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The type of every column of the source, by name."""

    def class_counts(
        self, columns: Sequence[Column], draw: Draw, measures: Mapping[str, BoundedRecoding] = NO_MEASURES
    ) -> ClassCounts:
        """Count the people of a draw in each class, and add up their measures.

        Refuses a person with several rows, or keeps some of them at random, as the source says; and a source that does
        not hold as many people as it or the draw says.
        """

    def table(self, names: Sequence[str], values: Sequence[str], what: str) -> pa.Table:
        """All rows: people's names as whole numbers or texts, then values as they are; a blank anywhere is refused.

        `what` says in refusals whose file it is.
        """

    def identity(self, request: FingerprintRequest) -> Identity:
        """Return the source's identity for the ledger: its content, its people, its rows without ids."""


class Engine(Protocol):
    """Whatever can open a source."""

    @property
    def name(self) -> str:
        """The name of the engine in commands."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions of the certificate about machines other than this one."""

    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> AbstractContextManager[Source]:
        """Return the source with these columns and its person; refuse a source that lacks one, before a row is read."""

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        """Refuse a source that does not exist or lacks a column, with as little work as that takes."""


def check_source(engine: Engine, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
    """Refuse a source that does not exist or lacks a column, without reading a row; a stream is left alone."""
    if data.source != STDIN:
        engine.check(data, columns, resources)


def check_people(data: DataSource, draw: Draw, rows_read: int, number: int) -> None:
    """Refuse a source that does not hold as many people as it or the draw says, or a sample of another size."""
    stated: int | None
    if isinstance(draw, Exactly):
        stated = draw.people
        key, wrong = ("of", "`sampling`"), (rows_read, number) != (draw.people, draw.samples)
    else:
        stated, key = data.people, ("people", "`data`")
        wrong = isinstance(draw, Everybody) and draw.part is None and stated is not None and number != stated
    if wrong:
        name, section = key
        message = f"{name} in {section} is {stated}; the data hold another number of people."
        remedy = "Count them and correct it."
        raise InvalidInput(message, remedy=remedy, where=f"{section} {name}", code="data.people")


def check_repeatable(engine: Engine, data: DataSource) -> None:
    """Refuse a source that may hold other ids each time it is read, where people are divided in several readings."""
    if engine.name == "spark" and data.format in ("frame", "catalog"):
        message = "Spark computes a frame or a view anew each time it is read, and people would be divided differently."
        remedy = "Write the data to Parquet files, and name these as the source."
        raise InvalidInput(message, remedy=remedy, where="`data.source`", code="data.not-repeatable")

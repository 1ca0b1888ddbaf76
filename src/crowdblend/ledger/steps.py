"""Where the records of one entry, of one sample and of one population are, so that nobody reads all of them for a few.

The table says where to look and nothing else: what a record says stands in the record, which has its own hash. The
database keeps the table append-only, and `check` compares all of it with the records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, select

from crowdblend.ledger.chain import Record
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.summary import edited_steps
from crowdblend.ledger.tables import RECORDS, STEPS

_BATCH = 1000
Row = tuple[int, int, str, str | None, str | None]


def rows_of(number: int, content: Mapping[str, Any]) -> list[Row]:
    """The rows of one record."""
    step = content["step"]
    if step == "begun":
        population = normal_name(content["population"])
        return [(number, content["entry"], step, name_hash(content["sample"]), name_hash(population))]
    if step == "format":
        return [(number, int(entry), step, None, None) for entry in content.get("keys", ())]
    return [(number, content["entry"], step, None, None)] if "entry" in content else []


def add(connection: Connection, rows: Collection[Row]) -> None:
    """Add rows."""
    if rows:
        names = STEPS.columns.keys()
        connection.execute(STEPS.insert(), [dict(zip(names, row, strict=True)) for row in rows])


def records_of(connection: Connection, entries: Collection[int]) -> Iterator[tuple[int, Record]]:
    """The records about some entries, in order, each with the number of its entry."""
    found = select(STEPS.c.entry, RECORDS).join(RECORDS, RECORDS.c.number == STEPS.c.number)
    for entry, *record in connection.execute(found.where(STEPS.c.entry.in_(entries)).order_by(RECORDS.c.number)):
        yield entry, Record(*record)


def of_samples(connection: Connection, names: Iterable[str]) -> set[int]:
    """The entries whose samples have one of these names."""
    hashes = [name_hash(name) for name in names]
    return set(connection.execute(select(STEPS.c.entry).where(STEPS.c.sample.in_(hashes))).scalars())


def of_populations(connection: Connection, names: Iterable[str]) -> tuple[int, ...]:
    """The entries about some populations that were not abandoned, in order."""
    hashes = [name_hash(name) for name in names]
    given_back = select(STEPS.c.entry).where(STEPS.c.step == "abandoned")
    found = select(STEPS.c.entry).where(STEPS.c.population.in_(hashes), STEPS.c.entry.not_in(given_back))
    return tuple(connection.execute(found.order_by(STEPS.c.entry)).scalars())


class Comparison:
    """All rows, as the records give them and as the table has them, side by side."""

    def __init__(self, connection: Connection) -> None:
        every = select(STEPS).order_by(STEPS.c.number, STEPS.c.entry)
        self._rows = stream_rows(connection, every)

    def follow(self, number: int, content: Mapping[str, Any]) -> None:
        """Raise DoesNotVerify unless the next rows of the table are those of this record."""
        for row in sorted(rows_of(number, content)):
            if next(self._rows, None) != row:
                raise edited_steps()

    def close(self) -> None:
        """Stop reading the table."""
        self._rows.close()

    def end(self) -> None:
        """Raise DoesNotVerify where the table has more rows."""
        if next(self._rows, None) is not None:
            raise edited_steps()


def stream_rows(connection: Connection, statement: Select[Any]) -> Generator[tuple[Any, ...], None, None]:
    """What a statement finds, a thousand rows at a time: there may be very many."""
    with connection.execute(statement, execution_options={"yield_per": _BATCH}) as result:
        for rows in result.partitions():
            yield from map(tuple, rows)


@lru_cache(maxsize=4096)
def name_hash(name: str) -> str:
    """How a name stands in the table; it can be too long for an index."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

"""Where the records of one entry, of one sample and of one population are, so that nobody reads all of them for a few.

The table says where to look and nothing else: what a record says stands in the record, which has its own hash. The
database keeps the table append-only, and `check` compares all of it with the records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger.chain import Record
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.tables import RECORDS, STEPS

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
    """All rows, as the records give them and as the table has them, by one hash of each."""

    def __init__(self) -> None:
        self._expected = hashlib.sha256()

    def follow(self, number: int, content: Mapping[str, Any]) -> None:
        """Take the rows of one record into account."""
        for row in sorted(rows_of(number, content)):
            self._expected.update(repr(row).encode())

    def refuse_difference(self, connection: Connection) -> None:
        """Raise DoesNotVerify unless the table has exactly these rows."""
        found = hashlib.sha256()
        every = select(STEPS).order_by(STEPS.c.number, STEPS.c.entry)
        with connection.execute(every, execution_options={"yield_per": 1000}) as rows:
            for row in rows:
                found.update(repr(tuple(row)).encode())
        if found.digest() != self._expected.digest():
            raise edited()


def edited() -> DoesNotVerify:
    """The refusal of a table that does not say where the records are."""
    return DoesNotVerify(
        "where the records of each release are was changed: the ledger was edited. Restore it from a backup.",
        where="ledger",
        code="does-not-verify",
    )


def name_hash(name: str) -> str:
    """How a name stands in the table; it can be too long for an index."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

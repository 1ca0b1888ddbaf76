"""Where the records of one entry, of one sample and of one population are, so that nobody reads all of them for a few.

The table says where to look and nothing else: what a record says stands in the record, which has its own hash. The
database keeps the table append-only, and `check` compares all of it with the records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from crowdblend.ledger.chain import Record
from crowdblend.ledger.connection import Connection, places
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.summary import edited_steps

BATCH = 1000
"""So many rows are read at a time."""
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


def add(connection: Connection, rows: Sequence[Row]) -> None:
    """Add rows."""
    if rows:
        connection.add("INSERT INTO @steps (number, entry, step, sample, population) VALUES (?, ?, ?, ?, ?)", rows)


def records_of(connection: Connection, entries: Collection[int]) -> Iterator[tuple[int, Record]]:
    """The records about some entries, in order, each with the number of its entry."""
    found = connection.execute(
        "SELECT s.entry, r.number, r.previous, r.body, r.hash FROM @steps s JOIN @records r ON r.number = s.number "
        f"WHERE s.entry IN {places(len(entries))} ORDER BY r.number",
        [*entries],
    )
    for entry, *record in found:
        yield entry, Record(*record)


def of_samples(connection: Connection, names: Iterable[str]) -> set[int]:
    """The entries whose samples have one of these names."""
    hashes = [name_hash(name) for name in names]
    found = connection.execute(f"SELECT entry FROM @steps WHERE sample IN {places(len(hashes))}", hashes)
    return {entry for (entry,) in found}


def of_populations(connection: Connection, names: Iterable[str]) -> tuple[int, ...]:
    """The entries about some populations that were not abandoned, in order."""
    hashes = [name_hash(name) for name in names]
    found = connection.execute(
        f"SELECT entry FROM @steps WHERE population IN {places(len(hashes))} "
        "AND entry NOT IN (SELECT entry FROM @steps WHERE step = 'abandoned') ORDER BY entry",
        hashes,
    )
    return tuple(entry for (entry,) in found)


class Comparison:
    """All rows, as the records give them and as the table has them, side by side."""

    def __init__(self, connection: Connection) -> None:
        every = "SELECT number, entry, step, sample, population FROM @steps ORDER BY number, entry"
        self._rows = connection.stream(every, BATCH)

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


@lru_cache(maxsize=4096)
def name_hash(name: str) -> str:
    """How a name stands in the table; it can be too long for an index."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

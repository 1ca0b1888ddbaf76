"""From every earlier format of the ledger to the present one: forward only, in the transaction of the first writer.

A migration adds tables and never changes a record. What it means for the chain is one record with the step `format`.
"""

from __future__ import annotations

from collections.abc import Callable

from crowdblend.errors import InvalidInput
from crowdblend.ledger.chain import FORMAT, version_of
from crowdblend.ledger.connection import Connection
from crowdblend.ledger.tables import add_derived, add_identities, add_steps, create

LATEST = version_of(FORMAT)
TABLES: dict[int, Callable[[Connection], None]] = {1: create, 2: add_identities, 3: add_derived, 4: add_steps}
"""What each format adds. The numbers are never used again for anything else."""


def version(connection: Connection) -> int:
    """The format that the tables have; refuses one that this version does not know."""
    stated = [row[0] for row in connection.execute("SELECT format FROM @about ORDER BY format")]
    known = [version_of(str(one)) for one in stated]
    if not known or not set(known) <= set(TABLES):
        given = ", ".join(map(repr, stated)) or "none"
        raise InvalidInput(
            f"the ledger has the format {given}. Use the crowdblend that wrote it.",
            where="ledger",
            code="ledger.format",
        )
    return max(known)


def migrate_tables(connection: Connection, since: int, to: int = LATEST) -> None:
    """Add the tables of every later format, inside the caller's transaction; `since` = 0 makes them all."""
    for number in range(since + 1, to + 1):
        TABLES[number](connection)
        if number > 1:
            connection.execute("INSERT INTO @about (format) VALUES (?)", [f"crowdblend ledger {number}"])

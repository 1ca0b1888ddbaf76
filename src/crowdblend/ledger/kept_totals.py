"""The running totals that a ledger keeps: one row for each population, which the chain of records vouches for.

The record that begins an entry holds the SHA-256 of the total with that entry. A row names that record, so a total
that was edited, or moved to another population, does not fit it. An older row does no harm: what came after is composed
anew. The table holds nothing that the entries do not say, so it changes no format: where it is missing, as in a ledger
of an earlier version, it is made with the next entry, and until then totals are composed from the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Column, Connection, Integer, String, Table, Text, inspect, select
from sqlalchemy.exc import DBAPIError

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger import chain
from crowdblend.ledger.account import Account
from crowdblend.ledger.running_total import RunningTotal, digest_of, read_total
from crowdblend.ledger.tables import METADATA, SCHEMA

TOTALS = Table(
    "totals",
    METADATA,
    Column("population", String(1000), primary_key=True),
    Column("record", Integer, nullable=False),
    Column("body", Text, nullable=False),
)


def account_of(connection: Connection, records: Sequence[chain.Record], population: str) -> Account:
    """The account of a population; raises DoesNotVerify when the kept total is not the one that its record names."""
    found = next(iter(_rows(connection, population)), None)
    if found is None:
        return Account(population, records)
    return Account(population, records, found[1], _vouched(population, *found[1:], records))


def check_totals(connection: Connection, records: Sequence[chain.Record]) -> None:
    """Raise DoesNotVerify when a kept total does not fit its record, or is below what its entries come to."""
    for population, number, body in _rows(connection):
        kept = _vouched(population, number, body, records)
        if kept is not None and not Account(population, records, number, kept).confirms():
            raise _edited(population)


def keep(connection: Connection, total: RunningTotal, record: int) -> str:
    """Keep a total in the place of the one before, and return what its record says of it.

    Somebody who may add entries but change no tables keeps none: totals are composed from the entries then.
    """
    body = total.to_json()
    with suppress(DBAPIError), connection.begin_nested():
        if not _has_table(connection):
            TOTALS.create(connection)
        connection.execute(TOTALS.delete().where(TOTALS.c.population == total.population))
        connection.execute(TOTALS.insert().values(population=total.population, record=record, body=body))
    return digest_of(body)


def _rows(connection: Connection, population: str | None = None) -> list[tuple[str, int, str]]:
    if not _has_table(connection):
        return []
    wanted = select(TOTALS) if population is None else select(TOTALS).where(TOTALS.c.population == population)
    return [(row.population, row.record, row.body) for row in connection.execute(wanted)]


def _has_table(connection: Connection) -> bool:
    schema = SCHEMA if connection.dialect.name == "postgresql" else None
    return bool(inspect(connection).has_table(TOTALS.name, schema=schema))


def _vouched(population: str, number: int, body: str, records: Sequence[chain.Record]) -> RunningTotal | None:
    """The total that a row holds; None where it is of another version of the software."""
    if not isinstance(number, int) or not 0 < number <= len(records) or not isinstance(body, str):
        raise _edited(population)
    begun = chain.content(records[number - 1])
    if (begun.get("step"), begun.get("population")) != ("begun", population) or begun.get("total") != digest_of(body):
        raise _edited(population)
    return read_total(body)


def _edited(population: str) -> DoesNotVerify:
    return DoesNotVerify(
        f"the kept total of {population} is not what the records say: the ledger was edited. "
        "Delete its row from the table totals, or restore a backup.",
        where="ledger",
        code="does-not-verify",
    )

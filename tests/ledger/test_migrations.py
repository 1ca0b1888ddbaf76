"""Ledgers of every earlier format come to the present one on both databases, forward only, and add up the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput, Refused
from crowdblend.ledger import Ledger, store
from crowdblend.ledger.chain import FORMAT, version_of
from crowdblend.ledger.connection import places
from crowdblend.ledger.migrations import LATEST, TABLES, migrate_tables, version
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.spendings import spending
from tests.ledger.test_formats import FORMATS, KEPT, assert_as_expected


def test_every_format_has_its_tables_and_a_kept_ledger() -> None:
    assert sorted(TABLES) == list(range(1, LATEST + 1))
    assert version_of(FORMAT) == LATEST
    assert [f"format-{number}" for number in range(1, LATEST + 1)] == FORMATS


def copied_to_postgresql(kept: Path, number: int, where: str) -> None:
    """The same rows in tables of the same format on a server."""
    made = store.Store(store.Location(url=where), store.server(store.Location(url=where)))
    with made._alone() as connection, closing(sqlite3.connect(kept)) as old:
        migrate_tables(connection, 0, number)
        connection.execute("INSERT INTO @about VALUES ('crowdblend ledger 1')")
        for name in ("records", "keys", "secrets", "identities", "derived", "steps"):
            there = old.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
            rows = old.execute(f"SELECT * FROM {name}").fetchall() if there else []
            for row in rows:
                connection.execute(f"INSERT INTO @{name} VALUES {places(len(row))}", row)


@needs_postgresql
@pytest.mark.parametrize("number", range(1, LATEST + 1))
def test_on_a_server(number: int, tmp_path: Path) -> None:
    where = place("postgresql", tmp_path)
    copied_to_postgresql(KEPT / f"format-{number}.sqlite", number, where)
    expected = json.loads((KEPT / f"format-{number}.json").read_text(encoding="utf-8"))
    assert_as_expected(Ledger.open(where, make=False), expected)
    ledger = Ledger.open(where)
    ledger.abandon(ledger.begin(spending("new", population="others")))
    expected["entries"].append([len(expected["entries"]) + 1, "abandoned", "others", "new", True])
    assert_as_expected(Ledger.open(where), expected)
    with ledger._reading() as connection:
        assert version(connection) == LATEST
    execute("INSERT INTO crowdblend.about VALUES ('crowdblend ledger 99')")
    with pytest.raises(InvalidInput, match="Use the crowdblend that wrote it"):
        Ledger.open(where)


@needs_postgresql
def test_a_writer_is_told_that_the_owner_upgrades(tmp_path: Path) -> None:
    where = place("postgresql", tmp_path)
    copied_to_postgresql(KEPT / "format-3.sqlite", 3, where)
    execute(
        "DROP ROLE IF EXISTS test_ann", "CREATE ROLE test_ann LOGIN", "GRANT USAGE ON SCHEMA crowdblend TO test_ann"
    )
    execute("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA crowdblend TO test_ann")
    ann = where.replace("postgres@", "test_ann@")
    with pytest.raises(Refused, match="has the format 3, and your role may not") as refused:
        Ledger.open(ann).begin(spending("new", population="others"))
    assert "crowdblend ledger upgrade" in str(refused.value.remedy)
    said = crowdblend("ledger", "upgrade", "--ledger", where).stdout
    assert "crowdblend ledger roles --apply" in said
    with pytest.raises(Refused, match="roles --apply"):
        Ledger.open(ann).budget("residents")
    execute("DROP OWNED BY test_ann", "DROP ROLE test_ann")


@pytest.mark.parametrize("number", range(1, LATEST + 1))
def test_the_command_upgrades_and_does_it_once(number: int, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes((KEPT / f"format-{number}.sqlite").read_bytes())
    before = Ledger.open(path).budgets()
    for _ in range(2):
        done = crowdblend("ledger", "upgrade", "--ledger", path, "--json")
        assert json.loads(done.stdout) == {"format": LATEST}
    ledger = Ledger.open(path)
    assert ledger.budgets() == before
    records = ledger.head().records
    assert crowdblend("ledger", "upgrade", "--ledger", path).returncode == 0
    assert ledger.head().records == records

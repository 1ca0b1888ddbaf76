"""What is special about a ledger in PostgreSQL; runs where CROWDBLEND_TEST_POSTGRESQL names a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from tests.ledger.databases import POSTGRESQL, place
from tests.ledger.spendings import spending

pytestmark = pytest.mark.skipif(not POSTGRESQL, reason="no CROWDBLEND_TEST_POSTGRESQL")
KEY = bytes(range(32))


def change(statement: str) -> None:
    import psycopg

    with psycopg.connect(POSTGRESQL) as connection:
        connection.execute(statement)


def test_a_missing_ledger_is_made_only_by_a_release(tmp_path: Path) -> None:
    where = place("postgresql", tmp_path)
    with pytest.raises(InvalidInput, match="crowdblend ledger"):
        Ledger.open(where, make=False)
    Ledger.create(where).begin(spending(), sealed_key=KEY)
    ledger = Ledger.open(where, make=False)
    assert ledger.sealed_key(1) == KEY
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE crowdblend.records SET body = '{}'",
        "DELETE FROM crowdblend.records",
        "TRUNCATE crowdblend.records",
        "UPDATE crowdblend.keys SET key = 'x'",
        "DELETE FROM crowdblend.about",
    ],
)
def test_the_database_itself_refuses_edits(tmp_path: Path, statement: str) -> None:
    import psycopg

    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending(), sealed_key=KEY)
    before = ledger.check()
    with pytest.raises(psycopg.Error, match="append-only"):
        change(statement)
    assert ledger.check() == before


def test_an_edit_is_found(tmp_path: Path) -> None:
    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending())
    change("ALTER TABLE crowdblend.records DISABLE TRIGGER append_only")
    change("UPDATE crowdblend.records SET body = replace(body, 'residents', 'others')")
    with pytest.raises(DoesNotVerify):
        ledger.check()


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(InvalidInput, match="answers") as refused:
        Ledger.open("postgresql://me:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)

"""What is special about a ledger in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.spendings import spending

pytestmark = needs_postgresql
KEY = bytes(range(32))


def test_a_missing_ledger_is_made_only_on_request(tmp_path: Path) -> None:
    where = place("postgresql", tmp_path)
    for make in (False, True):
        with pytest.raises(InvalidInput, match="crowdblend ledger init"):
            Ledger.open(where, make=make)
    Ledger.create(where).begin(spending(), sealed_key=KEY)
    ledger = Ledger.open(where, make=False)
    assert ledger.sealed_key(1) == KEY
    assert len(ledger.entries()) == 1
    with pytest.raises(InvalidInput, match="already"):
        Ledger.create(where)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE crowdblend.records SET body = '{}'",
        "DELETE FROM crowdblend.records",
        "TRUNCATE crowdblend.records",
        "UPDATE crowdblend.keys SET key = 'x'",
        "DELETE FROM crowdblend.about",
        "UPDATE crowdblend.secrets SET value = 'x'",
        "DELETE FROM crowdblend.identities",
    ],
)
def test_the_database_itself_refuses_edits(tmp_path: Path, statement: str) -> None:
    import psycopg

    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending(), sealed_key=KEY)
    before = ledger.check()
    with pytest.raises(psycopg.Error, match="append-only"):
        execute(statement)
    assert ledger.check() == before


def test_an_edit_is_found(tmp_path: Path) -> None:
    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending())
    execute("ALTER TABLE crowdblend.records DISABLE TRIGGER append_only")
    execute("UPDATE crowdblend.records SET body = replace(body, 'residents', 'others')")
    with pytest.raises(DoesNotVerify):
        ledger.check()


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(InvalidInput, match="does not answer") as refused:
        Ledger.open("postgresql://me@127.0.0.1:1/nothing")
    assert "\n" not in str(refused.value)

"""The ledger is append-only: the database refuses edits, and the chain finds those that were made anyway."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger import Ledger, chain, store
from crowdblend.ledger.history import replay
from crowdblend.ledger.summary import total_name
from tests.ledger.files import change, filled
from tests.ledger.spendings import spending


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return filled(tmp_path / "ledger.sqlite")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = '{}'",
        "UPDATE records SET number = number + 10",
        "DELETE FROM records",
        "DELETE FROM records WHERE number = 9",
        "INSERT OR REPLACE INTO records SELECT number, previous, '{}', hash FROM records WHERE number = 1",
        "INSERT INTO records VALUES (40, 'x', '{}', 'y')",
        "UPDATE keys SET key = 'x'",
        "UPDATE about SET format = 'x'",
        "DELETE FROM about",
    ],
)
def test_the_database_itself_refuses_edits(path: Path, statement: str) -> None:
    before = Ledger.open(path).check()
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        change(path, statement, without_triggers=False)
    assert Ledger.open(path).check() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = replace(body, 'residents', 'somebody') WHERE number = 5",
        "UPDATE records SET body = replace(body, '1.0', '0.1') WHERE number = 2",
        "UPDATE records SET body = body || ' ' WHERE number = 10",
        "UPDATE records SET body = replace(body, 'finished', 'abandoned') WHERE number = 10",
        "UPDATE records SET hash = previous WHERE number = 10",
        "DELETE FROM records WHERE number = 2",
        "DELETE FROM records WHERE number = 5",
        "DELETE FROM records WHERE number <= 3",
        "UPDATE records SET number = number + 1 WHERE number = 10",
        "INSERT INTO records SELECT 11, 'x', body, hash FROM records WHERE number = 1",
    ],
)
def test_an_edit_is_found_and_nothing_is_added_to_it(path: Path, statement: str) -> None:
    before = Ledger.open(path).budgets()
    change(path, statement)
    ledger = Ledger.open(path)
    for call in (ledger.check, ledger.entries, lambda: list(ledger.stream()), lambda: ledger.begin(spending("new"))):
        with pytest.raises(DoesNotVerify):
            call()
    # A total reads what the last record seals: it is refused, or it is the true one.
    with suppress(DoesNotVerify):
        assert ledger.budgets() == before


def test_a_cut_off_end_is_found_by_whoever_kept_the_hash(path: Path) -> None:
    seen = Ledger.open(path).check()
    Ledger.open(path).begin(spending("new"))
    assert Ledger.open(path).check(seen) != seen
    change(path, "DELETE FROM records WHERE number >= 8", "DELETE FROM keys WHERE entry = 3",
           "DELETE FROM steps WHERE number >= 8")  # fmt: skip
    with pytest.raises(DoesNotVerify, match="summary"):
        Ledger.open(path).check()
    shorter = Ledger.create(path.with_name("shorter.sqlite"))
    for number in range(2):
        shorter.begin(spending(f"draw-{number}"))
    with shorter._reading() as connection:
        total = store.derived(connection, total_name("residents"))
    assert total is not None
    with Ledger.open(path)._writing() as connection:  # whoever cuts it off makes the summary fit
        store.keep_derived(connection, total_name("residents"), total)
        written = (content for _, content in chain.contents(store.records(connection)))
        store.keep_derived(connection, "summary", replay(written).summary.to_json())
    ledger = Ledger.open(path)
    ledger.check()
    with pytest.raises(DoesNotVerify, match="cut off"):
        ledger.check(seen)


def test_a_record_from_a_newer_version(path: Path) -> None:
    ledger = Ledger.open(path)
    with ledger._writing() as connection:
        last = store.records(connection)[-1]
        record = chain.append(last, {"step": "withdrawn", "entry": 1})
        connection.execute("INSERT INTO @records VALUES (?, ?, ?, ?)", record)
    with pytest.raises(DoesNotVerify, match="this version"):
        ledger.entries()


def test_every_hash_seals_the_one_before(path: Path) -> None:
    """An edit with its hash recomputed, and mended in the next record, breaks the hash of that one."""
    with Ledger.open(path)._writing() as connection:
        written = store.records(connection)[4]
    edited = written.body.replace('"folder":"out"', '"folder":"in"')
    assert edited != written.body
    sealed = chain._hash(written.number, written.previous, edited)
    change(
        path,
        f"UPDATE records SET body = '{edited}', hash = '{sealed}' WHERE number = {written.number}",
        f"UPDATE records SET previous = '{sealed}' WHERE number = {written.number + 1}",
    )
    with pytest.raises(DoesNotVerify, match=f"record {written.number + 1} "):
        Ledger.open(path).check()

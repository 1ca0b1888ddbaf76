"""The ledger is append-only: the database refuses edits, and the chain finds those that were made anyway."""

import sqlite3
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import GENESIS, Record, check_record, hash_of, next_record
from tests.ledger.files import change
from tests.ledger.spendings import spending


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = '{}'",
        "UPDATE records SET number = number + 10",
        "DELETE FROM records",
        "DELETE FROM records WHERE number = 7",
        "INSERT OR REPLACE INTO records SELECT number, previous, '{}', hash, role FROM records WHERE number = 1",
        "INSERT INTO records VALUES (40, 'x', '{}', 'y', '')",
        "UPDATE keys SET key = 'x'",
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
        "UPDATE records SET body = replace(body, 'residents', 'somebody') WHERE number = 4",
        "UPDATE records SET body = replace(body, '1.0', '0.1') WHERE number = 2",
        "UPDATE records SET body = body || ' ' WHERE number = 7",
        "UPDATE records SET body = replace(body, 'finished', 'begun') WHERE number = 7",
        "UPDATE records SET hash = previous WHERE number = 7",
        "DELETE FROM records WHERE number = 2",
        "DELETE FROM records WHERE number = 5",
        "DELETE FROM records WHERE number <= 3",
        "UPDATE records SET number = number + 1 WHERE number = 7",
        "INSERT INTO records SELECT 8, 'x', body, hash, role FROM records WHERE number = 1",
    ],
)
def test_an_edit_is_found_and_nothing_is_added_to_it(path: Path, statement: str) -> None:
    change(path, statement)
    ledger = Ledger.open(path)
    for call in (ledger.check, ledger.entries, ledger.budgets, lambda: ledger.begin(spending("new"))):
        with pytest.raises(DoesNotVerify):
            call()


def test_a_cut_off_end_is_found_by_whoever_kept_the_head(path: Path) -> None:
    seen = Ledger.open(path).head()
    Ledger.open(path).begin(spending("new"))
    assert Ledger.open(path).check(seen) != seen.hash
    change(path, "DELETE FROM records WHERE number >= 6", "DELETE FROM keys WHERE entry = 3")
    path.with_name("ledger.sqlite.heads").unlink()
    ledger = Ledger.open(path)
    ledger.check()
    with pytest.raises(DoesNotVerify, match="cut off"):
        ledger.check(seen)


def test_a_record_from_a_newer_version(path: Path) -> None:
    ledger = Ledger.open(path)
    with ledger._records.writing() as (transaction, history):
        transaction.add_record(next_record(history.last, '{"step":"withdrawn","entry":1,"at":""}'))
    with pytest.raises(DoesNotVerify, match="this version"):
        ledger.entries()


def test_a_record_that_follows_another_one_is_refused() -> None:
    """Its own hash fits; what it names as the one before is not the one before."""
    first = next_record(None, "{}")
    for previous in ("0" * 64, first.hash[:-1] + "x", GENESIS, ""):
        follower = Record(2, previous, "{}", hash_of(2, previous, "{}"))
        with pytest.raises(DoesNotVerify):
            check_record(follower, first)
    check_record(next_record(first, "{}"), first)


@pytest.mark.parametrize("mended", [False, True])
def test_an_edit_whose_own_hash_is_mended_breaks_the_next_record(path: Path, mended: bool) -> None:
    """Also where the next record names the new hash: then its own does not fit any more."""
    with Ledger.open(path)._records.reading() as (transaction, _):
        written = list(transaction.records())[3]
    edited = written.body.replace('"folder":"out"', '"folder":"in"')
    assert edited != written.body
    sealed = hash_of(written.number, written.previous, edited)
    change(path, f"UPDATE records SET body = '{edited}', hash = '{sealed}' WHERE number = {written.number}")
    if mended:
        change(path, f"UPDATE records SET previous = '{sealed}' WHERE number = {written.number + 1}")
    with pytest.raises(DoesNotVerify, match=f"Record {written.number + 1} "):
        Ledger.open(path).check()

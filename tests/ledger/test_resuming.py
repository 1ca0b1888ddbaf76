"""An unfinished release can be run again with its key; when it is finished the key is gone, unless it is sealed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import sample_name
from tests.ledger.files import change
from tests.ledger.spendings import DATA, DIGEST, spending

KEY = bytes(range(100, 132))


def finish(ledger: Ledger, entry: int) -> None:
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)


def test_a_key_is_held_until_the_release_is_finished(ledger: Ledger) -> None:
    entry = ledger.begin(spending(), key=KEY)
    assert ledger.key(entry) == KEY
    assert ledger.key(entry) == KEY
    assert [one.id for one in ledger.unfinished_entries()] == [entry]
    ledger.check()
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    assert ledger.unfinished_entries() == ()
    assert ledger.entry(entry).key == "destroyed"
    ledger.check()
    with pytest.raises(InvalidInput, match="destroyed"):
        ledger.key(entry)


def test_the_name_of_a_sample_tells_nothing_of_its_key() -> None:
    """Another key gives another name in about half of all bits, whichever bit is changed (false alarms: below 1e-9)."""
    name = int(sample_name(KEY).removeprefix("drawn:"), 16)
    assert name < 2**128
    for bit in range(256):
        other = (int.from_bytes(KEY) ^ (1 << bit)).to_bytes(32)
        differing = (name ^ int(sample_name(other).removeprefix("drawn:"), 16)).bit_count()
        assert 20 <= differing <= 108  # 64 ± 7.8 standard deviations


def test_resuming_knows_policy_and_folder(ledger: Ledger) -> None:
    from dataclasses import replace

    entry = ledger.begin(replace(spending(), policy="ef" * 32, folder="/data/out", rate=0.25), key=KEY)
    found = ledger.entry(entry).spending
    assert (found.policy, found.folder, found.rate) == ("ef" * 32, "/data/out", 0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "ledger.sqlite"
    ledger = Ledger.create(made)
    finish(ledger, ledger.begin(spending("one"), key=KEY, seal=True))
    finish(ledger, ledger.begin(spending("two"), key=KEY[::-1], seal=True))
    finish(ledger, ledger.begin(spending("three"), key=bytes(32)))
    ledger.begin(spending("four"), key=bytes(31) + b"4")
    ledger.check()
    return made


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE keys SET key = replace(key, '6', '7') WHERE entry = 1"],
        ["UPDATE keys SET entry = 10 - entry WHERE entry < 3", "UPDATE keys SET entry = entry - 7 WHERE entry > 7"],
        ["UPDATE keys SET key = 'no number' WHERE entry = 2"],
        ["DELETE FROM keys WHERE entry = 2"],
        ["DELETE FROM keys WHERE entry = 4"],
        [f"INSERT INTO keys VALUES (3, '{bytes(32).hex()}')"],
        [f"INSERT INTO keys VALUES (9, '{bytes(32).hex()}')"],
        [f"UPDATE secrets SET value = '{KEY.hex()}'"],
        ["DELETE FROM secrets"],
    ],
    ids=["changed", "swapped", "not hexadecimal", "deleted", "held deleted", "kept", "stray", "secret", "no secret"],
)
def test_check_covers_the_keys(path: Path, statements: list[str]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.execute("SELECT * FROM keys")), list(connection.execute("SELECT * FROM secrets"))
    change(path, *statements)
    with closing(sqlite3.connect(path)) as connection:
        assert before != (
            list(connection.execute("SELECT * FROM keys")),
            list(connection.execute("SELECT * FROM secrets")),
        )
    with pytest.raises(DoesNotVerify):
        Ledger.open(path).check()


@pytest.mark.parametrize("entry", [1, 4])
def test_a_changed_key_is_not_used(path: Path, entry: int) -> None:
    change(path, f"UPDATE keys SET key = '{bytes(32).hex()}' WHERE entry = {entry}")
    ledger = Ledger.open(path)
    with pytest.raises(DoesNotVerify):
        ledger.key(entry)

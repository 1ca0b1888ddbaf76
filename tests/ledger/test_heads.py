"""A kept head finds a ledger that was cut off, replaced or put back, whatever else was made to fit."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger, chain
from crowdblend.ledger.head import Head, read_head
from tests.commands import crowdblend
from tests.ledger.files import change, filled
from tests.ledger.spendings import spending
from tests.signatures.keys import new_key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return filled(tmp_path / "ledger.sqlite")


def test_an_old_copy_is_found(path: Path) -> None:
    old = path.with_name("old.sqlite")
    shutil.copyfile(path, old)
    Ledger.open(path).begin(spending("new"))
    head = Ledger.open(path).head()
    Ledger.open(path).begin(spending("newer"))
    assert Ledger.open(path).check(head)
    Ledger.open(old).check()
    with pytest.raises(DoesNotVerify, match="older file"):
        Ledger.open(old).check(head)


def test_another_ledger_is_found(path: Path, tmp_path: Path) -> None:
    head = Ledger.open(path).head()
    other = Ledger.open(filled(tmp_path / "other.sqlite"))
    other.begin(spending("more"))
    with pytest.raises(DoesNotVerify):
        other.check(head)


def test_every_byte_of_every_entry(path: Path) -> None:
    """Every byte of every record breaks the chain; some of them through the file, `check` and the next release."""
    with closing(sqlite3.connect(path)) as connection:
        records = [chain.Record(*row) for row in connection.execute("SELECT * FROM records ORDER BY number")]
    assert len(list(chain.contents(records))) == 10
    for position, record in enumerate(records):
        for name in ("body", "previous", "hash"):
            text = getattr(record, name)
            for at in range(len(text)):
                edited = record._replace(**{name: text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]})
                with pytest.raises(DoesNotVerify):
                    list(chain.contents([*records[:position], edited]))
    whole = path.read_bytes()
    for record in records[::4]:
        path.write_bytes(whole)
        change(path, f"UPDATE records SET body = replace(body, ':', ';') WHERE number = {record.number}")
        with pytest.raises(CrowdblendError):
            Ledger.open(path).check()
        with pytest.raises(CrowdblendError):
            Ledger.open(path).begin(spending("new"))


@pytest.mark.parametrize("statement", [
    "UPDATE derived SET body = replace(body, '1.0', '0.1')", "DELETE FROM derived",
    "UPDATE derived SET body = body || 'x'",
])  # fmt: skip
def test_an_edited_summary_is_found_by_check_and_by_totals(path: Path, statement: str) -> None:
    change(path, statement)
    ledger = Ledger.open(path)
    for call in (ledger.check, ledger.budgets, lambda: ledger.total("residents"), lambda: list(ledger.stream())):
        with pytest.raises(DoesNotVerify, match="summary"):
            call()


def test_the_summary_says_what_the_records_say(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.abandon(ledger.begin(spending("given back")))
    ledger.begin(spending("under way"))
    ledger.limit("residents", epsilon=50.0, delta=1e-3)
    assert list(ledger.stream()) == list(ledger.entries())
    summary = ledger.summary()
    assert summary.unfinished == {5}
    assert [group.count for group in summary.groups] == [3, 1]
    assert ledger.budget("residents").releases == (1, 2, 3, 5)


def test_the_command_saves_signs_and_checks_a_head(path: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    at, head = ("--ledger", path), tmp_path / "head.json"
    assert crowdblend("ledger", "check", *at, "--save-head", head, "--sign", private).returncode == 0
    assert Ledger.open(path).check(read_head(head.read_text())) == read_head(head.read_text()).hash
    assert crowdblend("ledger", "check", *at, "--head", head, "--signer", public).returncode == 0
    document = json.loads(head.read_text())
    assert document["records"] == 10
    head.write_text(json.dumps({**document, "records": 9}))
    assert crowdblend("ledger", "check", *at, "--head", head).returncode == 1
    assert crowdblend("ledger", "check", *at, "--head", head, "--signer", public).returncode == 1
    assert crowdblend("ledger", "check", *at, "--signer", public).returncode == 2


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format": "crowdblend ledger head 1", "records": "1", "hash": "", "at": ""}']
)
def test_what_is_no_head(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_head(text)
    assert read_head(Head(3, "ab" * 32, "now").to_json()) == Head(3, "ab" * 32, "now")

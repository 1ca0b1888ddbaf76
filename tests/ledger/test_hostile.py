"""A ledger that was written by somebody else, with hashes that are right: one sentence, and no traceback."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.ledger import Identity, Ledger
from crowdblend.ledger.chain import next_record
from crowdblend.ledger.identity import Anchor, sketch
from tests.ledger.files import change
from tests.ledger.spendings import DATA, DIGEST, spending

NESTED = '{"a":' * 100_000 + "1" + "}" * 100_000


def add(path: Path, body: str) -> None:
    """Append a body as it is, with the hash that belongs to it."""
    with Ledger.open(path)._records.writing() as (transaction, history):
        transaction.add_record(next_record(history.last, body))


def begun(**changed) -> str:
    content = {
        **spending("new").to_dict(),
        "step": "begun",
        "entry": 4,
        "at": "2026-01-01",
        "key": "destroyed",
        "key_commitment": None,
        "identity": None,
        "not_compared": [],
        "other_people": [],
        "approval": None,
        "software": "crowdblend",
        "by": "ann",
        **changed,
    }
    return json.dumps(content)


def finished(**changed) -> str:
    digests = {"certificate_digest": DIGEST, "data_sha256": DATA}
    return json.dumps({"step": "finished", "entry": 4, "at": "2026-01-01", "internal": {}, **digests, **changed})


@pytest.mark.parametrize(
    "body",
    [
        NESTED,
        "[" * 100_000,
        '{"step":"begun","guarantees":' + "[" * 900 + "]" * 900 + "}",
        "",
        "null",
        "[]",
        '"begun"',
        "{}",
        '{"step":null}',
        '{"step":["begun"]}',
        '{"step":"finished","entry":[1]}',
        '{"step":"finished","entry":1}',
        finished(entry=99),
        finished(entry=1),
        finished(internal=[]),
        finished(data_sha256="AB" * 32),
        finished(certificate_digest="ab" * 32 + "\n"),
        '{"step":"created","format":"crowdblend ledger 1","secret":1,"at":""}',
        '{"step":"created","format":"crowdblend ledger 1","secret":"%s","at":""}' % ("ab" * 32),
        '{"step":"finished","entry":%s}' % ("9" * 5000),
        '{"step":"limit","population":"x","epsilon":-1,"delta":0.1,"until":null,"by":"x","why":null,"at":""}',
        '{"step":"overlap","population":"x","other":"x","by":"x","why":null,"at":""}',
        '{"step":"distinct","population":"x","other":"x","by":"x","why":null,"at":""}',
        begun(unknown=1),
        begun(at=5),
        begun(at="\x1b[31m"),
        begun(software=["x"]),
        begun(key="half"),
        begun(key_commitment="short"),
        begun(identity=3),
        begun(not_compared=["x"]),
        begun(not_compared=7),
        begun(other_people=["x"]),
        begun(approval="x"),
        begun(approval=0),
        begun(approval=1),
        begun(fresh="yes"),
        begun(rate="often"),
        begun(rate=-1),
        begun(policy="x"),
        begun(guarantees=[]),
        begun(guarantees=[{"kind": "Differential"}]),
        begun(guarantees={"kind": {}}),
        begun(guarantees=[[[[]]]]),
        begun(population={"a": 1}),
        begun(folder="x" * 5000),
        begun(entry=9),
        begun(entry="4"),
        begun(entry=None),
    ],
    ids=range(49),
)
def test_a_record_that_makes_no_sense(path: Path, body: str) -> None:
    add(path, body)
    ledger = Ledger.open(path)
    for call in (
        ledger.entries,
        ledger.check,
        ledger.budgets,
        ledger.fingerprint_request,
        lambda: ledger.begin(spending("next")),
    ):
        with pytest.raises(DoesNotVerify) as refused:
            call()
        assert "\n" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_a_body_that_is_no_text(path: Path) -> None:
    change(path, "UPDATE records SET body = x'00ff' WHERE number = 3")
    with pytest.raises(DoesNotVerify):
        Ledger.open(path).check()


def test_the_same_record_without_the_mischief_is_read(path: Path) -> None:
    add(path, begun())
    add(path, finished())
    assert [entry.status for entry in Ledger.open(path).entries()] == ["finished"] * 4


@pytest.fixture
def known(tmp_path: Path) -> Path:
    ledger = Ledger.create(tmp_path / "known.sqlite")
    anchor = Anchor(("id",), ("id",))
    marks = sketch("person", anchor, 0, [(one, one, 1) for one in range(50)], ledger.fingerprint_request().secret)
    ledger.begin(spending("one"), identity=Identity("source:x", "duckdb 1", (marks,)))
    other = replace(marks, marks=dict(list(marks.marks.items())[:10]))
    ledger.begin(spending("two"), identity=Identity("source:y", "duckdb 1", (other,)))
    ledger.check()
    return tmp_path / "known.sqlite"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE identities SET body = replace(body, 'A', 'B')",
        "UPDATE identities SET digest = 'x' || digest WHERE body LIKE '%source:x%'",
        "UPDATE identities SET body = '{}' WHERE body LIKE '%source:y%'",
        "UPDATE identities SET body = x'00'",
        "DELETE FROM identities WHERE body LIKE '%source:x%'",
    ],
)
def test_a_changed_identity_is_found(known: Path, statement: str) -> None:
    change(known, statement)
    ledger = Ledger.open(known)
    for call in (ledger.check, ledger.fingerprint_request, lambda: ledger.begin(spending("new"))):
        with pytest.raises(DoesNotVerify):
            call()


def test_an_identity_of_no_release_is_found(known: Path) -> None:
    change(known, "INSERT INTO identities VALUES ('7', '{}')")
    with pytest.raises(DoesNotVerify):
        Ledger.open(known).check()


def test_the_database_refuses_changes_of_identities_and_secrets(known: Path) -> None:
    for statement in (
        "UPDATE identities SET body = '{}'",
        "DELETE FROM identities",
        "UPDATE secrets SET value = 'x'",
        "DELETE FROM secrets",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            change(known, statement, without_triggers=False)


def test_nothing_prints_the_secret(known: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger.open(known)
    with closing(sqlite3.connect(known)) as connection:
        ((secret,),) = connection.execute("SELECT value FROM secrets")
        bodies = "".join(body for (body,) in connection.execute("SELECT body FROM records"))
        bodies += "".join(body for (body,) in connection.execute("SELECT body FROM identities"))
    assert secret not in bodies
    assert secret not in json.dumps([entry.to_dict() for entry in ledger.entries()])
    assert len(secret) == 64
    assert Ledger.create(known.with_name("other.sqlite")).fingerprint_request().secret.hex() != secret

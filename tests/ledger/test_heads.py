"""A kept head finds a ledger that was cut off, replaced or put back, whatever else was made to fit."""

import json
import shutil
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import Head, check_record, read_head
from tests.cases import for_each
from tests.commands import crowdblend
from tests.ledger.files import change, filled
from tests.ledger.spendings import spending
from tests.trusted.signatures.keys import new_key


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


def test_the_own_ledger_is_missed(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own ledger is empty until the first release, but not once a head of it was kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    assert Ledger.open(make=False).head().records == 0
    with pytest.raises(DoesNotVerify, match="cut off"):
        Ledger.open(make=False).check(Ledger.open(path).head())


def test_another_ledger_is_found(path: Path, tmp_path: Path) -> None:
    head = Ledger.open(path).head()
    other = Ledger.open(filled(tmp_path / "other.sqlite"))
    other.begin(spending("more"))
    with pytest.raises(DoesNotVerify):
        other.check(head)


def test_every_byte_of_every_entry(path: Path) -> None:
    """Every byte of every record breaks the chain; some of them through the file, `check` and the next release."""
    with Ledger.open(path)._records.reading() as (transaction, _):
        records = list(transaction.records())
    assert len(records) == 7
    last = None
    for record in records:
        for name in ("body", "previous", "hash"):
            text = getattr(record, name)
            for at in range(len(text)):
                edited = record._replace(**{name: text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]})
                with pytest.raises(DoesNotVerify):
                    check_record(edited, last)
        check_record(record, last)
        last = record
    whole = path.read_bytes()
    for record in records[::3]:
        path.write_bytes(whole)
        change(path, f"UPDATE records SET body = replace(body, ':', ';') WHERE number = {record.number}")
        with pytest.raises(CrowdblendError):
            Ledger.open(path).check()
        with pytest.raises(CrowdblendError):
            Ledger.open(path).begin(spending("new"))


def test_what_was_seen_is_not_put_back_behind_an_open_ledger(path: Path) -> None:
    """A ledger that a process has open notices an older file, a cut end and another ledger without a head."""
    old = path.read_bytes()
    ledger = Ledger.open(path)
    ledger.begin(spending("new"))
    assert len(ledger.entries()) == 4
    path.write_bytes(old)
    for call in (ledger.entries, lambda: ledger.begin(spending("newer"))):
        with pytest.raises(DoesNotVerify, match="older file"):
            call()


def test_the_command_saves_signs_and_checks_a_head(path: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    at, head = ("--ledger", path), tmp_path / "head.json"
    assert crowdblend("ledger", "check", *at, "--save-head", head, "--sign", private).returncode == 0
    assert Ledger.open(path).check(read_head(head.read_text())) == read_head(head.read_text()).hash
    assert crowdblend("ledger", "check", *at, "--head", head, "--signer", public).returncode == 0
    document = json.loads(head.read_text())
    assert document["records"] == 7
    head.write_text(json.dumps({**document, "records": 6}))
    assert crowdblend("ledger", "check", *at, "--head", head).returncode == 1
    assert crowdblend("ledger", "check", *at, "--head", head, "--signer", public).returncode == 1
    assert crowdblend("ledger", "check", *at, "--signer", public).returncode == 2


@for_each("text", ["", "{}", "[]", '{"format": "crowdblend ledger head 1", "records": "1", "hash": "", "at": ""}'])
def test_what_is_no_head(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_head(text)
    assert read_head(Head(3, "ab" * 32, "now").to_json()) == Head(3, "ab" * 32, "now")


def test_a_log_of_heads_finds_a_restored_copy(path: Path, tmp_path: Path) -> None:
    """Each head once, on a line of its own; a log that is longer than the ledger is not its log."""
    log, at = tmp_path / "heads.jsonl", ("--ledger", path)
    backup = path.read_bytes()
    for _ in range(2):
        assert crowdblend("ledger", "heads", "--export", log, *at).returncode == 0
    assert len(log.read_text().splitlines()) == 1
    Ledger.open(path).begin(spending("later"))
    assert crowdblend("ledger", "heads", "--export", log, *at, "--json").returncode == 0
    assert len(log.read_text().splitlines()) == 2
    assert crowdblend("ledger", "check", "--head", log, *at).returncode == 0
    printed = crowdblend("ledger", "heads", *at).stdout
    assert json.loads(printed)["hash"] == json.loads(log.read_text().splitlines()[-1])["hash"]
    unwritable = crowdblend("ledger", "heads", "--export", tmp_path / "none" / "heads.jsonl", *at)
    assert unwritable.returncode == 2
    path.write_bytes(backup)
    path.with_name("ledger.sqlite.heads").unlink()  # restored with the ledger, say
    assert crowdblend("ledger", "check", *at).returncode == 0
    assert crowdblend("ledger", "check", "--head", log, *at).returncode == 1


def test_every_release_says_its_head(tmp_path: Path) -> None:
    people, where = tmp_path / "people.csv", tmp_path / "ledger.sqlite"
    people.write_text("id,sex\n" + "".join(f"p{n},{'fm'[n % 2]}\n" for n in range(300)), encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "people.csv"\nperson = "id"\n[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[columns]\nsex = { values = ["f", "m"] }\n'
        '[[publish]]\nkind = "table"\n',
        encoding="utf-8",
    )
    Ledger.create(where)
    done = crowdblend("release", "policy.toml", "--yes", "--json", "--ledger", where, folder=tmp_path)
    head, made = json.loads(done.stdout)["head"], Ledger.open(where).head()
    assert (head["records"], head["hash"]) == (made.records, made.hash)

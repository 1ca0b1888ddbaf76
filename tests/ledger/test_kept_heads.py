"""Heads are kept beside a ledger, so that a restored backup is noticed, and honest use raises no false alarm."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger, kept_heads
from crowdblend.ledger.chain import load_heads
from crowdblend.ledger.kept_heads import KeptHeads
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.files import change, filled
from tests.ledger.spendings import DATA, DIGEST, spending

PAGE = Path(__file__).parents[2] / "docs" / "shared-ledger.md"


def heads_of(path: Path) -> Path:
    return path.with_name("ledger.sqlite.heads")


def is_behind(where: Path | str) -> None:
    """Whatever is done first, the ledger is refused and says how to go on."""
    for call in (
        lambda ledger: ledger.entries(),
        lambda ledger: ledger.begin(spending("next")),
        lambda ledger: ledger.check(),
        lambda ledger: ledger.budget("residents"),
    ):
        with pytest.raises(DoesNotVerify, match="a backup or another ledger was put in its place") as refused:
            call(Ledger.open(where))
        assert refused.value.code == "ledger.behind"
        assert "crowdblend ledger heads --accept" in refused.value.remedy


def test_every_record_has_its_head_beside_the_ledger(path: Path) -> None:
    heads = load_heads(heads_of(path))
    assert [one.records for one in heads] == list(range(2, 8))
    with Ledger.open(path)._records.reading() as (transaction, _):
        assert [transaction.hash_of(one.records) for one in heads] == [one.hash for one in heads]
    assert crowdblend("ledger", "check", "--head", heads_of(path), "--ledger", path).returncode == 0
    assert len(kept_heads.KeptHeads.beside(path).read()) == 6


def test_a_backup_in_its_place_is_refused_until_the_loss_is_accepted(path: Path) -> None:
    backup, at = path.read_bytes(), ("--ledger", path)
    ledger = Ledger.open(path)
    for sample in ("lost", "lost too"):
        ledger.begin(spending(sample))
    path.write_bytes(backup)
    is_behind(path)
    refused = crowdblend("ledger", "list", *at)
    assert refused.returncode == 1
    shown = refused.stderr.replace("has 7", "has 3").replace("after 9", "after 7").replace(str(path.parent), "/srv")
    assert shown in PAGE.read_text(encoding="utf-8")
    assert crowdblend("ledger", "heads", "--accept", *at).returncode == 2
    done = crowdblend("ledger", "heads", "--accept", "--why", "the disk broke", "--by", "ann", *at)
    assert "Accepted by ann as lost: the records of the kept heads 8, 9." in done.stdout
    (loss,) = Ledger.open(path).losses()
    assert ([number for number, _ in loss.lost], loss.why) == ([8, 9], "the disk broke")
    assert Ledger.open(path).begin(spending("next")) == 4
    assert crowdblend("ledger", "check", *at).returncode == 0
    assert crowdblend("ledger", "heads", "--accept", "--why", "again", *at).returncode == 2
    path.write_bytes(backup)  # the loss itself is lost
    is_behind(path)
    Ledger.open(path).accept_loss(why="the disk broke again")
    assert [number for number, _ in Ledger.open(path).losses()[0].lost] == [8, 9, 8, 9]
    Ledger.open(path).check()


def test_a_cut_end_another_ledger_and_a_deleted_one(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    change(path, "DELETE FROM records WHERE number = 7", "UPDATE records SET number = number")
    is_behind(path)
    path.write_bytes(filled(tmp_path / "other.sqlite").read_bytes())
    is_behind(path)
    path.unlink()
    with pytest.raises(InvalidInput, match="has heads of an earlier ledger"):
        Ledger.create(path)
    assert not path.exists()
    heads_of(path).unlink()
    Ledger.create(path)
    path.write_bytes(whole)
    assert len(Ledger.open(path).entries()) == 3


def test_an_open_ledger_that_accepts_nothing_is_still_compared(path: Path) -> None:
    ledger = Ledger.open(path)
    with pytest.raises(InvalidInput, match="Nothing is to be accepted"):
        ledger.accept_loss(why="to be sure")
    backup = path.read_bytes()
    Ledger.open(path).begin(spending("lost"))
    path.write_bytes(backup)
    with pytest.raises(DoesNotVerify):
        ledger.check()


def test_a_kill_between_record_and_head_is_no_alarm(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KeptHeads, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(path).begin(spending("killed"))
    assert load_heads(heads_of(path))[-1].records == 7
    assert Ledger.open(path).begin(spending("next")) == 5
    assert [one.records for one in load_heads(heads_of(path))[-2:]] == [7, 9]
    Ledger.open(path).check()


def test_a_line_that_a_power_cut_left_half_is_no_alarm(path: Path) -> None:
    heads = heads_of(path)
    heads.write_bytes(heads.read_bytes()[:-30])
    assert [one.records for one in KeptHeads(heads).read()] == [2, 3, 4, 5, 6]
    Ledger.open(path).begin(spending("next"))
    assert [one.records for one in KeptHeads(heads).read()] == [2, 3, 4, 5, 6, 8]
    backup = path.read_bytes()
    Ledger.open(path).begin(spending("lost"))
    path.write_bytes(backup)
    is_behind(path)


def test_only_the_last_heads_are_read(path: Path) -> None:
    """However long the file is, and wherever its last part begins."""
    heads = heads_of(path)
    last = heads.read_bytes().splitlines(keepends=True)[-1]
    for begins in (b"", b"x" * 7, b"{}\n"):
        heads.write_bytes(begins + last * 10_000)
        assert {one.records for one in KeptHeads(heads).read()} == {7}
        assert 50 < len(KeptHeads(heads).read()) < 200
    assert Ledger.open(path).begin(spending("next")) == 4


def test_heads_that_cannot_be_kept_are_said_once(path: Path) -> None:
    heads_of(path).unlink()
    heads_of(path).mkdir()
    ledger = Ledger.open(path)
    with pytest.warns(UserWarning, match="Heads of the ledger are not kept"):
        entry = ledger.begin(spending("next"))
    ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)  # another warning would fail the test
    assert ledger.entry(4).status == "finished"


def test_a_copy_elsewhere_is_another_ledger(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    copy = tmp_path / "copies" / "ledger.sqlite"
    shutil.copyfile(path, copy)
    Ledger.open(path).begin(spending("next"))
    assert len(Ledger.open(copy).entries()) == 3


def test_heads_are_read_before_the_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer appends between both: its head may not be compared with what was read before its record."""
    read: Callable[[KeptHeads], object] = KeptHeads.read
    other = Ledger.open(path)
    other.entries()

    def read_and_wait(self: KeptHeads) -> object:
        found = read(self)
        if len(other.entries()) == 3:
            other.begin(spending("meanwhile"))
        return found

    monkeypatch.setattr(KeptHeads, "read", read_and_wait)
    assert len(Ledger.open(path).entries()) == 4


@needs_postgresql
def test_a_server_that_was_restored_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads are in the state folder of the user, for this database and this chain."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    where = place("postgresql", tmp_path)
    ledger = Ledger.create(where)
    ledger.begin(spending("first"))
    ledger.begin(spending("lost"))
    (kept,) = (tmp_path / "crowdblend" / "heads").iterdir()
    assert [one.records for one in load_heads(kept)] == [2, 3]
    execute(
        "ALTER TABLE crowdblend.records DISABLE TRIGGER append_only",
        "DELETE FROM crowdblend.records WHERE number = 3",
        "ALTER TABLE crowdblend.records ENABLE TRIGGER append_only",
    )
    is_behind(where)
    Ledger.open(where).accept_loss(why="restored from a dump")
    assert Ledger.open(where).begin(spending("next")) == 2
    Ledger.open(where).check()
    another = Ledger.create(place("postgresql", tmp_path))
    another.begin(spending("of another ledger in this database"))
    assert len(list((tmp_path / "crowdblend" / "heads").iterdir())) == 2
    monkeypatch.setattr("crowdblend.ledger.database.Transaction.is_replica", lambda _: True)
    execute(
        "ALTER TABLE crowdblend.records DISABLE TRIGGER append_only",
        "DELETE FROM crowdblend.records WHERE number = 2",
    )
    assert Ledger.open(where).entries() == ()


@needs_postgresql
def test_a_user_without_a_home_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = place("postgresql", tmp_path)
    Ledger.create(where)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ledger = Ledger.open(where)
    with pytest.warns(UserWarning, match="Heads of the ledger are not kept"):
        ledger.begin(spending("first"))
    for number in range(3):
        ledger.begin(spending(f"draw-{number}"))  # another warning would fail the test

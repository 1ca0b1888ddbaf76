"""The file: who may read it, who may change it, and what is said when it cannot be used."""

import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, InvalidInput, NotReachable
from crowdblend.ledger import Ledger, store
from crowdblend.ledger.store import locate
from tests.cases import for_each
from tests.ledger.files import KEY, change
from tests.ledger.spendings import shared, spending


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def assert_one_sentence(refused: pytest.ExceptionInfo[CrowdblendError]) -> None:
    message = str(refused.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert "sqlite3" not in message.lower()
    assert refused.value.__cause__ is None


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Ledger.create(tmp_path / "a" / "b" / "ledger.sqlite").begin(spending())
    finally:
        os.umask(before)
    assert mode(tmp_path / "a" / "b" / "ledger.sqlite") == 0o600
    assert mode(tmp_path / "a" / "b" / "ledger.sqlite.heads") == 0o600
    assert mode(tmp_path / "a" / "b") == 0o700
    assert sorted(found.name for found in (tmp_path / "a" / "b").iterdir()) == ["ledger.sqlite", "ledger.sqlite.heads"]


def test_the_journal_is_as_private(path: Path) -> None:
    with Ledger.open(path)._records.writing() as (transaction, _):
        transaction.execute("INSERT INTO keys VALUES (99, 'x')")
        journal = path.with_name(path.name + "-journal")
        assert mode(journal) == 0o600


def test_an_open_file_is_closed_to_others(path: Path) -> None:
    path.chmod(0o644)
    Ledger.open(path)
    assert mode(path) == 0o600


def test_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Ledger.open(make=False).entries() == ()
    assert not (tmp_path / "data").exists()
    Ledger.open().begin(spending())
    made = tmp_path / "data" / "crowdblend" / "ledger.sqlite"
    assert mode(made) == 0o600
    assert mode(made.parent) == 0o700
    assert len(Ledger.open(make=False).entries()) == 1


def test_which_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("CROWDBLEND_LEDGER", "")
    assert locate().path == tmp_path / ".local" / "share" / "crowdblend" / "ledger.sqlite"
    monkeypatch.setenv("CROWDBLEND_LEDGER", "~/mine.sqlite")
    assert locate().path == tmp_path / "mine.sqlite"
    assert locate("sqlite:///other.sqlite").path == Path("other.sqlite")
    assert locate("sqlite:////full/other.sqlite").path == Path("/full/other.sqlite")
    assert locate("postgres://db/x").path is None


@for_each("where", ["", "mysql://db/x", "a\0b", "https://example.org/l.sqlite"])
def test_no_ledger(where: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Ledger.open(where)
    assert_one_sentence(refused)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidInput, match="psycopg") as refused:
        Ledger.open("postgresql://me@localhost/x")
    assert_one_sentence(refused)


@pytest.mark.parametrize("where", ["postgresql://me:secret@db/x", "postgres://db/x?password=secret&a=b"])
def test_a_password_is_refused_and_not_shown(where: str) -> None:
    with pytest.raises(InvalidInput, match="PGPASSWORD") as refused:
        Ledger.open(where)
    assert "secret" not in str(refused.value)
    assert refused.value.code == "ledger.password"


def test_a_folder_or_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for where in (tmp_path, tmp_path / "file" / "ledger.sqlite"):
        with pytest.raises(InvalidInput) as refused:
            Ledger.create(where)
        assert_one_sentence(refused)


def test_a_folder_that_cannot_be_written() -> None:
    """Nobody writes into a folder of the system itself, not even root."""
    with pytest.raises(InvalidInput, match="written") as refused:
        Ledger.create(Path("/proc" if Path("/proc").is_dir() else "/System") / "ledger.sqlite")
    assert_one_sentence(refused)


def test_a_folder_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store.tempfile, "mkstemp", refuse)  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="Permission denied") as refused:
        Ledger.create(tmp_path / "ledger.sqlite")
    assert_one_sentence(refused)


def test_a_read_only_file_can_be_read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")
    path.chmod(0o400)
    assert len(Ledger.open(path, make=False).entries()) == 3


@for_each("content", [b"", b"not a database, but long enough to be taken for one" * 40, b"SQLite format 3\0"])
def test_something_else_is_no_ledger_and_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    for make in (True, False):
        with pytest.raises(InvalidInput, match="damaged") as refused:
            Ledger.open(path, make=make)
        assert_one_sentence(refused)
    assert path.read_bytes() == content


def test_another_sqlite_file_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    change(path, "CREATE TABLE people (name TEXT)")
    with pytest.raises(InvalidInput, match="damaged"):
        Ledger.open(path)


def test_damage_anywhere_is_one_sentence_or_harmless(path: Path) -> None:
    """Every page of the file, overwritten in turn."""
    whole = path.read_bytes()
    good = Ledger.open(path).entries()
    sentences = []
    for start in range(0, len(whole), 1024):
        path.write_bytes(whole[:start] + b"\xa5" * 256 + whole[start + 256 :])
        try:
            assert Ledger.open(path).entries() == good
        except CrowdblendError as refused:
            sentences.append(str(refused))
    assert len(sentences) >= 4
    assert not any("\n" in sentence for sentence in sentences)


def test_a_cut_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InvalidInput) as refused:
        Ledger.open(path).entries()
    assert_one_sentence(refused)


def test_a_busy_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert len(Ledger.open(path).entries()) == 3
        with pytest.raises(NotReachable, match="another process") as refused:
            Ledger.open(path).begin(spending("new"))
    assert_one_sentence(refused)


def test_what_fails_halfway_leaves_nothing(path: Path) -> None:
    ledger = Ledger.open(path)
    with pytest.raises(ZeroDivisionError), ledger._records.writing() as (transaction, _):
        assert transaction.execute("INSERT INTO @keys VALUES (99, 'x')").fetchone() == 1 / 0
    with ledger._records.reading() as (transaction, _):
        assert [*transaction.execute("SELECT entry FROM @keys WHERE entry = ?", [99])] == []
    ledger.begin(spending("new"))  # nothing is held


@pytest.mark.parametrize(("setting", "value"), [("synchronous", 3), ("secure_delete", 1)])
def test_commits_survive_a_power_cut_and_what_is_deleted_is_gone(path: Path, setting: str, value: int) -> None:
    with Ledger.open(path)._records.writing() as (transaction, _):
        assert transaction.execute(f"PRAGMA {setting}").fetchone() == (value,)


def test_a_sealed_key_is_kept_apart(path: Path) -> None:
    ledger = Ledger.open(path)
    assert ledger.key(1) == KEY
    assert ledger.entry(1).key == "sealed"
    with closing(sqlite3.connect(path)) as connection:
        bodies = "".join(body for (body,) in connection.execute("SELECT body FROM records"))
    assert KEY.hex() not in bodies
    assert KEY.hex() not in repr(ledger.entries())
    with pytest.raises(InvalidInput, match="without a key"):
        ledger.key(ledger.begin(shared()))


@pytest.mark.parametrize("key", [b"", b"short", "x" * 32, bytes(33)])
def test_a_key_has_its_length(path: Path, key) -> None:
    with pytest.raises(InvalidInput, match="32 bytes"):
        Ledger.open(path).begin(spending("new"), key=key, seal=True)
    assert len(Ledger.open(path).entries()) == 3


def test_an_error_shows_no_key(path: Path) -> None:
    change(path, "DROP TABLE keys", without_triggers=False)
    with pytest.raises(InvalidInput) as refused:
        Ledger.open(path).begin(spending("new"), key=KEY[::-1], seal=True)
    assert_one_sentence(refused)
    assert KEY[::-1].hex() not in repr(refused.value.__context__)
    assert len(Ledger.open(path).entries()) == 3

"""A ledger is moved between SQLite and PostgreSQL: every row as it is, with its guards, and nothing where it fails."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, DoesNotCompose, DoesNotVerify, InvalidInput, NotReachable
from crowdblend.kinds import plan
from crowdblend.ledger import Ledger, moving, store
from crowdblend.ledger.database import Transaction, copy_rows
from crowdblend.ledger.moving import move_ledger
from crowdblend.ledger.store import locate
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.pending import pending_release
from crowdblend.sources.engines.choice import default_engine
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.files import change
from tests.ledger.sources import people, policy, write
from tests.ledger.spendings import DATA, DIGEST, spending

KEY = bytes(range(32))
TABLES = ("records", "keys", "secrets", "identities")
BOTH_WAYS = [
    pytest.param(("sqlite", "postgresql"), marks=needs_postgresql, id="to PostgreSQL"),
    pytest.param(("postgresql", "sqlite"), marks=needs_postgresql, id="to SQLite"),
]


def begin(ledger: Ledger, folder: Path, key: bytes) -> int:
    """A release of a sample that was drawn before, up to its entry."""
    planned = plan(parse_policy(policy("drawn.parquet"), folder))
    pending = pending_release(planned, "/out", ledger, key, default_engine())
    return ledger.begin(pending.spending, identity=pending.identity, key=key)


def rows(where: str) -> dict[str, list[tuple[object, ...]]]:
    with store.Store.open(locate(where)).transaction(writing=False) as transaction:
        return {table: sorted(map(tuple, transaction.execute(f"SELECT * FROM @{table}"))) for table in TABLES}


@pytest.fixture(params=BOTH_WAYS)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A ledger with a finished release, a sealed key, an unfinished one and a limit; and where it shall go."""
    source, target = (place(database, tmp_path) for database in request.param)
    write(people(), tmp_path / "drawn.parquet")
    ledger = Ledger.create(source)
    ledger.limit("residents", epsilon=50.0, delta=1e-2)
    finished = ledger.begin(spending("first"), key=KEY, seal=True)
    ledger.finish(finished, certificate_digest=DIGEST, data_sha256=DATA)
    begin(ledger, tmp_path, KEY[::-1])
    return source, target


def test_every_row_is_copied_as_it_is(places: tuple[str, str]) -> None:
    source, target = places
    before, head = rows(source), Ledger(source).head()
    assert all(before.values())
    moved = move_ledger(source, target)
    assert rows(target) == rows(source) == before
    made = Ledger(target).head(head)
    assert (made.records, made.hash) == (moved.head.records, moved.head.hash) == (head.records, head.hash)


def test_the_copy_goes_on(places: tuple[str, str], tmp_path: Path) -> None:
    """It knows the earlier sample, resumes what is unfinished, holds the limit and appends."""
    source, target = places
    assert move_ledger(source, target).unfinished == (2,)
    ledger = Ledger(target)
    with pytest.raises(DoesNotCompose) as refused:
        begin(ledger, tmp_path, bytes(32))
    assert refused.value.code == "same-sample"
    assert ledger.key(1) == KEY
    assert ledger.key(2) == KEY[::-1]
    ledger.finish(2, certificate_digest=DIGEST, data_sha256=DATA)
    with pytest.raises(CrowdblendError) as limited:
        ledger.begin(spending("later"), key=KEY)
    assert limited.value.code == "key.used"
    assert ledger.limits("residents")[0].epsilon == 50.0
    ledger.begin(spending("later"), key=bytes(31) + b"1")
    ledger.check()
    assert [one.id for one in Ledger(source).unfinished_entries()] == [2]


def test_the_copy_refuses_edits(places: tuple[str, str]) -> None:
    source, target = places
    move_ledger(source, target)
    for statement in (
        "UPDATE @records SET body = ''",
        "DELETE FROM @records",
        "UPDATE @keys SET entry = 9",
        "DELETE FROM @identities",
    ):
        with pytest.raises(CrowdblendError), store.Store(locate(target)).transaction(writing=True) as transaction:
            transaction.execute(statement)
    assert rows(target) == rows(source)


def test_a_place_with_a_ledger_is_refused(places: tuple[str, str]) -> None:
    source, target = places
    Ledger.create(target)
    before = rows(target)
    for to in (target, source):
        with pytest.raises(InvalidInput) as refused:
            move_ledger(source, to)
        assert refused.value.code == "ledger.exists"
    assert rows(target) == before


LOSSES = {
    "record": "DELETE FROM @records WHERE number = (SELECT MAX(number) FROM @records)",
    "key": "DELETE FROM @keys WHERE entry = 1",
    "secret": "DELETE FROM @secrets",
    "identity": "DELETE FROM @identities",
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_nothing_is_left_of_a_copy_that_differs(
    places: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    source, target = places

    def lose(old: Transaction, new: Transaction) -> None:
        copy_rows(old, new)
        new.execute(loss)

    monkeypatch.setattr(moving, "copy_rows", lose)
    files = set(tmp_path.iterdir())
    with pytest.raises(DoesNotVerify):
        move_ledger(source, target)
    assert set(tmp_path.iterdir()) == files
    monkeypatch.undo()
    move_ledger(source, target)
    assert rows(target) == rows(source)


def test_an_edited_ledger_is_not_moved(tmp_path: Path) -> None:
    source = place("sqlite", tmp_path)
    Ledger.create(source).begin(spending(), key=KEY)
    change(Path(source), "UPDATE keys SET key = replace(key, '6', '7')")
    with pytest.raises(DoesNotVerify):
        move_ledger(source, tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_a_writer_is_waited_for_and_kept_out(places: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = places
    monkeypatch.setattr(store, "PATIENCE", 0.3)
    with store.Store(locate(source)).transaction(writing=True), pytest.raises(NotReachable) as refused:
        move_ledger(source, target)
    assert refused.value.code == "ledger.busy"
    kept_out = []

    def write_meanwhile(old: Transaction, new: Transaction) -> None:
        with pytest.raises(NotReachable) as busy:
            Ledger(source).begin(spending("meanwhile"))
        kept_out.append(busy.value.code)
        copy_rows(old, new)

    monkeypatch.setattr(moving, "copy_rows", write_meanwhile)
    move_ledger(source, target)
    assert kept_out == ["ledger.busy"]


@pytest.fixture
def login(tmp_path: Path) -> Iterator[str]:
    execute("DROP ROLE IF EXISTS test_mover", "CREATE ROLE test_mover LOGIN")
    yield "test_mover"
    execute("DROP SCHEMA IF EXISTS crowdblend CASCADE", "DROP ROLE test_mover")


@needs_postgresql
def test_roles_stay_as_they_were(tmp_path: Path, login: str) -> None:
    """Through a file and back as another login: each record names the login that made it, and new ones the new one."""
    where = place("postgresql", tmp_path)
    ledger = Ledger.create(where)
    ledger.begin(spending("first"))
    head, file = ledger.head(), tmp_path / "between.sqlite"
    move_ledger(where, file)
    assert Ledger(file).entry(1).role == "postgres"
    Ledger(file).begin(spending("in the file"))
    place("postgresql", tmp_path)
    execute(f"GRANT CREATE ON DATABASE postgres TO {login}")
    try:
        other = where.replace("postgres@", f"{login}@")
        move_ledger(file, other)
        back = Ledger(other)
        back.begin(spending("third"))
        assert [one.role for one in back.entries()] == ["postgres", "", login]
        back.check(head)
    finally:
        execute("DROP SCHEMA crowdblend CASCADE", f"REVOKE CREATE ON DATABASE postgres FROM {login}")


def test_the_command_says_what_to_do(tmp_path: Path) -> None:
    source, target = Path(place("sqlite", tmp_path)), tmp_path / "new.sqlite"
    Ledger.create(source).begin(spending(), key=KEY)
    content = source.read_bytes()
    done = crowdblend("ledger", "move", source, target, "--json")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert (said["from"], said["to"], said["unfinished"]) == (str(source), str(target), [1])
    assert said["head"]["hash"] == Ledger(source).head().hash
    assert "two ledgers are two budgets" in " ".join(said["advice"])
    assert source.read_bytes() == content
    assert target.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    again = crowdblend("ledger", "move", source, target)
    assert again.returncode == 2
    assert "already" in again.stderr
    assert crowdblend("ledger", "move", tmp_path / "none.sqlite", tmp_path / "x").returncode == 2

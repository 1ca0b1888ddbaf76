"""A ledger in PostgreSQL that lets nobody wait for ever: turns, limits of time, connections that are cut."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import NotReachable, RefusedByLedger
from crowdblend.ledger import Ledger, followed_store, server, store
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.roles import role_statements
from tests.cases import for_each
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.spendings import spending
from tests.needs import pgbouncer

pytestmark = needs_postgresql


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A new ledger."""
    return Ledger.create(place("postgresql", tmp_path))


@contextmanager
def session(where: str) -> Iterator[Any]:
    """Somebody else's session."""
    import psycopg

    with psycopg.connect(where) as connection:
        yield connection
        connection.rollback()


def test_a_writer_whose_turn_does_not_come_says_who_has_it(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.5)
    other = Ledger.open(ledger.location.url)
    with other._records.writing():
        time.sleep(1.6)  # the server's seconds are whole
        assert Ledger.open(ledger.location.url).entries() == ()  # readers do not wait
        with pytest.raises(NotReachable, match=r"with the role 'postgres', has been publishing for \d+ s") as refused:
            ledger.begin(spending())
    assert (refused.value.code, refused.value.exit_code, refused.value.recorded) == ("ledger.busy", 4, False)
    with session(str(ledger.location.url)) as held:
        held.execute("LOCK TABLE crowdblend.turn")
        with pytest.raises(NotReachable, match="for more than"):
            ledger.begin(spending())
    assert ledger.begin(spending()) == 1


def test_a_reader_holds_nobody_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a lock that writers take, nor by one on what a reader may read, nor by an advisory lock."""
    import psycopg

    monkeypatch.setattr(store, "PATIENCE", 0.5)
    execute(*role_statements(), "DROP ROLE IF EXISTS test_onlooker", "CREATE ROLE test_onlooker LOGIN")
    execute("GRANT crowdblend_reader TO test_onlooker")
    where = str(ledger.location.url).replace("postgres@", "test_onlooker@")
    for table in ("turn", "records"):
        for mode in ("ROW SHARE", "SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE"):
            with session(where) as reader, pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(f"LOCK TABLE crowdblend.{table} IN {mode} MODE")
    with session(where) as reader:
        reader.execute("SELECT pg_advisory_xact_lock(7021800464); SELECT * FROM crowdblend.records")
        reader.execute("LOCK TABLE crowdblend.records IN ACCESS SHARE MODE")
        assert ledger.begin(spending()) == 1
    with pytest.raises(RefusedByLedger):
        Ledger.open(where, make=False).begin(spending("more"))
    execute("DROP OWNED BY test_onlooker", "DROP ROLE test_onlooker")


def test_a_frozen_server_ends_the_wait(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STATEMENT", 0.4)
    monkeypatch.setattr(server, "_ON_TOP", 0.4)
    began = time.monotonic()

    def freeze() -> None:
        with ledger._records.reading() as (reads, _):
            process = reads.value("SELECT pg_backend_pid()")
            os.kill(process, signal.SIGSTOP)
            try:
                reads.value("SELECT 1")
            finally:
                os.kill(process, signal.SIGCONT)

    with pytest.raises(NotReachable, match="has not answered for 0") as refused:
        freeze()
    assert refused.value.code == "ledger.slow"
    with pytest.raises(NotReachable, match="has not answered"), ledger._records.reading() as (reads, _):
        reads.value("SELECT pg_sleep(20)")
    assert time.monotonic() - began < 15


def test_a_connection_that_is_cut_before_the_record_is_tried_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_store, "_WAITS", (0.0, 0.0))
    check, cuts = Ledger._check, iter((True, True, False))

    def cut(self: Ledger, transaction: Any, *rest: Any) -> object:
        if next(cuts):
            transaction.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return check(self, transaction, *rest)

    monkeypatch.setattr(Ledger, "_check", cut)
    assert ledger.begin(spending(), key=bytes(32)) == 1
    cuts = iter((True, True, True))
    with pytest.raises(NotReachable, match="was cut") as refused:
        ledger.begin(spending("second"))
    assert (refused.value.exit_code, refused.value.recorded) == (4, False)
    monkeypatch.undo()
    assert [entry.id for entry in Ledger.open(ledger.location.url).entries()] == [1]


@for_each("call", ["entries", "check", "budgets", "unfinished_entries", "fingerprint_request"])
def test_a_connection_that_is_cut_while_it_reads_is_tried_again(call: str, tmp_path: Path) -> None:
    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending())
    records, cuts = Transaction.records, iter((True, True, False))

    def cut(self: Transaction, first: int = 1) -> object:
        if next(cuts):
            self.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return records(self, first)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(followed_store, "_WAITS", (0.0, 0.0))
        patch.setattr(Transaction, "records", cut)
        assert getattr(Ledger.open(ledger.location.url), call)()
        cuts = iter((True, True, True))
        with pytest.raises(NotReachable, match="was cut") as refused:
            getattr(Ledger.open(ledger.location.url), call)()
        assert refused.value.recorded is False


@pytest.mark.parametrize("arrived", [True, False])
def test_a_commit_whose_answer_is_lost_is_recorded_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, arrived: bool
) -> None:
    import psycopg

    monkeypatch.setattr(followed_store, "_WAITS", (0.0,))
    commit, losses = psycopg.Connection.commit, iter((False, True, False, False, False))  # the first one only reads

    def lose(self: Any) -> None:
        lost = next(losses)
        if arrived or not lost:
            commit(self)
        if lost:
            raise psycopg.OperationalError("the connection is lost")

    assert ledger.entries() == ()
    losses = iter((True, False, False, False))
    monkeypatch.setattr(psycopg.Connection, "commit", lose)
    assert ledger.begin(spending(), key=bytes(32)) == 1
    assert len(ledger.entries()) == 1
    ledger.check()


def test_a_commit_of_which_nothing_is_known_says_so(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    def lose(_: object) -> None:
        raise psycopg.OperationalError("the connection is lost")

    ledger.entries()
    monkeypatch.setattr(followed_store, "_WAITS", ())
    monkeypatch.setattr(psycopg.Connection, "commit", lose)
    with pytest.raises(NotReachable) as refused:
        ledger.begin(spending())
    assert refused.value.to_dict()["recorded"] is None


def test_a_pool_that_gives_each_transaction_another_session(ledger: Ledger, tmp_path: Path) -> None:
    """PgBouncer in transaction mode works; in statement mode nothing can be one transaction, and it is refused."""
    import psycopg

    program, socket = pgbouncer(), str(ledger.location.url).split("host=")[1]
    for mode, port in (("transaction", 6543), ("statement", 6544)):
        settings = Path(socket) / f"{mode}.ini"
        settings.write_text(
            f"[databases]\npostgres = host={socket} user=postgres\n[pgbouncer]\npool_mode = {mode}\n"
            f"listen_addr =\nlisten_port = {port}\nunix_socket_dir = {socket}\nauth_type = any\n"
            f"default_pool_size = 3\nserver_reset_query_always = 1\n",
            encoding="utf-8",
        )
        as_nobody: dict[str, Any] = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        running = subprocess.Popen([program, "-q", str(settings)], cwd="/", **as_nobody)
        try:
            where = f"postgresql://postgres@/postgres?host={socket}&port={port}"
            for _ in range(1000):
                assert running.poll() is None
                with suppress(psycopg.OperationalError):
                    psycopg.connect(where).close()
                    break
                time.sleep(0.02)
            if mode == "statement":
                with pytest.raises(NotReachable, match="statement pooling"):
                    Ledger.open(where)
                continue
            pooled = Ledger.open(where)
            for number in range(8):
                entry = pooled.begin(spending(f"draw-{number}"), key=bytes([number]) * 32)
                pooled.finish(entry, certificate_digest="ab" * 32, data_sha256="cd" * 32)
            assert pooled.check() == ledger.check()
            assert len(pooled.entries()) == 8
        finally:
            running.terminate()
            running.wait(timeout=30)

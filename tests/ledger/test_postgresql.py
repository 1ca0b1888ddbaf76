"""What is special about a ledger in PostgreSQL."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput, NotReachable, Refused, RefusedByLedger
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import check_record, next_record
from crowdblend.ledger.roles import role_statements
from tests.cases import for_each
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql, place
from tests.ledger.spendings import spending

pytestmark = needs_postgresql
KEY = bytes(range(32))
ROLES = ("operator", "steward", "approver", "reader")


def test_a_missing_ledger_is_made_only_on_request(tmp_path: Path) -> None:
    where = place("postgresql", tmp_path)
    for make in (False, True):
        with pytest.raises(InvalidInput, match="crowdblend ledger init"):
            Ledger.open(where, make=make)
    Ledger.create(where).begin(spending(), key=KEY, seal=True)
    ledger = Ledger.open(where, make=False)
    assert ledger.key(1) == KEY
    assert len(ledger.entries()) == 1
    with pytest.raises(InvalidInput, match="already"):
        Ledger.create(where)


@for_each(
    "statement",
    [
        "UPDATE crowdblend.records SET body = '{}'",
        "DELETE FROM crowdblend.records",
        "TRUNCATE crowdblend.records",
        "UPDATE crowdblend.keys SET key = 'x'",
        "TRUNCATE crowdblend.keys",
        "UPDATE crowdblend.secrets SET value = 'x'",
        "DELETE FROM crowdblend.identities",
    ],
)
def test_the_database_itself_refuses_edits(tmp_path: Path, statement: str) -> None:
    import psycopg

    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending(), key=KEY, seal=True)
    before = ledger.check()
    with pytest.raises(psycopg.Error, match="append-only"):
        execute(statement)
    assert ledger.check() == before


def test_an_edit_is_found(tmp_path: Path) -> None:
    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.begin(spending())
    execute("ALTER TABLE crowdblend.records DISABLE TRIGGER append_only")
    execute("UPDATE crowdblend.records SET body = replace(body, 'residents', 'others')")
    with pytest.raises(DoesNotVerify):
        ledger.check()


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(NotReachable, match="does not answer") as refused:
        Ledger.open("postgresql://me@127.0.0.1:1/nothing")
    assert (refused.value.exit_code, refused.value.retry, refused.value.recorded) == (4, True, False)
    assert "\n" not in str(refused.value)


@pytest.fixture
def roles(tmp_path: Path) -> Iterator[str]:
    """A ledger with all roles, each granted to somebody who can log in."""
    where = place("postgresql", tmp_path)
    ledger = Ledger.create(where)
    ledger.limit("residents", epsilon=5.0, delta=1e-3)
    ledger.begin(spending("first"), key=KEY, seal=True)
    execute(*role_statements())
    for who in ROLES:
        execute(f"DROP ROLE IF EXISTS test_{who}", f"CREATE ROLE test_{who} LOGIN")
        execute(f"GRANT crowdblend_{who} TO test_{who}")
    yield where
    execute("DROP SCHEMA crowdblend CASCADE", *(f"DROP ROLE test_{who}" for who in ROLES))


def as_role(where: str, role: str) -> str:
    return where.replace("postgres@", f"{role}@")


@pytest.mark.parametrize("who", ["operator", "steward"])
def test_a_writer_releases_and_changes_nothing(roles: str, who: str) -> None:
    import psycopg

    where = as_role(roles, f"test_{who}")
    ledger = Ledger.open(where)
    entry = ledger.begin(spending("second"), key=KEY[::-1])
    ledger.finish(entry, certificate_digest="ab" * 32, data_sha256="cd" * 32)
    ledger.check()
    statements = [f"{verb} crowdblend.{table}" for table in ("records", "identities", "secrets")
                  for verb in ("DELETE FROM", "TRUNCATE")]  # fmt: skip
    statements += ["UPDATE crowdblend.records SET body = ''", "UPDATE crowdblend.keys SET key = ''",
                   "ALTER TABLE crowdblend.records DISABLE TRIGGER append_only", "DROP TABLE crowdblend.records",
                   "DROP TRIGGER append_only ON crowdblend.records", "CREATE TABLE crowdblend.x (y int)",
                   "INSERT INTO crowdblend.secrets VALUES ('x', 'x')",
                   "UPDATE crowdblend.secrets SET value = ''"]  # fmt: skip
    for statement in statements:
        with psycopg.connect(where) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    assert len(Ledger.open(roles).entries()) == 2


def test_a_writer_adds_to_the_end_of_the_chain_only(roles: str) -> None:
    """Else the forged record would be the last one, which totals read, and nothing could be added to the ledger."""
    import psycopg

    where = as_role(roles, "test_steward")
    with Ledger.open(where)._records.reading() as (_, history):
        last = history.last
    assert last is not None
    body = '{"step":"overlap"}'
    good = next_record(last, body, "test_steward")
    forged = [
        next_record(last._replace(number=10**6), body, "test_steward"),
        next_record(last._replace(hash="cd" * 32), body, "test_steward"),
        next_record(last, body, "postgres"),
        next_record(last, body),
        good._replace(hash="ef" * 32),
        good._replace(body=good.body + " "),
    ]
    for record in forged:
        with psycopg.connect(where) as connection, pytest.raises(psycopg.Error, match="append-only"):
            connection.execute("INSERT INTO crowdblend.records VALUES (%s, %s, %s, %s, %s)", record)
    Ledger.open(roles).check()


def test_a_long_name_in_any_script(tmp_path: Path) -> None:
    """An index of PostgreSQL holds 2,700 bytes."""
    chance = random.Random(1)
    name = "".join(chr(chance.randrange(0x4E00, 0x9F00)) for _ in range(1000))
    ledger = Ledger.create(place("postgresql", tmp_path))
    ledger.limit(name, epsilon=5.0, delta=1e-3)
    ledger.begin(spending(name[::-1], name))
    assert ledger.total(name, 1e-5).releases == 1
    assert ledger.budget(name).releases == (1,)
    ledger.check()


def test_a_reader_reads_totals_and_no_keys(roles: str) -> None:
    import psycopg

    where = as_role(roles, "test_reader")
    ledger = Ledger.open(where, make=False)
    assert len(ledger.entries()) == 1
    assert ledger.budget("residents").releases == (1,)
    assert ledger.limits("residents")[0].epsilon == 5.0
    assert ledger.check() == Ledger.open(roles).check()
    with pytest.raises(Refused) as refused:
        ledger.begin(spending("second"))
    assert refused.value.code == "ledger.no-right"
    for table in ("keys", "secrets", "identities"):
        with psycopg.connect(where) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT * FROM crowdblend.{table}")
    with psycopg.connect(where) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("INSERT INTO crowdblend.records VALUES (9, '', '', '', '')")


def test_the_statements_are_printed_as_one_transaction(tmp_path: Path) -> None:
    Ledger.create(place("postgresql", tmp_path))
    lines = crowdblend("ledger", "roles").stdout.splitlines()
    assert lines[:2] == ["\\set ON_ERROR_STOP on", "BEGIN;"]
    assert lines[-1] == "COMMIT;"
    execute("\n".join(lines[2:-1]))
    assert "GRANT DELETE ON crowdblend.keys TO crowdblend_steward;" in lines


def test_who_may_record_what(roles: str) -> None:
    """A limit is set by an approver, who releases nothing; an operator declares nothing about people."""

    def release(ledger: Ledger) -> None:
        ledger.begin(spending(f"of-{len(ledger.entries())}"))

    def raise_limit(ledger: Ledger) -> None:
        ledger.limit("residents", epsilon=99, delta=1e-3, why="more", by="the director")

    def declare(ledger: Ledger) -> None:
        ledger.overlap("residents", f"people {len(ledger.populations())}")

    actions = {"release": release, "limit": raise_limit, "declare": declare}
    allowed = {"operator": {"release"}, "steward": {"release", "declare"}, "approver": {"limit"}, "reader": set()}
    for who, may in allowed.items():
        ledger = Ledger.open(as_role(roles, f"test_{who}"), make=False)
        for name, action in actions.items():
            if name in may:
                action(ledger)
                continue
            with pytest.raises(RefusedByLedger) as refused:
                action(ledger)
            assert (refused.value.code, refused.value.exit_code) == ("ledger.no-right", 3), (who, name)
    Ledger.open(roles).check()


def test_records_name_the_role_that_made_them(roles: str) -> None:
    steward, approver = (Ledger.open(as_role(roles, f"test_{who}")) for who in ("steward", "approver"))
    entry = steward.entry(steward.begin(spending("second"), by="Ann"))
    assert (entry.by, entry.role, entry.to_dict()["role"]) == ("Ann", "test_steward", "test_steward")
    approver.limit("residents", epsilon=9, delta=1e-3, why="a new year", by="Bo")
    assert steward.limits("residents")[-1].author == "Bo (role test_approver)"
    assert steward.entry(1).role == "postgres"
    with Ledger.open(roles)._records.reading() as (transaction, _):
        last = list(transaction.records())[-1]
    with pytest.raises(DoesNotVerify):
        check_record(last._replace(role="test_steward"), last._replace(number=last.number - 1, hash=last.previous))

"""PostgreSQL as a source, on a real server: the rows of Parquet, one state of them, and no word of what is secret."""

import os
import stat
import sys
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, DoesNotCompose, InvalidInput, NotReachable, Unavailable
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.choice import count_classes, identify, on_disk
from crowdblend.sources.engines.databases import postgresql
from crowdblend.sources.engines.databases.postgresql import open_postgresql
from tests.cases import for_each
from tests.commands import crowdblend
from tests.ledger.databases import execute, needs_postgresql
from tests.ledger.postgresql_server import server
from tests.sources.engines.databases.people import in_parquet, policy, rows

pytestmark = [needs_postgresql, pytest.mark.filterwarnings("ignore:No ledger")]
_WANTED = FingerprintRequest(secret=b"s" * 32)


@pytest.fixture(scope="module")
def address():
    import psycopg

    execute("DROP SCHEMA IF EXISTS town CASCADE", "CREATE SCHEMA town")
    execute(
        "CREATE TABLE town.people (id int, sex char(3), age smallint, pay numeric(10, 2), share double precision, "
        "born date, note text)"
    )
    with psycopg.connect(server()) as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO town.people VALUES (%(id)s, %(sex)s, %(age)s, %(pay)s, %(share)s, %(born)s, %(note)s)",
            list(reversed(rows())),
        )
    return server()


def _counts(one):
    classes = count_classes(one, Everybody()).classes
    return classes.labels, classes.codes.tolist(), classes.counts.tolist()


def test_counts_and_identity_are_those_of_parquet(address, tmp_path):
    plain = policy(in_parquet(tmp_path, rows()))
    for more in ({"table": "town.people"}, {"query": "SELECT * FROM town.people -- all of them\n;"}):
        there = policy(address, **more)
        assert _counts(there) == _counts(plain)
        found = identify(there.data, Resources(), _WANTED)
        assert found.sketches == identify(plain.data, Resources(), _WANTED).sketches


def test_the_ledger_knows_the_sample_again(address, tmp_path):
    ledger = cb.Ledger(tmp_path / "ledger.db")
    cb.release(in_parquet(tmp_path, rows()), policy("people.parquet"), ledger=ledger)
    with pytest.raises(DoesNotCompose) as caught:
        cb.release(None, policy(address, table="town.people"), ledger=ledger)
    assert caught.value.code == "same-sample"


def test_one_transaction_sees_one_state(address):
    with open_postgresql(policy(address, table="town.people").data) as opened:
        columns = opened.columns()
        execute("INSERT INTO town.people VALUES (9999, 'F', 1, 1, 1, '2000-01-01', NULL)")
        try:
            assert opened.batches(columns).read_all().num_rows == len(rows())
        finally:
            execute("DELETE FROM town.people WHERE id = 9999")


def test_the_copy_is_private_sorted_and_gone_afterwards(address):
    there = policy(address, table="town.people").data
    digests = []
    for order in ("id", "id DESC"):
        execute(f"CREATE TABLE town.again AS SELECT * FROM town.people ORDER BY {order}")
        with on_disk(policy(address, table="town.again").data, Resources()) as data:
            path = Path(data.source)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            digests.append(path.read_bytes())
        execute("DROP TABLE town.again")
        assert not path.parent.exists()
    assert digests[0] == digests[1], "rows of a database have no order"
    assert there.format == "postgres"


def test_nothing_is_written(address):
    execute(
        "CREATE OR REPLACE FUNCTION town.adds() RETURNS int LANGUAGE sql AS "
        "'INSERT INTO town.people(id) VALUES (7777) RETURNING 7777'"
    )
    for query, code in (
        ("SELECT town.adds() AS extra, * FROM town.people", "data.database"),
        ("SELECT 1; DELETE FROM town.people", "data.query"),
        ("COMMIT", "data.query"),
        ("DELETE FROM town.people RETURNING *", "data.query"),
    ):
        with pytest.raises(InvalidInput) as caught:
            _counts(policy(address, query=query))
        assert caught.value.code == code, query
    assert _counts(policy(address, table="town.people"))[2]


@for_each(
    ("more", "code"),
    [
        ({"table": "town.nobody"}, "data.table"),
        ({"query": "SELECT nothing FROM town.people"}, "data.table"),
        ({"query": "SELEC"}, "data.query"),
        ({"query": "SELECT id, sex, sex, age, pay FROM town.people"}, "data.repeated-column"),
        ({"table": "town.people", "person": "nobody"}, "data.missing-column"),
    ],
)
def test_refusals_name_the_key_and_the_remedy(address, more, code):
    with pytest.raises(InvalidInput) as caught:
        cb.release(None, policy(address, **more), ledger=None)
    assert (caught.value.code, bool(caught.value.remedy)) == (code, True)


def test_other_types_are_read_as_their_text(address):
    execute(
        "DROP TABLE IF EXISTS town.types", "DROP TYPE IF EXISTS town.mood", "CREATE TYPE town.mood AS ENUM ('calm')"
    )
    execute(
        "CREATE TABLE town.types AS SELECT n AS id, 'calm'::town.mood AS mood, true AS ok, 1.50::numeric AS free, "
        "'a'::bpchar AS padded, TIMESTAMP '2020-01-02 03:04:05' AS at, '10:00'::time AS hour "
        "FROM generate_series(1, 50) n"
    )
    columns = {
        "mood": cb.values("calm"),
        "ok": cb.values("true", "false"),
        "free": cb.values("1.5"),
        "padded": cb.values("a"),
        "at": cb.date("day"),
        "hour": cb.values("10:00:00"),
    }
    labels, codes, counts = _counts(policy(address, table="town.types", columns=columns))
    assert (counts, labels[4]) == ([50], ("2020-01-02",))
    assert codes == [[0] * 6]


def test_new_years_eve_in_new_york(address):
    execute("DROP TABLE IF EXISTS town.moments")
    execute("CREATE TABLE town.moments AS SELECT 1 AS id, TIMESTAMPTZ '2024-12-31 23:30:00-05:00' AS day")
    columns = {"day": cb.date("day")}
    with pytest.raises(InvalidInput) as caught:
        _counts(policy(address, table="town.moments", columns=columns))
    assert caught.value.code == "data.zoned-column"
    query = "SELECT id, (day AT TIME ZONE 'America/New_York')::date AS day FROM town.moments"
    assert _counts(policy(address, query=query, columns=columns))[0] == (("2024-12-31",),)


def test_a_password_is_used_and_never_told(address, tmp_path, monkeypatch, capfd):
    """A role that needs a password gets in by PGPASSWORD and by a service file, and no message says the password."""
    import psycopg

    with psycopg.connect(address) as connection:
        (hba,) = connection.execute("SHOW hba_file").fetchone()
    if not os.access(hba, os.W_OK):
        pytest.skip("the server's files belong to somebody else")
    known = Path(hba).read_text()
    execute("DROP ROLE IF EXISTS keeper", "CREATE ROLE keeper LOGIN PASSWORD 'Tr0ub4dor'")
    execute("GRANT USAGE ON SCHEMA town TO keeper", "GRANT SELECT ON town.people TO keeper")
    Path(hba).write_text("local all keeper scram-sha-256\n" + known)
    execute("SELECT pg_reload_conf()")
    there = address.replace("postgres@", "keeper@")
    try:
        monkeypatch.setenv("PGPASSWORD", "Tr0ub4dor")
        done = cb.release(
            None, policy(there, table="town.people"), ledger=cb.Ledger(tmp_path / "l.db"), out=tmp_path / "o"
        )
        monkeypatch.delenv("PGPASSWORD")
        service = tmp_path / "service.conf"
        service.write_text(
            f"[town]\nhost={address.partition('host=')[2]}\nuser=keeper\npassword=Tr0ub4dor\ndbname=postgres\n"
        )
        monkeypatch.setenv("PGSERVICEFILE", str(service))
        assert _counts(policy("postgresql://?service=town", table="town.people"))[2]
        monkeypatch.setenv("PGPASSWORD", "wr0ng")
        with pytest.raises(CrowdblendError) as caught:
            _counts(policy(there, table="town.people"))
    finally:
        Path(hba).write_text(known)
        execute("SELECT pg_reload_conf()", "DROP OWNED BY keeper", "DROP ROLE keeper")
    told = str(caught.value) + repr(caught.value) + "".join(capfd.readouterr())
    files = b"".join(
        file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file.name != "service.conf"
    )
    for secret in ("Tr0ub4dor", "wr0ng"):
        assert secret not in told
        assert secret.encode() not in files
    assert caught.value.code in ("data.database", "data.permission")
    assert done.certificate is not None


@for_each(
    "source",
    [
        "postgresql://me:secret@host/db",
        "postgresql://me:se/cret@host/db",
        "postgresql://me:se@cret@host/db",
        "postgresql://host/db?password=secret",
        "postgresql://host/db?sslpassword=secret",
        "POSTGRES://me:secret@host/db",
    ],
)
def test_a_password_in_the_address_is_refused_without_it(source):
    with pytest.raises(InvalidInput) as caught:
        policy(source, table="people")
    assert caught.value.code == "policy.password"
    assert "cret" not in str(caught.value)


def test_a_server_that_does_not_answer():
    with pytest.raises(NotReachable) as caught:
        cb.release(None, policy("postgresql://127.0.0.1:1/nowhere", table="people"), ledger=None)
    assert caught.value.code == "data.database"
    assert "127.0.0.1" not in str(caught.value)


def test_without_the_driver_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(Unavailable) as caught:
        cb.release(None, policy("postgresql://h/d", table="people"), ledger=None)
    assert (caught.value.code, caught.value.remedy) == (
        "system.package",
        'Install it in a checkout: pip install ".[postgres]".',
    )


def test_the_command_releases_a_table(address, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    cb.Ledger.create()
    (tmp_path / "policy.toml").write_text(policy(address, table="town.people").to_toml())
    for more in (["--dry-run"], ["--yes", "--out", "published"]):
        done = crowdblend("release", "policy.toml", *more, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert cb.verify(tmp_path / "published")


def test_declared_digits_are_kept_as_far_as_decimals_have_them() -> None:
    kinds = [postgresql._decimal("pay", (digits << 16 | 2) + 4) for digits in (10, 38, 39)]
    assert ["DECIMAL" in repr(kind) for kind in kinds] == [True, True, False]

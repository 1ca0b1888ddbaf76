"""The tables of a ledger, and the triggers by which the database itself keeps them append-only."""

from __future__ import annotations

from crowdblend.ledger.chain import GENESIS
from crowdblend.ledger.connection import Connection

# A chain cannot fork, whatever the isolation: no two records have the same one before them.
_RECORDS = """CREATE TABLE @records (
    number INTEGER NOT NULL,
    previous VARCHAR(64) NOT NULL,
    body TEXT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (previous)
)"""
_KEYS = 'CREATE TABLE @keys (entry INTEGER NOT NULL, "key" VARCHAR(64) NOT NULL, PRIMARY KEY (entry))'
_ABOUT = "CREATE TABLE @about (format VARCHAR(64) NOT NULL, PRIMARY KEY (format))"
# The second format adds what follows.
_SECRETS = "CREATE TABLE @secrets (name VARCHAR(64) NOT NULL, value VARCHAR(64), PRIMARY KEY (name))"
_IDENTITIES = "CREATE TABLE @identities (entry INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (entry))"
# The third format adds what follows from the records and is kept so that it need not be computed again.
_DERIVED = "CREATE TABLE @derived (name VARCHAR(1100) NOT NULL, body TEXT NOT NULL, PRIMARY KEY (name))"
# The fourth format adds where the records of an entry, of a sample and of a population are. Names stand there by hash.
_STEPS = """CREATE TABLE @steps (
    number INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    step VARCHAR(16) NOT NULL,
    sample VARCHAR(64),
    population VARCHAR(64),
    PRIMARY KEY (number, entry)
)"""
_INDEXES = [f"CREATE INDEX ix_steps_{name} ON @steps ({name})" for name in ("entry", "sample", "population")]

SCHEMA = "crowdblend"
"""PostgreSQL databases are shared: there the tables live in a schema of their own."""

_APPEND_ONLY = "the ledger is append-only"
_GAP = "(SELECT COALESCE(MAX(number), 0) + 1 FROM {records})"


def _sqlite_triggers(*tables: str) -> list[str]:
    return [
        f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}'); END"
        for table in tables
        for verb in ("UPDATE", "DELETE")
    ]


def _postgresql_triggers(*tables: str) -> list[str]:
    return [
        f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {SCHEMA}.{table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()"
        for table in tables
    ]


# INSERT OR REPLACE deletes without firing a delete trigger, so the number of a new record is checked as well.
_SQLITE = [
    *_sqlite_triggers("records", "about"),
    f"CREATE TRIGGER keys_UPDATE BEFORE UPDATE ON keys BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}'); END",
    f"CREATE TRIGGER records_INSERT BEFORE INSERT ON records WHEN NEW.number <> {_GAP.format(records='records')} "
    f"BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}'); END",
]
_POSTGRESQL = [
    f"CREATE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{_APPEND_ONLY}'; END $$",
    *_postgresql_triggers("records", "about"),
    f"CREATE TRIGGER append_only BEFORE UPDATE ON {SCHEMA}.keys FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()",
]


def create(connection: Connection) -> None:
    """Make the tables of the first format and their triggers, inside the caller's transaction."""
    if connection.on_server:
        connection.run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    for table in (_RECORDS, _KEYS, _ABOUT):
        connection.execute(table)
    for statement in _POSTGRESQL if connection.on_server else _SQLITE:
        connection.run(statement)


def add_identities(connection: Connection) -> None:
    """Add the tables of the second format: the ledger's secret, and by what sources are known again."""
    for table in (_SECRETS, _IDENTITIES):
        connection.execute(table)
    triggers = _postgresql_triggers if connection.on_server else _sqlite_triggers
    for statement in triggers("secrets", "identities"):
        connection.run(statement)


def add_derived(connection: Connection) -> None:
    """Add the table of the third format; the records seal its content, so it needs no triggers."""
    connection.execute(_DERIVED)


# Whoever may add records adds them to the end of the chain, and none whose hash is not theirs.
_NEXT_RECORD = f"""CREATE FUNCTION {SCHEMA}.next_record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last_number integer; last_hash text;
BEGIN
  SELECT number, hash INTO last_number, last_hash FROM {SCHEMA}.records ORDER BY number DESC LIMIT 1;
  IF NEW.number <> COALESCE(last_number, 0) + 1 OR NEW.previous <> COALESCE(last_hash, '{GENESIS}')
    OR NEW.hash <> encode(sha256(convert_to(
      NEW.number::text || chr(10) || NEW.previous || chr(10) || NEW.body, 'UTF8')), 'hex')
  THEN RAISE EXCEPTION '{_APPEND_ONLY}'; END IF;
  RETURN NEW;
END $$"""


def add_steps(connection: Connection) -> None:
    """Add the table of the fourth format, and in PostgreSQL a trigger that keeps the chain."""
    for statement in (_STEPS, *_INDEXES):
        connection.execute(statement)
    triggers = _postgresql_triggers if connection.on_server else _sqlite_triggers
    for trigger in triggers("steps"):
        connection.run(trigger)
    if connection.on_server:
        connection.run(_NEXT_RECORD)
        connection.run(
            f"CREATE TRIGGER next_record BEFORE INSERT ON {SCHEMA}.records "
            f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.next_record()"
        )

"""The tables of a ledger, and the triggers by which the database itself keeps them append-only."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, Text

from crowdblend.ledger.chain import GENESIS

METADATA = MetaData()
RECORDS = Table(
    "records",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("previous", String(64), nullable=False, unique=True),  # a chain cannot fork, whatever the isolation
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)
KEYS = Table(
    "keys",
    METADATA,
    Column("entry", Integer, primary_key=True, autoincrement=False),
    Column("key", String(64), nullable=False),
)
ABOUT = Table("about", METADATA, Column("format", String(64), primary_key=True))
# The second format adds what follows.
SECRETS = Table("secrets", METADATA, Column("name", String(64), primary_key=True), Column("value", String(64)))
IDENTITIES = Table(
    "identities",
    METADATA,
    Column("entry", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)
# The third format adds what follows from the records and is kept so that it need not be computed again.
DERIVED = Table(
    "derived", METADATA, Column("name", String(1100), primary_key=True), Column("body", Text, nullable=False)
)
# The fourth format adds where the records of an entry, of a sample and of a population are. Names stand there by hash.
STEPS = Table(
    "steps",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("entry", Integer, primary_key=True, autoincrement=False, index=True),
    Column("step", String(16), nullable=False),
    Column("sample", String(64), index=True),
    Column("population", String(64), index=True),
)

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
    on_postgresql = connection.dialect.name == "postgresql"
    if on_postgresql:
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    METADATA.create_all(connection, tables=[RECORDS, KEYS, ABOUT], checkfirst=False)
    for statement in _POSTGRESQL if on_postgresql else _SQLITE:
        connection.exec_driver_sql(statement)


def add_identities(connection: Connection) -> None:
    """Add the tables of the second format: the ledger's secret, and by what sources are known again."""
    METADATA.create_all(connection, tables=[SECRETS, IDENTITIES], checkfirst=False)
    triggers = _postgresql_triggers if connection.dialect.name == "postgresql" else _sqlite_triggers
    for statement in triggers(SECRETS.name, IDENTITIES.name):
        connection.exec_driver_sql(statement)


def add_derived(connection: Connection) -> None:
    """Add the table of the third format; the records seal its content, so it needs no triggers."""
    METADATA.create_all(connection, tables=[DERIVED], checkfirst=False)


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
    METADATA.create_all(connection, tables=[STEPS], checkfirst=False)
    on_postgresql = connection.dialect.name == "postgresql"
    statements = (_postgresql_triggers if on_postgresql else _sqlite_triggers)(STEPS.name)
    if on_postgresql:
        statements += [
            _NEXT_RECORD,
            f"CREATE TRIGGER next_record BEFORE INSERT ON {SCHEMA}.records "
            f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.next_record()",
        ]
    for statement in statements:
        connection.exec_driver_sql(statement)

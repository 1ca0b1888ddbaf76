"""The tables of a ledger, and the triggers by which the database itself keeps them append-only."""

from __future__ import annotations

from crowdblend.ledger.chain import GENESIS
from crowdblend.ledger.database import SCHEMA, Transaction

_TABLES = (
    # A chain cannot fork, whatever the isolation: no two records follow the same one.
    """CREATE TABLE @records (
        number INTEGER NOT NULL,
        previous VARCHAR(64) NOT NULL,
        body TEXT NOT NULL,
        hash VARCHAR(64) NOT NULL,
        PRIMARY KEY (number),
        UNIQUE (previous)
    )""",
    'CREATE TABLE @keys (entry INTEGER NOT NULL, "key" VARCHAR(64) NOT NULL, PRIMARY KEY (entry))',
    "CREATE TABLE @secrets (name VARCHAR(64) NOT NULL, value VARCHAR(64), PRIMARY KEY (name))",
    "CREATE TABLE @identities (digest VARCHAR(64) NOT NULL, body TEXT NOT NULL, PRIMARY KEY (digest))",
)
_APPEND_ONLY = "the ledger is append-only"
# A key is deleted when its release is finished, and is never changed.
_REFUSED = {
    "records": ("UPDATE", "DELETE"),
    "secrets": ("UPDATE", "DELETE"),
    "identities": ("UPDATE", "DELETE"),
    "keys": ("UPDATE",),
}


def create_tables(transaction: Transaction) -> None:
    """Make the tables of a new ledger and their triggers, inside the caller's transaction."""
    if transaction.on_server:
        transaction.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    for statement in (*_TABLES, *(_postgresql_triggers() if transaction.on_server else _sqlite_triggers())):
        transaction.execute(statement)


def _sqlite_triggers() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}'); END"
    return [
        *(
            f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} {refuse}"
            for table, verbs in _REFUSED.items()
            for verb in verbs
        ),
        # INSERT OR REPLACE deletes without firing a delete trigger, so the number of a new record is checked as well.
        "CREATE TRIGGER records_INSERT BEFORE INSERT ON records "
        f"WHEN NEW.number <> (SELECT COALESCE(MAX(number), 0) + 1 FROM records) {refuse}",
    ]


def _postgresql_triggers() -> list[str]:
    """Return triggers that also refuse a record whose hash is wrong: roles may add records and nothing else."""
    return [
        f"CREATE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_APPEND_ONLY}'; END $$",
        *(
            f"CREATE TRIGGER append_only BEFORE {' OR '.join((*verbs, 'TRUNCATE'))} "
            f"ON {SCHEMA}.{table} FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()"
            for table, verbs in _REFUSED.items()
        ),
        f"""CREATE FUNCTION {SCHEMA}.next_record() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE last_number integer; last_hash text;
        BEGIN
          SELECT number, hash INTO last_number, last_hash FROM {SCHEMA}.records ORDER BY number DESC LIMIT 1;
          IF NEW.number <> COALESCE(last_number, 0) + 1 OR NEW.previous <> COALESCE(last_hash, '{GENESIS}')
            OR NEW.hash <> encode(sha256(convert_to(
              NEW.number::text || chr(10) || NEW.previous || chr(10) || NEW.body, 'UTF8')), 'hex')
          THEN RAISE EXCEPTION '{_APPEND_ONLY}'; END IF;
          RETURN NEW;
        END $$""",
        f"CREATE TRIGGER next_record BEFORE INSERT ON {SCHEMA}.records "
        f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.next_record()",
    ]

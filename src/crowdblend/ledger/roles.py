"""Roles of a ledger in PostgreSQL: what each of them may record, which the database itself enforces.

A record holds the role of the session that appended it, and a trigger compares both: a record names the login that
made it, whatever its writer says with --by. A trigger refuses a record that a role may not append.
"""

from __future__ import annotations

from collections.abc import Iterator

from crowdblend.ledger.chain import GENESIS

SCHEMA = "crowdblend"
APPEND_ONLY = "the ledger is append-only"
# A key is deleted when its release is finished, and is never changed.
REFUSED = {
    "records": ("UPDATE", "DELETE"),
    "secrets": ("UPDATE", "DELETE"),
    "identities": ("UPDATE", "DELETE"),
    "keys": ("UPDATE",),
}
TURN = "CREATE TABLE @turn (number INTEGER)"
"""An empty table: its lock is the turn of a writer, which only roles that may write can take."""

READER, OPERATOR, STEWARD, APPROVER = (f"crowdblend_{name}" for name in ("reader", "operator", "steward", "approver"))
# The roles that may append a record of a step; steps that are not listed are the owner's.
_MAY_APPEND = {
    (OPERATOR, STEWARD): ("begun", "finished"),
    (STEWARD,): ("population", "overlap", "distinct", "stated", "adopted", "restored"),
    (APPROVER,): ("limit", "threshold", "approval"),
}
_RELEASES = {
    "SELECT": ("records", "keys", "secrets", "identities"),
    "INSERT": ("records", "keys", "identities"),
    "DELETE": ("keys",),
    "UPDATE": ("turn",),
}
_RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    READER: {"SELECT": ("records",)},
    OPERATOR: _RELEASES,
    STEWARD: _RELEASES,
    APPROVER: {"SELECT": ("records",), "INSERT": ("records",), "UPDATE": ("turn",)},
}


def role_statements() -> tuple[str, ...]:
    """Return the SQL that makes all roles and gives them their rights; the owner of the ledger runs it.

    The roles cannot log in. The owner grants them to people: GRANT crowdblend_steward TO ann.
    """
    made: list[str] = []
    for name, rights in _RIGHTS.items():
        made += [
            f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') "
            f"THEN CREATE ROLE {name} NOLOGIN; END IF; END $$",
            f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {name}",
            f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}",
        ]
        for right, tables in rights.items():
            made.append(f"GRANT {right} ON {', '.join(f'{SCHEMA}.{table}' for table in tables)} TO {name}")
    return tuple(made)


def role_script() -> str:
    """Return the same statements for psql, as one transaction: all of them, or none and an exit code."""
    return "\n".join(["\\set ON_ERROR_STOP on", "BEGIN;", *(f"{one};" for one in role_statements()), "COMMIT;"])


def postgresql_triggers() -> Iterator[str]:
    """Yield triggers that refuse an edit, a record whose hash or role is wrong, and one that a role may not append."""
    yield (
        f"CREATE FUNCTION {SCHEMA}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{APPEND_ONLY}'; END $$"
    )
    for table, verbs in REFUSED.items():
        yield (
            f"CREATE TRIGGER append_only BEFORE {' OR '.join((*verbs, 'TRUNCATE'))} "
            f"ON {SCHEMA}.{table} FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.refuse()"
        )
    cases = " ".join(
        f"WHEN step IN ({', '.join(map(repr, steps))}) THEN ARRAY[{', '.join(map(repr, roles))}]"
        for roles, steps in _MAY_APPEND.items()
    )
    # The owner may drop the triggers anyway, so nothing is gained by refusing records of theirs.
    yield f"""CREATE FUNCTION {SCHEMA}.next_record() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE last_number integer; last_hash text; step text; needed text[];
        BEGIN
          SELECT number, hash INTO last_number, last_hash FROM {SCHEMA}.records ORDER BY number DESC LIMIT 1;
          IF NEW.number <> COALESCE(last_number, 0) + 1 OR NEW.previous <> COALESCE(last_hash, '{GENESIS}')
            OR NEW.role <> session_user OR position(chr(10) IN NEW.role) > 0
            OR NEW.hash <> encode(sha256(convert_to(
              concat_ws(chr(10), NEW.number, NEW.previous, NEW.role, NEW.body), 'UTF8')), 'hex')
          THEN RAISE EXCEPTION '{APPEND_ONLY}'; END IF;
          step := NEW.body::json ->> 'step';
          needed := CASE {cases} ELSE ARRAY[]::text[] END;
          IF NOT pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER')
            AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ANY (needed)
              AND pg_has_role(session_user, oid, 'MEMBER'))
          THEN RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'no right to append this',
            DETAIL = array_to_string(needed, ' or '); END IF;
          RETURN NEW;
        END $$"""
    yield (
        f"CREATE TRIGGER next_record BEFORE INSERT ON {SCHEMA}.records "
        f"FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.next_record()"
    )

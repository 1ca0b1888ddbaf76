"""Roles for a ledger in PostgreSQL: a writer that releases, and a reader that looks.

A writer adds records, keys and identities; it changes and deletes no record. It deletes keys, which is what a finished
release does with its own. A reader sees records, and neither keys nor the secret under which people are marked.
"""

from __future__ import annotations

from crowdblend.ledger.database import SCHEMA

_RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    "crowdblend_reader": {"SELECT": ("records",)},
    "crowdblend_writer": {
        "SELECT": ("records", "keys", "secrets", "identities"),
        "INSERT": ("records", "keys", "identities"),
        "DELETE": ("keys",),
    },
}


def role_statements() -> tuple[str, ...]:
    """Return the SQL that makes both roles and gives them their rights; the owner of the ledger runs it.

    The roles cannot log in. The owner grants them to people: GRANT crowdblend_writer TO ann.
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

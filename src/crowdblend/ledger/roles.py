"""Roles for a ledger in PostgreSQL: a writer that releases, and a reader that looks.

A writer adds records, keys and sketches; it changes and deletes no record. It deletes keys, which is what a finished
release does with its own, and replaces the summary, which the records seal. A reader sees records and totals, and
neither keys nor the secret under which people are marked.
"""

from __future__ import annotations

import re

from crowdblend.errors import InvalidInput
from crowdblend.ledger.tables import SCHEMA

WRITER, READER = "crowdblend_writer", "crowdblend_reader"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_RIGHTS: dict[str, dict[str, tuple[str, ...]]] = {
    "reader": {"SELECT": ("about", "records", "steps", "derived")},
    "writer": {
        "SELECT": ("about", "records", "steps", "derived", "keys", "secrets", "identities"),
        "INSERT": ("records", "steps", "derived", "keys", "identities"),
        "UPDATE": ("derived",),
        "DELETE": ("keys",),
    },
}


def role_statements(writer: str = WRITER, reader: str = READER) -> tuple[str, ...]:
    """The SQL that makes both roles and gives them their rights; the owner of the ledger runs it.

    The roles cannot log in. The owner grants them to people: GRANT crowdblend_writer TO ann.
    """
    made: list[str] = []
    for kind, name in (("writer", writer), ("reader", reader)):
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f"a role has a name of lower-case letters, digits and underscores, got {name[:60]!r}. Choose another.",
                where=f"--{kind}",
                code="ledger.role",
            )
        made += [
            f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') "
            f"THEN CREATE ROLE {name} NOLOGIN; END IF; END $$",
            f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {name}",
            f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}",
        ]
        for right, tables in _RIGHTS[kind].items():
            made.append(f"GRANT {right} ON {', '.join(f'{SCHEMA}.{table}' for table in tables)} TO {name}")
    return tuple(made)

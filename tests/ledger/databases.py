"""The databases that the ledger's tests run on: SQLite, and a PostgreSQL server that each test process starts."""

from pathlib import Path

import pytest

from tests.ledger.postgresql_server import MISSING, server

needs_postgresql = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
DATABASES = ["sqlite", pytest.param("postgresql", marks=needs_postgresql)]


def place(database: str, folder: Path) -> str:
    """Where a new ledger shall be; in PostgreSQL the one of the test before is dropped."""
    if database == "sqlite":
        return str(folder / "ledger.sqlite")
    execute("DROP SCHEMA IF EXISTS crowdblend CASCADE")
    return server()


def execute(*statements: str) -> None:
    """Change a ledger in PostgreSQL behind its back."""
    import psycopg

    with psycopg.connect(server()) as connection:
        for statement in statements:
            connection.execute(statement)

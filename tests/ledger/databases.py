"""The databases that the ledger's tests run on: always SQLite, and PostgreSQL where the environment names one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

POSTGRESQL = os.environ.get("CROWDBLEND_TEST_POSTGRESQL")
"""A URL of an empty database that the tests may use up, such as postgresql://me@localhost/test."""

DATABASES = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.skipif(not POSTGRESQL, reason="no CROWDBLEND_TEST_POSTGRESQL")),
]


def place(database: str, folder: Path) -> str:
    """Where a new ledger shall be."""
    if database == "sqlite":
        return str(folder / "ledger.sqlite")
    import psycopg

    with psycopg.connect(POSTGRESQL) as connection:
        connection.execute("DROP SCHEMA IF EXISTS crowdblend CASCADE")
    return str(POSTGRESQL)

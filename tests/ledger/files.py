"""A ledger file with three finished releases, and a way to change it behind the ledger's back."""

import sqlite3
from contextlib import closing
from pathlib import Path

from crowdblend.ledger import Ledger
from tests.ledger.spendings import DATA, DIGEST, spending

KEY = bytes(range(32))


def filled(path: Path) -> Path:
    ledger = Ledger.create(path)
    for number in range(3):
        entry = ledger.begin(spending(f"draw-{number}"), key=KEY[number:] + KEY[:number], seal=True)
        ledger.finish(entry, certificate_digest=DIGEST, data_sha256=DATA)
    return path


def change(path: Path, *statements: str, without_triggers: bool = True) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in names if without_triggers else ():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)

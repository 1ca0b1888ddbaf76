"""One transaction on the database of a ledger, in plain SQL that SQLite and PostgreSQL both understand.

A statement has ? where a parameter goes and @ before the name of a table: PostgreSQL databases are shared, so there the
tables live in a schema of their own. SQLite needs no package for it, so a release into a file loads none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from crowdblend.errors import CrowdblendError

Row = tuple[Any, ...]


class Rows(Protocol):
    """What a statement found or changed."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""

    def fetchone(self) -> Any:
        """The next row; None at the end."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A transaction that was begun; whoever began it commits it."""

    on_server: bool
    """Whether this is PostgreSQL."""

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Rows:
        """Run a statement about tables of the ledger."""

    def add(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement once for each of some rows of parameters."""

    def stream(self, statement: str, batch: int) -> Generator[Row, None, None]:
        """What a statement finds, so many rows at a time: there may be very many."""

    def run(self, statement: str) -> None:
        """Run a statement as it stands, about whatever it names."""

    def has_table(self, name: str) -> bool:
        """Whether the ledger has a table of this name."""


class Database(Protocol):
    """Where transactions begin."""

    def transaction(self, *, writing: bool) -> AbstractContextManager[Connection]:
        """A transaction that sees one state, or excludes other writers; committed unless the block fails."""

    def lacks_right(self, problem: Exception) -> bool:
        """Whether the role may not do what it tried."""

    def refusal(self, problem: Exception, words: str) -> CrowdblendError | None:
        """What the database refused, in one sentence about the ledger of this name; None where it was not that."""


def scalar(rows: Rows) -> Any:
    """The first value of the first row; None where there is none."""
    row = rows.fetchone()
    return None if row is None else row[0]


def places(number: int) -> str:
    """So many parameters in parentheses, for IN; none match nothing.

    >>> places(2), places(0)
    ('(?, ?)', '(NULL)')
    """
    return f"({', '.join('?' * number) or 'NULL'})"

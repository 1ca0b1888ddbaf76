"""Location of the ledger: the user's SQLite file, another file, or a PostgreSQL database."""

from __future__ import annotations

import os
import re
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass

VARIABLE = "CROWDBLEND_LEDGER"
_POSTGRES = re.compile(r"(postgres|postgresql)://")
_SQLITE = re.compile(r"(?i)sqlite:///")
_PASSWORD = re.compile(r"://([^/@]*?):[^/]*@")
_PASSWORD_OPTION = re.compile(r"(?i)([?&]password=)[^&]*")


@dataclass(frozen=True)
class Location:
    """A file or a database; `named` says that someone asked for this one, so that it should be there."""

    path: Path | None = None
    url: str | None = None
    named: bool = True

    @property
    def is_missing(self) -> bool:
        """True if this is a file that does not exist."""
        return self.path is not None and not os.path.lexists(self.path)

    def words(self) -> str:
        """Return the location for a message, without a password."""
        if self.url is not None:
            return _PASSWORD_OPTION.sub(r"\1…", _PASSWORD.sub(r"://\1:…@", self.url))
        return str(self.path)


def locate(where: str | os.PathLike[str] | None = None) -> Location:
    """Return the ledger that was asked for, else the one that CROWDBLEND_LEDGER names, else the user's own.

    A password in a URL is refused: libpq reads PGPASSWORD and ~/.pgpass, and PGSSLMODE and PGSSLROOTCERT for TLS.

    >>> locate("postgresql://steward@db/office").words()
    'postgresql://steward@db/office'
    """
    named = _text(where) if where is not None else os.environ.get(VARIABLE, "")
    if not named.strip():
        if where is not None:
            raise InvalidInput(
                "The name of the ledger is blank. Name it or leave it out.", where="ledger", code="ledger-location"
            )
        return Location(path=_data_folder() / "crowdblend" / "ledger.sqlite", named=False)
    if "\0" in named:
        raise InvalidInput(
            "The name of the ledger has a zero byte. Correct it.", where="ledger", code="ledger-location"
        )
    if _POSTGRES.match(named):
        location = Location(url=named)
        if location.words() != named:
            message = f"{location.words()} has a password, which lists of processes and histories of shells show."
            remedy = "Leave it out, and put it into PGPASSWORD or ~/.pgpass."
            raise InvalidInput(message, remedy=remedy, where="ledger", code="ledger.password")
        return location
    name = _SQLITE.sub("", named, count=1)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        scheme = name.partition("://")[0]
        message = f"A ledger cannot be kept at {scheme}://. Name a file, sqlite:/// or postgresql://."
        raise InvalidInput(message, where="ledger", code="ledger-location")
    try:
        return Location(path=Path(name).expanduser())
    except RuntimeError:
        message = f"The home folder in {name} does not exist. Name the ledger in full."
        raise InvalidInput(message, where="ledger", code="ledger-location") from None


def _text(where: object) -> str:
    """Return a path or URL as text."""
    named = os.fspath(where) if isinstance(where, os.PathLike) else where
    if not isinstance(named, str):
        message = f"The ledger is named by a value of type {type(where).__name__}."
        raise InvalidInput(message, remedy="Pass a path or a URL as text.", where="ledger", code="ledger-location")
    return named


def _data_folder() -> Path:
    """Return $XDG_DATA_HOME where that is a full path, as its specification says, else ~/.local/share."""
    stated = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(stated):
        return Path(stated)
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError:
        raise InvalidInput(
            f"This user has no home folder for the ledger. Set {VARIABLE}.", where=VARIABLE, code="ledger-location"
        ) from None

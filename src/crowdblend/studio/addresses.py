"""Databases that a page may name: an allow list, so that no text in a form opens others.

PostgreSQL by host or service, and SQLite files under the root. Passwords, certificates and socket folders come from
libpq's own variables and files; an address that carries them, or that hides another host in its parameters, is refused.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from crowdblend.errors import InvalidInput
from crowdblend.policies.source import ADDRESS, DataSource, is_sqlite, sqlite_file
from crowdblend.studio.model.choices import Choices, paths_of
from crowdblend.studio.places import Root

_LONGEST = 1_000
_PARAMETERS = ("service", "sslmode", "connect_timeout", "application_name", "target_session_attrs")
_HOST = re.compile(r"[A-Za-z0-9._\-\[\]:,]*")


def is_address(source: str) -> bool:
    """Return whether a source is an address, not the path of a file."""
    return "://" in source


def checked_address(root: Root, address: str) -> str:
    """Return the address as the policy writes it; refuses what is not on the list."""
    address = address.strip()
    if len(address) > _LONGEST or any(not sign.isprintable() or sign in " \\" for sign in address):
        raise _refusal("This is not the address of a database.")
    if is_sqlite(address):
        return "sqlite:///" + root.relative(root.existing(str(sqlite_file(address))))
    if not ADDRESS.match(address):
        raise _refusal("The studio opens PostgreSQL databases and SQLite files only.")
    try:
        parts = urlsplit(address)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        password = parts.password
    except ValueError:
        raise _refusal("This is not the address of a database.") from None
    if password is not None or any("pass" in name.lower() for name, _ in parameters):
        message = "The address holds a password."
        remedy = "Take it out; put it into PGPASSWORD or ~/.pgpass before you start the studio."
        raise InvalidInput(message, remedy=remedy, where="address", code="studio.password")
    unknown = [name for name, _ in parameters if name not in _PARAMETERS]
    if unknown or parts.fragment or not _HOST.fullmatch(parts.netloc.rpartition("@")[2]):
        raise _refusal("The address has parameters that the studio does not pass on.")
    return address


def check_paths(root: Root, choices: Choices) -> None:
    """Refuse choices that name a file outside the root, or a database that is not on the list."""
    for path in paths_of(choices):
        root.inside(path)
    source = choices.text("data", "source")
    if is_address(source):
        checked_address(root, source)
    elif source:
        root.inside(source)


def database_source(root: Root, address: str, table: str, query: str) -> DataSource:
    """Return the table or query at an address that was checked, ready to be opened."""
    kind = "sqlite" if is_sqlite(address) else "postgres"
    place = f"sqlite:///{root.existing(str(sqlite_file(address)))}" if kind == "sqlite" else address
    return DataSource(place, kind, table=table or None, query=query or None, rows_are_people=True)  # type: ignore[arg-type]


def _refusal(message: str) -> InvalidInput:
    return InvalidInput(
        message,
        remedy=f"Write postgresql://user@host/database or sqlite:///file; parameters may be {', '.join(_PARAMETERS)}.",
        where="address",
        code="studio.address",
    )

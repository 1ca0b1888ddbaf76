"""A first policy for a source of any kind: files by their headers, databases by what they say of a table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy_imports
from crowdblend.policies import files
from crowdblend.policies.source import ADDRESS, DataSource, format_of, is_sqlite, locate, sqlite_file
from crowdblend.policies.starter import init_policy

with lazy_imports():
    from crowdblend.api import proposing
    from crowdblend.engines.databases import local_copy


def starter_policy(source: str, *, table: str | None = None, query: str | None = None, **options: Any) -> str:
    """Return a commented policy for a file, folder or pattern, or for a table or query of a database.

    Only the names and types of columns are looked at. `options` are those of `init_policy`.
    """
    if options.get("codebook") is not None and Path(options["codebook"]).is_dir():
        options["book"] = proposing.read_proposal(options["codebook"]).entries()
    if not _is_database(source):
        if table is not None or query is not None:
            message = "Only databases have tables and queries."
            raise InvalidInput(message, remedy="Leave --table and --query out.", where="--table", code="init.table")
        return init_policy(source, **options)
    kind = format_of(source)
    data = DataSource(source=locate(source, Path.cwd()), format=kind, table=table, query=query, rows_are_people=True)
    more = {name: value for name, value in (("table", table), ("query", query)) if value is not None}
    return init_policy(
        _source_path(source, options.get("folder")), **options, header=local_copy.header_of(data), more=more
    )


def _is_database(source: str) -> bool:
    return bool(ADDRESS.match(source) or is_sqlite(source) or files.ending_of(source) in files.DATABASES)


def _source_path(source: str, folder: Path | str | None) -> str:
    """Return the source as the policy writes it: a file relative to the folder of the policy, an address as it is."""
    if ADDRESS.match(source) or folder is None:
        return source
    if is_sqlite(source):
        return "sqlite:///" + os.path.relpath(sqlite_file(source), folder)
    return Path(os.path.relpath(source, folder)).as_posix()

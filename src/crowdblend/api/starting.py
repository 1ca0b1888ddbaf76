"""A first policy for a source of any kind: files by their headers, databases by what they say of a table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies import files
from crowdblend.policies.source import ADDRESS, DataSource, format_of, is_sqlite, locate, sqlite_file
from crowdblend.policies.starter import init_policy
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.api import proposing
    from crowdblend.sources.engines.databases import local_copy


def starter_policy(source: str, *, table: str | None = None, query: str | None = None, **options: Any) -> str:
    """Return a commented policy for a file, folder or pattern, or for a table or query of a database.

    Only the names and types of columns are looked at. `options` are those of `init_policy`.
    """
    if options.get("codebook") is not None and Path(options["codebook"]).is_dir():
        options["book"] = proposing.read_proposal(options["codebook"]).entries()
    folder, on_server, in_sqlite = options.get("folder"), ADDRESS.match(source), is_sqlite(source)
    if not (on_server or in_sqlite or files.ending_of(source) in files.DATABASES):
        if table is not None or query is not None:
            message = "Only databases have tables and queries."
            raise InvalidInput(
                message, remedy="Leave out `--table` and `--query`.", where="`--table`", code="init.table"
            )
        return init_policy(source, **options)
    kind = format_of(source)
    data = DataSource(source=locate(source, Path.cwd()), format=kind, table=table, query=query, rows_are_people=True)
    more = {name: value for name, value in (("table", table), ("query", query)) if value is not None}
    if folder is not None and not on_server:  # a file is written relative to the folder of the policy
        file = os.path.relpath(sqlite_file(source), folder)
        source = f"sqlite:///{file}" if in_sqlite else Path(file).as_posix()
    return init_policy(source, **options, header=local_copy.header_of(data), more=more)

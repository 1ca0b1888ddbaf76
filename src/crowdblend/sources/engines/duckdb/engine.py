"""DuckDB as an engine: files, folders, databases and streams, read in a private database in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property

from crowdblend.methods.designs.draw import Draw
from crowdblend.policies.columns import Column
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.duckdb.database import database, redact
from crowdblend.sources.engines.duckdb.relation import Relation
from crowdblend.sources.engines.duckdb.source import check_source, open_source, read_table
from crowdblend.sources.engines.engine import NO_MEASURES, ClassCounts, ColumnType, Progress
from crowdblend.sources.engines.temporary_files import private_folder
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa

with lazy_imports():
    from concurrent import futures

    from crowdblend.ledger.identity import FingerprintRequest, Identity
    from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
    from crowdblend.sources.engines import identity as identities
    from crowdblend.sources.engines.databases import local_copy
    from crowdblend.sources.engines.duckdb import counting, identity
    from crowdblend.sources.engines.duckdb import rows as duckdb_rows
    from crowdblend.trusted.calculus import Assumption

# Fewer bytes are hashed sooner than a thread is there.
_HASHED_ALONE = 1 << 23
_UNREADABLE = "The source cannot be read from beginning to end."
_REMEDY = "Check that every line has the fields of the header, and quotes and delimiter."


class DuckDBEngine:
    """Opens CSV and Parquet files, folders of them, tables and queries of databases, and stdin."""

    name = "duckdb"
    assumptions: tuple[Assumption, ...] = ()

    @contextmanager
    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> Iterator[DuckDBSource]:
        """The source with these columns and its person; whatever the database says of a record is kept back."""
        wanted = [*columns] if data.person is None else [data.person, *columns]
        with private_folder() as folder, database(resources, folder) as connection:
            if data.is_database or data.query is not None:
                data = local_copy.local_copy(data, folder, resources)
            relation = open_source(connection, data, wanted, folder)
            yield DuckDBSource(data, connection, relation, ArrayMemory(resources.array_memory), progress)

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        """Refuse a source that does not exist or lacks a column; the database is started only if the source is one."""
        wanted = [*columns] if data.person is None else [data.person, *columns]
        if not check_source(data, wanted):
            with self.open(data, columns, resources):
                pass


class DuckDBSource:
    """A source that DuckDB has open."""

    def __init__(
        self,
        data: DataSource,
        connection: duckdb.DuckDBPyConnection,
        relation: Relation,
        memory: ArrayMemory,
        progress: Progress | None,
    ) -> None:
        self.data, self.relation = data, relation
        self._connection, self._memory, self._progress = connection, memory, progress

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The type of every column of the source, by name."""
        return {field.name: field.type for field in self.relation.fields}

    @cached_property
    def _ready(self) -> Relation:
        return self.relation.ready()

    @cached_property
    def _hashes(self) -> identity.DuckDBHashes:
        return identity.DuckDBHashes(self._connection, self._ready, self.data.person)

    @contextmanager
    def rows(self, draw: Draw) -> Iterator[duckdb_rows.Rows]:
        """One reading of the rows of a draw."""
        with closing(self._connection.cursor()) as cursor, redact(_UNREADABLE, _REMEDY):
            yield self._rows(draw, cursor)

    @contextmanager
    def reading(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Relation]]:
        """Yield the connection and the rows in SQL, for the private check; the database's own words are kept back."""
        with redact(_UNREADABLE, _REMEDY):
            yield self._connection, self._ready

    def class_counts(
        self, columns: Sequence[Column], draw: Draw, measures: Mapping[str, BoundedRecoding] = NO_MEASURES
    ) -> ClassCounts:
        """Count the people of a draw in each class, and add up their measures."""
        with closing(self._connection.cursor()) as cursor, redact(_UNREADABLE, _REMEDY):
            return counting.class_counts(lambda: self._rows(draw, cursor), columns, measures)

    def table(self, names: Sequence[str], values: Sequence[str], what: str) -> pa.Table:
        """All rows: people's names as whole numbers or texts, then values as they are; a blank anywhere is refused."""
        return read_table(self._connection, self._ready, names, values, what)

    def identity(self, request: FingerprintRequest) -> Identity:
        """Return the source's identity for the ledger: its files, its people, its rows without ids."""
        with redact(_UNREADABLE, _REMEDY):
            hashes = self._hashes
            if self.data.format == "frame":
                return hashes.identity(self.data, request, lambda: hashes.content_name(request.secret))
            if sum(file.stat().st_size for file in identities.files_of(self.data)) < _HASHED_ALONE:
                return hashes.identity(self.data, request, lambda: identities.source_name(self.data, request.secret))
            # The files' bytes are hashed beside the database's work.
            with futures.ThreadPoolExecutor(1) as beside:
                name = beside.submit(identities.source_name, self.data, request.secret)
                return hashes.identity(self.data, request, name.result)

    def _rows(self, draw: Draw, cursor: duckdb.DuckDBPyConnection) -> duckdb_rows.Rows:
        return duckdb_rows.Rows(
            self.data,
            self._connection,
            cursor,
            self._ready,
            draw,
            self._memory,
            self._progress,
            self._hashes.sieve,
        )

"""DuckDB as an engine: files, folders, databases and streams, read in a private database in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from crowdblend.engines.draw import Draw, Exactly
from crowdblend.engines.duckdb.database import bytes_of, database, private_folder, redacted
from crowdblend.engines.duckdb.relation import Relation
from crowdblend.engines.duckdb.source import check_source, open_source
from crowdblend.engines.engine import ClassCounts, ColumnType, Progress, Resources
from crowdblend.policies.columns import Column
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from crowdblend.calculus import Assumption
    from crowdblend.engines.duckdb.rows import Rows
    from crowdblend.engines.totals import Totals
    from crowdblend.ledger.identity import Identity, Wanted
    from crowdblend.recoding import Bounded

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
                from crowdblend.engines.databases.local_copy import local_copy  # noqa: PLC0415 - heavy

                data = local_copy(data, folder, resources)
            relation = open_source(connection, data, wanted, folder)
            yield DuckDBSource(data, connection, relation, bytes_of(resources.memory), progress)

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
        connection: DuckDBPyConnection,
        relation: Relation,
        memory_limit: int | None,
        progress: Progress | None,
    ) -> None:
        self.data, self.relation = data, relation
        self._connection, self._memory_limit, self._progress = connection, memory_limit, progress

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The type of every column of the source, by name."""
        return {field.name: field.type for field in self.relation.fields}

    @cached_property
    def _ready(self) -> Relation:
        return self.relation.ready()

    @contextmanager
    def rows(self, draw: Draw) -> Iterator[Rows]:
        """One reading of the rows of a draw."""
        with closing(self._connection.cursor()) as cursor, redacted(_UNREADABLE, _REMEDY):
            yield self._rows(draw, cursor)

    def class_counts(self, columns: Sequence[Column], draw: Draw) -> ClassCounts:
        """How many of the people of a draw are in each class of the columns."""
        from crowdblend.engines.duckdb.class_counts import class_counts  # noqa: PLC0415 - heavy

        if isinstance(draw, Exactly):
            found = self.totals(columns, {}, draw)
            assert found.classes is not None
            return ClassCounts(found.classes, draw.people, outside=found.outside)
        with closing(self._connection.cursor()) as cursor, redacted(_UNREADABLE, _REMEDY):
            return class_counts(lambda: self._rows(draw, cursor), columns)

    def totals(self, columns: Sequence[Column], measures: Mapping[str, Bounded], draw: Draw) -> Totals:
        """The class counts of a draw, and the sum of every measure in steps of its resolution."""
        from crowdblend.engines.duckdb.totals import totals, totals_of_exactly  # noqa: PLC0415 - heavy

        with closing(self._connection.cursor()) as cursor, redacted(_UNREADABLE, _REMEDY):
            if isinstance(draw, Exactly):
                return totals_of_exactly(lambda: self._rows(draw, cursor), draw, columns, measures)
            return totals(self._rows(draw, cursor), columns, measures)

    def table(self, names: Sequence[str], values: Sequence[str], what: str) -> pyarrow.Table:
        """All rows: people's names as whole numbers or texts, then values as they are; a blank anywhere is refused."""
        from crowdblend.engines.duckdb.links import read_table  # noqa: PLC0415 - heavy

        return read_table(self._connection, self._ready, names, values, what)

    def identity(self, wanted: Wanted) -> Identity:
        """By what the ledger knows the source again: its files, its people, and its rows without their ids."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - heavy

        from crowdblend.engines.duckdb.identity import DuckDBHashes  # noqa: PLC0415 - heavy
        from crowdblend.engines.identity import identity_from  # noqa: PLC0415
        from crowdblend.engines.source_name import old_name, source_name  # noqa: PLC0415

        # The files' bytes are hashed beside the database's work.
        with redacted(_UNREADABLE, _REMEDY), ThreadPoolExecutor(1) as beside:
            name = beside.submit(source_name, self.data, wanted.secret)
            found = identity_from(DuckDBHashes(self._connection, self._ready), self.data, wanted, name.result)
            return replace(found, old_name=old_name(self.data) if wanted.old_names else None)

    def _rows(self, draw: Draw, cursor: DuckDBPyConnection) -> Rows:
        from crowdblend.engines.duckdb.rows import Rows  # noqa: PLC0415 - heavy

        return Rows(self.data, self._connection, cursor, self._ready, draw, self._memory_limit, self._progress)

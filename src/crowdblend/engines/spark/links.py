"""All rows of a table of links or of people, collected on the driver: a network is computed in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crowdblend.engines.duckdb.database import small_database
from crowdblend.engines.duckdb.relation import VIEW, Field, Relation
from crowdblend.engines.duckdb.source import read_table
from crowdblend.engines.engine import Progress
from crowdblend.engines.refusals import no_rows, refuse_beyond
from crowdblend.engines.spark.pieces import Facts, decode
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.engines.spark.session import collect
from crowdblend.engines.spark.tasks import HandOver
from crowdblend.packages import pyarrow as pa


def rows_of(
    relation: SparkRelation,
    names: Sequence[str],
    most: int | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    phase: str = "reading",
) -> tuple[pa.Table, tuple[Field, ...]]:
    """Return some columns on the driver, called c0, c1, …; of all rows, or of the first ones."""
    opening = relation.opening(names)
    if most is not None and relation.frame is not None:
        relation = replace(relation, frame=relation.frame.limit(most), rows=None)
    elif most is not None:
        opening = replace(opening, files=opening.files[:1], most=most)
    facts, pieces = Facts.apart(collect(relation.map_tasks(HandOver(opening), opening), progress, phase))
    contents = [piece.content for piece in pieces]
    refuse_beyond(memory_limit, sum(map(len, contents)))
    if not contents:
        raise no_rows()
    if most is None:
        relation.check_rows(facts.counts["read"])
    fields = tuple(replace(field, identifier=f"c{at}") for at, field in enumerate(opening.fields))
    return decode(contents), fields


def read_links(
    relation: SparkRelation,
    names: Sequence[str],
    values: Sequence[str],
    what: str,
    memory_limit: int | None,
    progress: Progress | None,
) -> pa.Table:
    """Return the columns, those of people's names as whole numbers or texts; a blank anywhere is refused."""
    phase = f"collecting the {what} on the driver"
    table, fields = rows_of(relation, [*names, *values], None, memory_limit, progress, phase)
    with small_database() as connection:
        connection.register(VIEW, table)
        return read_table(connection, Relation(VIEW, fields), names, values, what)

"""From a source to the class counts of a draw.

    tasks: coin, recoding, counting ──▶ shuffle by bucket ──▶ the same person twice? sums of classes ──▶ driver

Where people may have several rows, these are shuffled first, by the bucket of the person, and some of each are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crowdblend.designs.draw import Coin, Everybody, Exactly, StratifiedCoin, row_key_of
from crowdblend.engines.engine import ClassCounts, Progress
from crowdblend.engines.packing import Packing
from crowdblend.engines.refusals import no_rows, repeated_person
from crowdblend.engines.sampling import thinned
from crowdblend.engines.spark.pieces import Facts, Piece, decoded, packed_codes, pieces_of
from crowdblend.engines.spark.relation import OfTask, SparkRelation, then
from crowdblend.engines.spark.session import collected
from crowdblend.engines.spark.tasks import CountClasses, KeepRows, Merge, Task, too_many_classes
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.randomness import DrawKey, new_key

# Classes that a driver takes of which nothing is said.
_USUAL = 1 << 25
# What a class takes of the driver's memory, beside a code for each column.
_CLASS_BYTES = 24


def class_counts(
    relation: SparkRelation,
    columns: Sequence[Column],
    draw: Everybody | Coin | StratifiedCoin,
    memory_limit: int | None,
    progress: Progress | None,
) -> ClassCounts:
    """The class counts of a draw that is everybody or by a coin."""
    draw = with_row_key(draw)
    data, names = relation.data, [column.name for column in columns]
    task = CountClasses(relation.opening(names), draw, tuple(columns))
    keep = None
    if data.person is not None and (data.duplicates == "one" or data.rows_per_person is not None):
        stratified = draw if isinstance(draw, StratifiedCoin) else None
        keep = KeepRows(tuple(columns), data.rows_per_person, row_key_of(draw), data.counts_people, stratified)
    facts, pieces = merged(relation, task, allowed_classes(columns, memory_limit), progress, keep)
    read = checked(relation, facts)
    if progress:
        progress("counting", read)
    classes = classes_in(pieces, columns, memory_limit)
    if data.person is None:
        classes = thinned(columns, classes, draw)
    people = None if data.person is None or data.rows_per_person is None else facts.counts.get("people", 0)
    dropped = None if keep is None else facts.counts.get("dropped", 0)
    return ClassCounts(classes, read, people, dropped, facts.outside_values())


def with_row_key(draw: Everybody | Coin | StratifiedCoin) -> Everybody | Coin | StratifiedCoin:
    """The draw with a secret for marks that is the same for all tasks."""
    if isinstance(draw, Everybody) and draw.row_key is None:
        return replace(draw, row_key=DrawKey(new_key()))
    return draw


def allowed_classes(columns: Sequence[Column], memory_limit: int | None) -> int:
    """How many classes the driver takes."""
    return _USUAL if memory_limit is None else memory_limit // (4 * len(columns) + _CLASS_BYTES)


def merged(
    relation: SparkRelation, task: Task, allowed: int, progress: Progress | None, keep: OfTask | None = None
) -> tuple[Facts, list[Piece]]:
    """What all tasks together counted, and the pieces that are for the driver; refuses what a task refuses."""
    found = relation.mapped(task, task.opening)
    if keep is not None:
        found = then(found, keep)
    table = collected(then(found, Merge(allowed)), progress)
    facts, pieces = Facts(), []
    for piece in pieces_of(table.to_batches()):
        if piece.kind == "facts":
            facts.take(piece.content)
        else:
            pieces.append(piece)
    if facts.problem is not None:
        raise facts.problem
    if facts.counts.get("repeated"):
        raise repeated_person(str(relation.data.person))
    return facts, pieces


def checked(relation: SparkRelation, facts: Facts) -> int:
    """How many rows were read; refuses a source without any, or of which some were not read."""
    read = facts.counts.get("read", 0)
    if not read:
        raise no_rows()
    relation.check_rows(read)
    return read


def classes_in(pieces: Sequence[Piece], columns: Sequence[Column], memory_limit: int | None) -> SampledClasses:
    """The classes that tasks have counted, in the order of their codes."""
    packing = Packing(columns)
    contents = [piece.content for piece in pieces if piece.kind == "classes"]
    if not contents:
        empty = tuple(np.empty(0, np.int64) for _ in range(packing.width))
        return packing.classes_of(empty, np.empty(0, np.int64))
    table = decoded(contents)
    allowed = allowed_classes(columns, memory_limit)
    if table.num_rows > allowed:
        raise too_many_classes(allowed)
    codes, counts = packed_codes(packing, table), table.column("n").to_numpy()
    order = np.lexsort(codes[::-1])
    return packing.classes_of(tuple(code[order] for code in codes), counts[order])


def of_tasks(draw: Everybody | Coin | Exactly) -> Everybody:
    """A draw that gives tasks the secret of the marks and nothing else."""
    return Everybody(row_key=DrawKey(row_key_of(draw)))

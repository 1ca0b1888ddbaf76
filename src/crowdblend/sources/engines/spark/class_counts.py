"""Class counts and sums of a draw, from a source in Spark.

    tasks: coin, recoding, counting ──▶ shuffle by bucket ──▶ the same person twice? sums of classes ──▶ driver

Where people may have several rows, these are shuffled first, by the bucket of the person, and some of each are kept.

Which people are the k with the smallest marks is found out without collecting them: all but a few are certainly below
a window of marks or above it, and the driver sees those inside. A second reading counts the people who are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Exactly, StratifiedCoin, row_key_of
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.policies.columns import Column
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.engine import ClassCounts, Progress, check_people
from crowdblend.sources.engines.packing import Packing
from crowdblend.sources.engines.refusals import no_rows, refusal, repeated_person
from crowdblend.sources.engines.sampling import thin_classes
from crowdblend.sources.engines.spark.pieces import Facts, Piece, decode, packed_codes
from crowdblend.sources.engines.spark.relation import OfTask, SparkRelation, then
from crowdblend.sources.engines.spark.session import collect
from crowdblend.sources.engines.spark.tasks import (
    CountClasses,
    KeepRows,
    MarksBetween,
    Merge,
    RowsOfFiles,
    Task,
    too_many_classes,
)
from crowdblend.trusted.randomness import DrawKey

# Classes that a driver takes of which nothing is said.
_USUAL = 1 << 25
# What a class takes of the driver's memory, beside a code for each column.
_CLASS_BYTES = 24


def class_counts(
    relation: SparkRelation,
    columns: Sequence[Column],
    draw: Draw,
    measures: Mapping[str, BoundedRecoding],
    memory: ArrayMemory,
    progress: Progress | None,
) -> ClassCounts:
    """The class counts of a draw, and the sums of measures."""
    data, keep = relation.data, None
    opening = relation.opening([*(column.name for column in columns), *measures])
    task = CountClasses(opening, with_row_key(draw), tuple(columns), dict(measures))
    if isinstance(draw, Exactly):
        if data.person is None:
            relation = _with_sizes(relation)
            placed = relation.opening([field.name for field in opening.fields], placed=True)
            task = replace(task, opening=placed, at_places=draw)
        else:
            task = replace(task, last=_last_mark(relation, draw, progress))
    elif data.person is not None and data.unit.keeps_some_rows:
        stratified = draw if isinstance(draw, StratifiedCoin) else None
        keep = KeepRows(tuple(columns), replace(data, frame=None), row_key_of(task.draw), stratified, relation.memory)
    allowed = _USUAL if memory.limit is None else memory.limit // (4 * len(columns) + _CLASS_BYTES)
    facts, pieces = merge(relation, task, allowed, progress, keep)
    read = check_rows(relation, facts)
    if progress:
        progress("counting", read)
    classes = classes_in(pieces, columns, allowed)
    if data.person is None and not isinstance(draw, Exactly):
        classes = thin_classes(columns, classes, draw)
    check_people(data, draw, read, classes.people)
    people, dropped, rows = classes.people, None, None
    if keep is not None:
        people, dropped, rows = (facts.counts.get(name, 0) for name in ("people", "dropped", "rows of people"))
    sums = {name: facts.counts.get(f"sum of {name}", 0) for name in measures}
    outside = {name: counter.counts() for name, counter in facts.outside.items()}
    return ClassCounts(classes, read, people, dropped, rows, outside, sums)


def with_row_key(draw: Draw) -> Everybody | Coin | StratifiedCoin:
    """Return the draw for tasks: with the secret of the marks, or with one that all tasks share."""
    if isinstance(draw, Exactly) or (isinstance(draw, Everybody) and draw.row_key is None):
        return replace(Everybody() if isinstance(draw, Exactly) else draw, row_key=DrawKey(row_key_of(draw)))
    return draw


def merge(
    relation: SparkRelation,
    task: Task,
    most_classes: int = _USUAL,
    progress: Progress | None = None,
    keep: OfTask | None = None,
) -> tuple[Facts, list[Piece]]:
    """Return the sum of all tasks' facts and the driver's pieces; refuse what a task refuses."""
    found = relation.map_tasks(task, task.opening)
    if keep is not None:
        found = then(found, keep)
    facts, pieces = Facts.apart(collect(then(found, Merge(most_classes)), progress))
    if facts.counts.get("repeated"):
        raise repeated_person(str(relation.data.person))
    return facts, pieces


def check_rows(relation: SparkRelation, facts: Facts) -> int:
    """Return the number of rows read; refuse a source without any, or one read in part."""
    read = facts.counts.get("read", 0)
    if not read:
        raise no_rows()
    relation.check_rows(read)
    return read


def classes_in(pieces: Sequence[Piece], columns: Sequence[Column], most_classes: int) -> SampledClasses:
    """Return the classes that tasks have counted, in the order of their codes."""
    packing = Packing(columns)
    contents = [piece.content for piece in pieces if piece.kind == "classes"]
    if not contents:
        empty = tuple(np.empty(0, np.int64) for _ in range(packing.width))
        return packing.classes_of(empty, np.empty(0, np.int64))
    table = decode(contents)
    if table.num_rows > most_classes:
        raise too_many_classes(most_classes)
    codes, counts = packed_codes(packing, table), table.column("n").to_numpy()
    order = np.lexsort(codes[::-1])
    return packing.classes_of(tuple(code[order] for code in codes), counts[order])


_WORDS = 1 << 64


def _last_mark(relation: SparkRelation, draw: Exactly, progress: Progress | None) -> tuple[int, int]:
    """Return the mark (high, low) of the last of the k people; refuse a source of another number of people."""
    margin = 8 * math.sqrt(draw.samples) + 60
    while True:
        # The high words of marks below which these shares of them lie.
        shares = ((draw.samples + side * margin) / draw.people for side in (-1, 1))
        low, high = (min(max(int(share * _WORDS), 0), _WORDS - 1) for share in shares)
        task = MarksBetween(relation.opening(()), with_row_key(draw), low, high)
        facts, pieces = merge(relation, task, progress=progress)
        check_people(relation.data, draw, check_rows(relation, facts), draw.samples)
        marks = np.frombuffer(b"".join(piece.content for piece in pieces if piece.kind == "marks"), dtype=np.uint64)
        words = marks.reshape(-1, 2)
        place = draw.samples - facts.counts.get("below", 0) - 1
        if 0 <= place < len(words):
            last = words[np.lexsort((words[:, 0], words[:, 1]))[place]]
            return int(last[1]), int(last[0])
        # Less than once in 10^13, unless nobody is drawn.
        if draw.samples == 0:
            return 0, 0
        margin *= 2


def _with_sizes(relation: SparkRelation) -> SparkRelation:
    """Return rows that have no names, which are drawn by their places in files, with the sizes of the files."""
    if not relation.files:
        message = "Rows without ids are drawn by their places, and these rows of Spark have no order."
        remedy = "Add `data.person`, or name the Parquet or CSV files as source."
        raise refusal("unordered", message, remedy, "`data.person`")
    if relation.sizes is not None:
        return relation
    facts, _ = merge(relation, RowsOfFiles(relation.opening((), placed=True)))
    return replace(relation, sizes=tuple(facts.counts.get(f"rows of {file}", 0) for file in relation.files))

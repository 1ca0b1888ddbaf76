"""From a source to exact totals, of everybody or of exactly k people.

Which people are the k with the smallest marks is found out without collecting them: all but a few are certainly below
a window of marks or above it, and the driver sees those inside. A second reading adds up whoever is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from crowdblend.designs.draw import Draw, Everybody, Exactly
from crowdblend.engines.engine import Progress
from crowdblend.engines.refusals import refusal
from crowdblend.engines.sampling import random_places
from crowdblend.engines.spark.class_counts import allowed_classes, checked, classes_in, merged, of_tasks, with_row_key
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.engines.spark.tasks import AddUp, MarksBetween, RowsOfFiles
from crowdblend.engines.totals import Totals, check_people
from crowdblend.policies.columns import Column
from crowdblend.recoding import Bounded

_WORDS = 1 << 64


def totals(
    relation: SparkRelation,
    columns: Sequence[Column],
    measures: Mapping[str, Bounded],
    draw: Draw,
    memory_limit: int | None,
    progress: Progress | None,
) -> Totals:
    """The totals of everybody, one row each, or of exactly k people."""
    names = [*(column.name for column in columns), *measures]
    task = AddUp(relation.opening(names), Everybody(), tuple(columns), dict(measures))
    if isinstance(draw, Exactly):
        if relation.data.person is None:
            task = _at_places(relation, task, draw)
        else:
            task = replace(task, draw=of_tasks(draw), last=_last_mark(relation, draw, memory_limit, progress))
    else:
        assert draw == Everybody(row_key=draw.row_key), "totals are of everybody, or of exactly k people"
        task = replace(task, draw=with_row_key(draw))
    facts, pieces = merged(relation, task, allowed_classes(columns, memory_limit), progress)
    people = facts.counts.get("people", 0)
    check_people(relation.data, checked(relation, facts), people, draw)
    classes = classes_in(pieces, columns, memory_limit) if columns else None
    sums = {name: facts.counts.get(f"sum of {name}", 0) for name in measures}
    return Totals(people, classes, sums, facts.outside_values())


def _last_mark(
    relation: SparkRelation, draw: Exactly, memory_limit: int | None, progress: Progress | None
) -> tuple[int, int]:
    """The mark (high, low) of the last of the k people; refuses a source of another number of people."""
    margin = 8 * math.sqrt(draw.samples) + 60
    while True:
        low, high = (_word((draw.samples + side * margin) / draw.people) for side in (-1, 1))
        task = MarksBetween(relation.opening(()), of_tasks(draw), low, high)
        facts, pieces = merged(relation, task, allowed_classes((), memory_limit), progress)
        check_people(relation.data, checked(relation, facts), draw.samples, draw)
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


def _word(rate: float) -> int:
    """The high word of marks below which this share of them lies."""
    return min(max(int(rate * _WORDS), 0), _WORDS - 1)


def _at_places(relation: SparkRelation, task: AddUp, draw: Exactly) -> AddUp:
    """The task for rows that have no names, which are drawn by their places."""
    if not relation.files:
        raise refusal(
            "unordered",
            "Rows without ids are drawn by their places, and these rows of Spark have no order.",
            "Name the person column in [data], or name the Parquet or CSV files as source.",
            "[data] person",
        )
    opening = relation.opening([field.name for field in task.opening.fields], placed=True)
    starts = _starts(relation)
    return replace(task, opening=opening, places=random_places(draw.samples, draw.people, draw.key), starts=starts)


def _starts(relation: SparkRelation) -> dict[str, int]:
    """Where each file begins, among the rows of all files in the order of their names."""
    names = [str(file.resolve() if relation.frame is not None else file) for file in relation.files]
    if relation.sizes is None:
        task = RowsOfFiles(relation.opening((), placed=True))
        facts, _ = merged(relation, task, allowed_classes((), None), None)
        sizes = [facts.counts.get(f"rows of {name}", 0) for name in names]
    else:
        sizes = list(relation.sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    return dict(zip(names, starts.tolist(), strict=True))

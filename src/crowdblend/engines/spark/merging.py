"""Everything of a bucket in one task: the same person twice, one row of each, and the sums of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crowdblend.engines.class_counter import ClassCounter
from crowdblend.engines.draw import StratifiedCoin
from crowdblend.engines.packing import Packing
from crowdblend.engines.persons import RandomRowPerPerson
from crowdblend.engines.refusals import refusal
from crowdblend.engines.spark.class_tables import counted, packed_codes
from crowdblend.engines.spark.pieces import (
    CLASS_BUCKET_BITS,
    Facts,
    Piece,
    batches_of,
    by_bucket,
    decoded,
    encoded,
    pieces_of,
)
from crowdblend.engines.strata import drawn_codes
from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column

if TYPE_CHECKING:
    import pyarrow

# Few classes are not evenly in their buckets.
_ANYWAY = 4096


def too_many_classes(allowed: int) -> InvalidInput:
    """The refusal of more classes than the driver takes; how many there are is not shown."""
    return refusal(
        "memory",
        f"The sample has more classes than the driver takes, which are {allowed:,}.",
        "Raise memory in [release] and the driver's, or coarsen the columns.",
        "[release] memory",
    )


@dataclass(frozen=True)
class KeepRows:
    """Keeps one random row of everybody, or at most so many, by the code that keeps them on one machine."""

    columns: tuple[Column, ...]
    most: int | None
    row_key: bytes = field(repr=False)
    distinct: bool = False
    draw: StratifiedCoin | None = field(default=None, repr=False)
    """By stratum, a coin decides about the row that was kept."""

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """The classes of the rows that are kept, as Spark takes them; pieces come in the order of their buckets."""
        yield from batches_of(self._kept(batches))

    def _kept(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Piece]:
        facts, packing = Facts(), Packing(self.columns)
        counter = ClassCounter(packing.width, packing.classes)
        for _, kinds in by_bucket(pieces_of(batches)):
            for content in kinds.get("facts", ()):
                facts.take(content)
            if "rows" not in kinds:
                continue
            table = decoded(kinds["rows"])
            each = RandomRowPerPerson(self.row_key, packing.width, None)
            low, high = (table.column(name).to_numpy().view(np.uint64) for name in ("low", "high"))
            each.add(low, high, packed_codes(packing, table))
            if self.most is None:
                codes, marks = each.chosen_with_marks(packing.content)
                kept = len(marks)
                if self.draw is not None:
                    codes = drawn_codes(packing, codes, marks, self.draw)
            else:
                codes, people = each.several(packing.content, self.most, distinct=self.distinct)
                kept = len(codes[0])
                facts.add("people", people)
            counter.add(codes)
            facts.add("dropped", each.rows - kept)
        yield facts.piece()
        yield from counted(packing, *counter.counts())


@dataclass(frozen=True)
class Merge:
    """Sums classes, and finds out whether somebody has several rows."""

    allowed: int

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """The merged pieces, as Spark takes them; they come in the order of their buckets."""
        yield from batches_of(self._merged(batches))

    def _merged(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[Piece]:
        facts, repeated = Facts(), False
        for bucket, kinds in by_bucket(pieces_of(batches)):
            for content in kinds.get("facts", ()):
                facts.take(content)
            repeated = repeated or _same_number(kinds.get("numbers", ())) or _same_mark(kinds.get("texts", ()))
            if "classes" in kinds:
                yield self._summed(bucket, kinds["classes"], facts)
            yield from (Piece(bucket, "marks", content) for content in kinds.get("marks", ()))
        facts.add("repeated", int(repeated))
        yield facts.piece()

    def _summed(self, bucket: int, contents: Sequence[bytes], facts: Facts) -> Piece:
        """The sums of the classes; more than twice what the driver takes of a bucket is not handed over."""
        table = decoded(contents)
        keys = [name for name in table.column_names if name != "n"]
        summed = table.group_by(keys, use_threads=False).aggregate([("n", "sum")]).select([*keys, "n_sum"])
        if summed.num_rows > 2 * (self.allowed >> CLASS_BUCKET_BITS) + _ANYWAY:
            facts.refuse(too_many_classes(self.allowed))
            summed = summed.slice(0, 0)
        return Piece(bucket, "classes", encoded(summed.rename_columns([*keys, "n"])))


def _same_number(contents: Sequence[bytes]) -> bool:
    ordered = np.sort(np.frombuffer(b"".join(contents), dtype=np.int64))
    return bool((ordered[1:] == ordered[:-1]).any())


def _same_mark(contents: Sequence[bytes]) -> bool:
    words = np.frombuffer(b"".join(contents), dtype=np.uint64).reshape(-1, 2)
    ordered = words[np.lexsort((words[:, 1], words[:, 0]))]
    return bool((ordered[1:] == ordered[:-1]).all(axis=1).any())

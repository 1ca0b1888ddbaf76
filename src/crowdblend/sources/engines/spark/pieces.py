"""Messages between tasks: columns of numbers in pieces, so that Spark shuffles few large rows.

    task ── pieces by bucket ──▶ shuffle ──▶ one merging task has everything of a bucket

The same person, and the same class, is always in the same bucket. A piece is a row of three values for Spark. What is
wrong with the data is handed over like everything else: a task that fails would be tried again, and fill the logs.

The labels of an open column are numbered as they come, so a number means something in one task only. Between tasks a
class is the packed code of its closed columns, called p0, p1 and so on, and the labels of its open ones, called l with
their position.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.sources.engines.class_counter import Counts, PackedCodes
from crowdblend.sources.engines.outside_values import OutsideCounter
from crowdblend.sources.engines.packing import Packing
from crowdblend.trusted.machine.packages import pyarrow as pa

SCHEMA = "bucket int, kind string, content binary"
# One in 2^10: of five billion people, a bucket has 40 MB of numbers.
BUCKET_BITS = 10
# The driver takes all classes, so their buckets need not be small.
CLASS_BUCKET_BITS = 6
_FACTS = -1
_MIX = np.uint64(0x9E3779B97F4A7C15)

Buckets = NDArray[np.uint16]


@dataclass(frozen=True)
class Piece:
    """Content of one kind, of one bucket."""

    bucket: int
    kind: str
    content: bytes = field(repr=False)


@dataclass
class Facts:
    """Counts and problems of a task; those of several tasks add up."""

    counts: dict[str, int] = field(default_factory=dict)
    problem: InvalidInput | None = None
    outside: dict[str, OutsideCounter] = field(default_factory=dict, repr=False)
    """What went to the class `other` of a column, by its name."""

    def add(self, name: str, count: int) -> None:
        """Count some more."""
        self.counts[name] = self.counts.get(name, 0) + count

    def refuse(self, problem: InvalidInput) -> None:
        """Note what is wrong; of several problems, the same one counts whatever the order in which they come."""
        if self.problem is None or _order(problem) < _order(self.problem):
            self.problem = problem

    def piece(self) -> Piece:
        """Return the facts as a piece."""
        problem = self.problem.in_notation(None).to_dict() if self.problem else None
        outside = {name: counter.to_dict() for name, counter in self.outside.items()}
        told = {"counts": self.counts, "problem": problem, "outside": outside}
        return Piece(_FACTS, "facts", json.dumps(told).encode())

    def take(self, content: bytes) -> None:
        """Add what a piece says."""
        given = json.loads(content)
        for name, count in given["counts"].items():
            self.add(name, count)
        for name, told in given["outside"].items():
            self.outside.setdefault(name, OutsideCounter()).take(told)
        if given["problem"] is not None:
            self.refuse(problem_of(given["problem"]))

    @classmethod
    def apart(cls, table: pa.Table) -> tuple[Facts, list[Piece]]:
        """Return the facts of all tasks that handed a table over, and its other pieces; refuse what a task refuses."""
        facts, pieces = cls(), list(pieces_of(table.to_batches()))
        for piece in pieces:
            if piece.kind == "facts":
                facts.take(piece.content)
        if facts.problem is not None:
            raise facts.problem
        return facts, [piece for piece in pieces if piece.kind != "facts"]


def problem_of(document: dict[str, Any]) -> InvalidInput:
    """Return the refusal that a task has told."""
    return InvalidInput(
        document["message"], remedy=document["remedy"] or "", where=document["where"], code=document["code"]
    )


def _order(problem: InvalidInput) -> tuple[str, str]:
    return problem.code, problem.where or ""


def bucket_of(numbers: NDArray[Any], bits: int = BUCKET_BITS) -> Buckets:
    """Return the bucket of each 64-bit number, whatever numbers there are."""
    mixed = numbers.view(np.uint64) * _MIX
    return (mixed >> np.uint64(64 - bits)).astype(np.uint16)


def split(buckets: Buckets) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield every bucket that occurs, and where."""
    order = np.argsort(buckets, kind="stable")
    starts = np.flatnonzero(np.diff(buckets[order].astype(np.int32), prepend=-1))
    for places in np.split(order, starts[1:]) if len(starts) else ():
        yield int(buckets[places[0]]), places


def batches_of(pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    """Pieces as Spark takes them, a few megabytes at a time."""
    waiting: list[Piece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece.content)
        if size > 1 << 23:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(pieces: list[Piece]) -> pa.RecordBatch:
    columns = {
        "bucket": pa.array([piece.bucket for piece in pieces], pa.int32()),
        "kind": pa.array([piece.kind for piece in pieces], pa.string()),
        "content": pa.array([piece.content for piece in pieces], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def pieces_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """Yield the pieces that Spark hands over, in its order."""
    for batch in batches:
        buckets, kinds, contents = (batch.column(name) for name in ("bucket", "kind", "content"))
        for place in range(batch.num_rows):
            yield Piece(buckets[place].as_py(), kinds[place].as_py(), contents[place].as_py())


def by_bucket(pieces: Iterable[Piece]) -> Iterator[tuple[int, dict[str, list[bytes]]]]:
    """Yield the contents of every bucket by kind, from pieces in the order of their buckets."""
    for bucket, some in groupby(pieces, key=lambda piece: piece.bucket):
        kinds: dict[str, list[bytes]] = {}
        for piece in some:
            kinds.setdefault(piece.kind, []).append(piece.content)
        yield bucket, kinds


def encode(table: pa.Table) -> bytes:
    """Return an Arrow table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode(contents: Iterable[bytes]) -> pa.Table:
    """Return the tables in some bytes, one below the other."""
    return pa.concat_tables([pa.ipc.open_stream(content).read_all() for content in contents])


def class_table(packing: Packing, codes: PackedCodes, **others: NDArray[np.int64]) -> pa.Table:
    """Return the classes of some rows, and other columns beside them."""
    closed = [code.copy() if packing.open else code for code in codes]
    columns = {}
    for position in packing.open:
        place, digits = packing.places[position], packing.digits(codes, position)
        closed[place.at] -= digits * place.weight
        columns[f"l{position}"] = pa.array(packing.labels(position), pa.string()).take(pa.array(digits))
    packed = {f"p{at}": pa.array(code) for at, code in enumerate(closed)}
    return pa.table({**packed, **columns, **others})


def packed_codes(packing: Packing, table: pa.Table) -> PackedCodes:
    """Return the packed codes of the classes in a table; labels that are new get the next numbers."""
    codes = [table.column(f"p{at}").to_numpy().copy() for at in range(packing.width)]
    for position in packing.open:
        place = packing.places[position]
        labels = table.column(f"l{position}").combine_chunks().dictionary_encode()
        numbers = packing.number(position, labels.dictionary.to_pylist())
        codes[place.at] += numbers[labels.indices.to_numpy()] * place.weight
    return tuple(codes)


def count_pieces(packing: Packing, codes: PackedCodes, counts: Counts) -> Iterator[Piece]:
    """Classes and how often they occur, by the bucket of the class."""
    if len(counts):
        table = class_table(packing, codes, n=counts)
        for bucket, places in split(_buckets(packing, codes)):
            yield Piece(bucket, "classes", encode(table.take(places)))


def _buckets(packing: Packing, codes: PackedCodes) -> Buckets:
    """Return the bucket of each class, the same in every task."""
    mixed = np.zeros(len(codes[0]), dtype=np.uint64)
    for position in range(len(packing.columns)):
        digits = packing.digits(codes, position)
        if position in packing.open:
            hashes = np.array([crc32(label.encode("utf-8", "surrogatepass")) for label in packing.labels(position)])
            digits = hashes.astype(np.int64)[digits]
        mixed = (mixed + digits.view(np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return bucket_of(mixed, CLASS_BUCKET_BITS)

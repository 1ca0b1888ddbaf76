"""Packed codes as columns that mean the same in every task.

The labels of an open column are numbered as they come, so a number means something in one task only. Between tasks a
class is the packed code of its closed columns, called p0, p1 and so on, and the labels of its open ones, called l with
their position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import Counts, PackedCodes
from crowdblend.engines.packing import Packing
from crowdblend.engines.spark.pieces import CLASS_BUCKET_BITS, Buckets, Piece, bucket_of, encoded, split
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy("pyarrow")


def class_table(packing: Packing, codes: PackedCodes, **others: NDArray[np.int64]) -> pa.Table:
    """The classes of some rows, and other columns beside them."""
    closed = [code.copy() if packing.open else code for code in codes]
    columns = {}
    for position in packing.open:
        place, digits = packing.places[position], packing.digits(codes, position)
        closed[place.at] -= digits * place.weight
        columns[f"l{position}"] = pa.array(packing.labels(position), pa.string()).take(pa.array(digits))
    packed = {f"p{at}": pa.array(code) for at, code in enumerate(closed)}
    return pa.table({**packed, **columns, **others})


def packed_codes(packing: Packing, table: pa.Table) -> PackedCodes:
    """The packed codes of the classes in a table; labels that are new get the next numbers."""
    codes = [table.column(f"p{at}").to_numpy().copy() for at in range(packing.width)]
    for position in packing.open:
        place = packing.places[position]
        labels = table.column(f"l{position}").combine_chunks().dictionary_encode()
        numbers = packing.number(position, labels.dictionary.to_pylist())
        codes[place.at] += numbers[labels.indices.to_numpy()] * place.weight
    return tuple(codes)


def counted(packing: Packing, codes: PackedCodes, counts: Counts) -> Iterator[Piece]:
    """Classes and how often they occur, by the bucket of the class."""
    if len(counts):
        table = class_table(packing, codes, n=counts)
        for bucket, places in split(_buckets(packing, codes)):
            yield Piece(bucket, "classes", encoded(table.take(places)))


def _buckets(packing: Packing, codes: PackedCodes) -> Buckets:
    """The bucket of each class, the same in every task."""
    mixed = np.zeros(len(codes[0]), dtype=np.uint64)
    for position in range(len(packing.columns)):
        digits = packing.digits(codes, position)
        if position in packing.open:
            hashes = np.array([crc32(label.encode("utf-8", "surrogatepass")) for label in packing.labels(position)])
            digits = hashes.astype(np.int64)[digits]
        mixed = (mixed + digits.view(np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return bucket_of(mixed, CLASS_BUCKET_BITS)

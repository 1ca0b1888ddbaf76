"""Exactly k of n people, every set of k equally likely.

Theorem. The k people with the smallest keyed marks are a uniformly random set of k people, for an ideal keyed function.

Proof. Marks are uniform and independent between people, so every order of them is equally likely. ∎

The engine has already dropped everybody whose mark is too large to be among the k smallest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdblend.randomness import KeyedSource, distinct

if TYPE_CHECKING:
    import pyarrow

Marks = NDArray[np.uint64]


def smallest_marks(marked: Iterable[tuple[pyarrow.RecordBatch, Marks]], samples: int) -> Iterator[pyarrow.Table]:
    """The rows with the smallest marks, in no order that means anything; fewer if there are not as many."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    batches, marks = [], [np.empty((0, 2), dtype=np.uint64)]
    for batch, of_batch in marked:
        batches.append(batch)
        marks.append(of_batch)
    if batches:
        yield pa.Table.from_batches(batches).filter(pa.array(smallest(np.concatenate(marks), samples)))


def smallest(marks: Marks, samples: int) -> NDArray[np.bool_]:
    """Which marks are among the smallest; the low word decides where the high word is that of the last one."""
    if len(marks) <= samples:
        return np.ones(len(marks), dtype=np.bool_)
    high = np.ascontiguousarray(marks[:, 1])
    last = np.partition(high, samples - 1)[samples - 1]
    keep: NDArray[np.bool_] = high < last
    equal = np.flatnonzero(high == last)
    keep[equal[np.argsort(marks[equal, 0])[: samples - np.count_nonzero(keep)]]] = True
    return keep


def random_places(samples: int, population: int, key: bytes) -> NDArray[np.int64]:
    """Different places, in order; where rows have no names, who is drawn depends on the order of the rows."""
    return distinct(samples, population, KeyedSource(key, b"which rows are drawn"))

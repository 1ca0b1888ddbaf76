"""People as numbers: everybody at the end of a link, or listed, becomes one of 0, …, n − 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.networks.links import Names

if TYPE_CHECKING:
    import pyarrow

# A table of places is quicker than hashing while it has at most so many places a name.
MOST_PLACES = 8


def numbered(
    source: pyarrow.ChunkedArray, target: pyarrow.ChunkedArray, known: pyarrow.Array | None = None
) -> tuple[int, Names, Names]:
    """How many people there are, and the two ends of every link as numbers; people are those `known`, if given."""
    if known is not None and len(known) != len(known.unique()):
        raise InvalidInput("Somebody is listed twice in vertices. Remove the repeats.")
    dense = _dense(source, target) if known is None else None
    if dense is not None:
        return dense
    import pyarrow as pa  # noqa: PLC0415 - heavy
    import pyarrow.compute as pc  # noqa: PLC0415

    both = pa.chunked_array([*source.chunks, *target.chunks], type=source.type)
    people = both.unique() if known is None else known
    codes = pc.index_in(both, value_set=people)
    if codes.null_count:
        raise InvalidInput("Some ends of links are not listed in vertices. Add them, or remove the links.")
    numbers: Names = codes.to_numpy()
    return len(people), numbers[: len(source)], numbers[len(source) :]


def _dense(source: pyarrow.ChunkedArray, target: pyarrow.ChunkedArray) -> tuple[int, Names, Names] | None:
    """The same without hashing, where names are whole numbers that lie close together."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_integer(source.type) or not len(source):
        return None
    ends: list[NDArray[np.int64]] = [_plain(source), _plain(target)]
    low, high = min(int(end.min()) for end in ends), max(int(end.max()) for end in ends)
    if high - low + 1 > MOST_PLACES * 2 * len(source):
        return None
    there = np.zeros(high - low + 1, np.bool_)
    for end in ends:
        there[end - low] = True
    number = np.cumsum(there, dtype=np.int32) - 1
    first, second = (number[end - low] for end in ends)
    return int(number[-1]) + 1, first, second


def _plain(column: pyarrow.ChunkedArray) -> Any:
    return column.to_numpy()

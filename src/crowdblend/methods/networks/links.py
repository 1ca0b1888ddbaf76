"""A simple undirected network as sorted pairs of numbered people.

Links are kept once, as keys low·n + high in rising order: that sorts, finds repeats and needs 8 bytes a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.machine.packages import compute
from crowdblend.trusted.machine.packages import pyarrow as pa

Whole = NDArray[np.int64]
Names = NDArray[np.int32]
MOST_PEOPLE = 2**31 - 1
MOST_LINKS = 2**30


@dataclass(frozen=True, eq=False)
class Network:
    """People 0, …, n − 1 and the links between them, each once, from its lower end to its higher one."""

    people: int
    low: Names
    high: Names

    @property
    def links(self) -> int:
        """The number of links."""
        return len(self.low)

    @cached_property
    def degrees(self) -> Whole:
        """Everybody's number of links."""
        return np.bincount(self.low, minlength=self.people) + np.bincount(self.high, minlength=self.people)

    @cached_property
    def starts(self) -> Whole:
        """For every person, where the links with that person as their lower end begin; one entry more than people."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.low, minlength=self.people))])


def network(
    people: int, source: Whole | Names, target: Whole | Names, *, self_loops: str = "refuse", duplicates: str = "refuse"
) -> Network:
    """Return the network of links between numbered people; loops and repeated links are refused or dropped.

    >>> links = network(4, np.array([1, 0, 2]), np.array([0, 1, 1]), duplicates="drop")
    >>> links.low.tolist(), links.high.tolist(), links.degrees.tolist()
    ([0, 1], [1, 2], [1, 2, 1, 0])
    """
    if people > MOST_PEOPLE or len(source) > MOST_LINKS:
        message = "A network may have at most 2^31 - 1 people and 2^30 links. Split it."
        raise InvalidInput(message, where="`data.source`", code="data.network-size")
    # n² < 2^62 fits a signed word.
    keys = np.minimum(source, target).astype(np.int64)
    keys *= people
    keys += np.maximum(source, target)
    loops = source == target
    if loops.any():
        if self_loops != "drop":
            message = 'Some links join a person with itself. Set `publish.self_loops = "drop"`, or remove them.'
            raise InvalidInput(message, where="`publish.self_loops`", code="data.self-loops")
        keys = keys[~loops]
    keys.sort()
    again = keys[1:] == keys[:-1]
    if again.any():
        if duplicates != "drop":
            raise InvalidInput(
                'Some links are listed twice, or in both directions. Set `publish.duplicates = "drop"`, '
                "or remove them.",
                where="`publish.duplicates`",
                code="data.duplicate-links",
            )
        keys = keys[np.concatenate([[True], ~again])]
    low = (keys // max(people, 1)).astype(np.int32)
    keys -= low.astype(np.int64) * people
    return Network(people, low, keys.astype(np.int32))


# A table of places is quicker than hashing while it has at most this many places a name.
MOST_PLACES = 8


def number_people(
    source: pa.ChunkedArray, target: pa.ChunkedArray, known_people: pa.Array | None = None
) -> tuple[int, Names, Names]:
    """Return the number of people, and the ends of links as numbers; `known_people` lists the people."""
    if known_people is not None and len(known_people) != len(known_people.unique()):
        message = "Somebody is listed twice in vertices. Remove the repeats."
        raise InvalidInput(message, where="`publish.vertices`", code="data.repeated-person")
    dense = _dense(source, target) if known_people is None else None
    if dense is not None:
        return dense
    both = pa.chunked_array([*source.chunks, *target.chunks], type=source.type)
    people = both.unique() if known_people is None else known_people
    codes = compute.index_in(both, value_set=people)
    if codes.null_count:
        message = "Some ends of links are not listed in vertices. Add them, or remove the links."
        raise InvalidInput(message, where="`publish.vertices`", code="data.unknown-person")
    numbers: Names = codes.to_numpy()
    return len(people), numbers[: len(source)], numbers[len(source) :]


def _dense(source: pa.ChunkedArray, target: pa.ChunkedArray) -> tuple[int, Names, Names] | None:
    """Number people without hashing, where names are whole numbers that lie close together; else None."""
    if not pa.types.is_integer(source.type) or not len(source):
        return None
    ends: list[NDArray[np.int64]] = [column.to_numpy() for column in (source, target)]
    low, high = min(int(end.min()) for end in ends), max(int(end.max()) for end in ends)
    if high - low + 1 > MOST_PLACES * 2 * len(source):
        return None
    there = np.zeros(high - low + 1, np.bool_)
    for end in ends:
        there[end - low] = True
    number = np.cumsum(there, dtype=np.int32) - 1
    first, second = (number[end - low] for end in ends)
    return int(number[-1]) + 1, first, second

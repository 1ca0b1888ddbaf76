"""Tiny worlds: every table of a few people, and every sample of a table with its exact probability.

A table is a tuple of data values in the order of the world's list of values. Two people with one value are two entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, combinations_with_replacement, product
from math import comb, prod
from typing import Any

from crowdblend.auditing.exact.distributions import Distribution, mix

# Hashable; a world and its mechanisms agree on what.
Value = Any
Database = tuple[Value, ...]
Mechanism = Callable[[Database], Distribution]

CONCEALED = "⊥"


@dataclass(frozen=True)
class World:
    """All tables of up to `most` people whose data are among `values`."""

    values: tuple[Value, ...]
    most: int

    @cached_property
    def _places(self) -> dict[Value, int]:
        return {value: place for place, value in enumerate((*self.values, CONCEALED))}

    def databases(self, most: int | None = None) -> Iterator[Database]:
        """Every table, the empty one included."""
        for size in range((self.most if most is None else most) + 1):
            yield from combinations_with_replacement(self.values, size)

    def people(self) -> Iterator[tuple[Database, int]]:
        """Every table with every person in it; of people with equal data one."""
        for table in self.databases():
            for place in range(len(table)):
                if not place or table[place] != table[place - 1]:
                    yield table, place

    def without(self, table: Database, place: int) -> Database:
        """The table after a person is removed."""
        return table[:place] + table[place + 1 :]

    def joined(self, table: Database, value: Value) -> Database:
        """The table after a person comes in."""
        return tuple(sorted((*table, value), key=self._places.__getitem__))


def samples(table: Database, rate: Fraction) -> Iterator[tuple[Fraction, Database]]:
    """Every outcome of an independent coin for each person; people with equal data are interchangeable."""
    sizes = Counter(table)
    kinds = [
        [(comb(n, kept) * rate**kept * (1 - rate) ** (n - kept), (value,) * kept) for kept in range(n + 1)]
        for value, n in sizes.items()
    ]
    for drawn in product(*kinds):
        if chance := prod((share for share, _ in drawn), start=Fraction(1)):
            yield chance, tuple(chain.from_iterable(some for _, some in drawn))


def sampled(mechanism: Mechanism, rate: Fraction) -> Mechanism:
    """The mechanism behind Poisson sampling."""
    inner = cache(mechanism)
    return cache(lambda table: mix((chance, inner(some)) for chance, some in samples(table, rate)))

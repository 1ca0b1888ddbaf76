"""Tiny worlds: every table of a few people, every sample of it, each with its exact probability.

A table is a sorted tuple of data values, so two people with one value are two entries. Where positions matter (draws
of k of n) a table is an ordered tuple and ⊥ is the concealed value.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb

from .distributions import Distribution, mix

Table = tuple[int, ...]
Mechanism = Callable[[Table], Distribution]
CONCEALED = -1


def tables(values: Sequence[int], most: int) -> Iterator[Table]:
    """All tables of up to `most` people."""
    for size in range(most + 1):
        yield from combinations_with_replacement(values, size)


def without(table: Table, index: int) -> Table:
    return table[:index] + table[index + 1 :]


def with_value(table: Table, value: int) -> Table:
    return tuple(sorted((*table, value)))


def neighbours(values: Sequence[int], most: int) -> Iterator[tuple[Table, Table]]:
    """Every table and the same table with one person removed."""
    for table in tables(values, most):
        for index in range(len(table)):
            yield table, without(table, index)


def samples(table: Table, rates: Sequence[Fraction]) -> Iterator[tuple[Fraction, Table]]:
    """Every outcome of an own independent coin for each person."""
    for kept in product((False, True), repeat=len(table)):
        chance = Fraction(1)
        for keep, rate in zip(kept, rates, strict=True):
            chance *= rate if keep else 1 - rate
        if chance:
            yield chance, tuple(value for value, keep in zip(table, kept, strict=True) if keep)


def sampled(mechanism: Mechanism, rate: Fraction) -> Mechanism:
    """The mechanism behind Poisson sampling at one rate."""
    return remembered(lambda table: mix((chance, mechanism(s)) for chance, s in samples(table, [rate] * len(table))))


def drawn(table: Table, size: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Every draw of `size` positions without replacement."""
    share = Fraction(1, comb(len(table), size))
    for positions in combinations(range(len(table)), size):
        yield share, positions


def rows(values: Sequence[int], n: int) -> Iterator[Table]:
    """Every ordered table of n rows."""
    return product(values, repeat=n)


def concealed(table: Table, hidden: Sequence[int]) -> Table:
    return tuple(CONCEALED if i in hidden else value for i, value in enumerate(table))


def remembered(mechanism: Mechanism) -> Mechanism:
    """The same mechanism, each table computed once."""
    known: dict[Table, Distribution] = {}

    def look_up(table: Table) -> Distribution:
        if table not in known:
            known[table] = mechanism(table)
        return known[table]

    return look_up


def counts(table: Table, classes: Callable[[int], Hashable]) -> dict[Hashable, int]:
    found: dict[Hashable, int] = {}
    for value in table:
        found[classes(value)] = found.get(classes(value), 0) + 1
    return found

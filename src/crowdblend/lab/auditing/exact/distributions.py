"""Finite distributions in exact fractions, the event that tells two of them apart best, and tiny worlds of tables.

A table is a tuple of data values in the order of the world's list of values. Two people with one value are two entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, combinations_with_replacement, product
from math import comb, prod
from numbers import Rational
from typing import Any

from flint import arb

from crowdblend.errors import InvalidInput
from crowdblend.trusted.numerics.balls import precision, round_up

# Outcomes can be anything hashable; a mechanism and its audit agree on what.
Distribution = Mapping[Any, Fraction]

_BITS = 160


@dataclass(frozen=True)
class Gap:
    """An event, its probability on both sides, and by how much the left one exceeds growth times the right one."""

    event: frozenset[Hashable]
    left: Fraction
    right: Fraction
    delta: Fraction


def hockey_stick(left: Distribution, right: Distribution, growth: Fraction) -> Gap:
    """Return the largest Pr[left ∈ Y] − growth·Pr[right ∈ Y] over all events Y, and such a Y.

    No event is searched for: an outcome helps exactly when its own difference is positive. What does not add up to 1
    exactly is refused: a part that is missing could be the part that tells.
    """
    for masses in (left.values(), right.values()):
        if not all(isinstance(mass, Rational) and mass >= 0 for mass in masses) or sum(masses) != 1:
            raise InvalidInput(
                "The masses of a distribution must be fractions of at least 0 that add up to 1. "
                "Use fractions.Fraction, and move what is cut off to an outcome of its own."
            )
    nothing = Fraction(0)
    event = frozenset(outcome for outcome, mass in left.items() if mass > growth * right.get(outcome, nothing))
    here = sum((left[outcome] for outcome in event), nothing)
    there = sum((right.get(outcome, nothing) for outcome in event), nothing)
    return Gap(event, here, there, here - growth * there)


def surely(outcome: Hashable) -> dict[Any, Fraction]:
    """Return the distribution of what does not depend on chance."""
    return {outcome: Fraction(1)}


def mix(parts: Iterable[tuple[Fraction, Distribution]]) -> dict[Any, Fraction]:
    """A part is drawn by its weight, and then an outcome from it."""
    mixed: dict[Any, Fraction] = {}
    for weight, part in parts:
        for outcome, mass in part.items():
            mixed[outcome] = mixed.get(outcome, Fraction(0)) + weight * mass
    return mixed


def beside(parts: Iterable[Distribution]) -> dict[Any, Fraction]:
    """Independent draws side by side, as tuples."""
    drawn: dict[Any, Fraction] = {(): Fraction(1)}
    for part in parts:
        drawn = {(*seen, outcome): p * q for seen, p in drawn.items() for outcome, q in part.items()}
    return drawn


@cache
def growth_above(epsilon: float) -> Fraction:
    """A fraction of at least e^ε that agrees with it to forty digits: what exceeds it proves a guarantee wrong."""
    if epsilon == 0:
        return Fraction(1)
    with precision(_BITS):
        mantissa, exponent = arb(epsilon).exp().upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def epsilon_above(growth: Fraction) -> float:
    """Return the smallest double ε that surely has e^ε ≥ growth."""
    if growth == 1:
        return 0.0
    with precision(_BITS):
        return round_up((arb(growth.numerator) / growth.denominator).log())


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
        """Yield every table, the empty one included."""
        for size in range((self.most if most is None else most) + 1):
            yield from combinations_with_replacement(self.values, size)

    def people(self) -> Iterator[tuple[Database, int]]:
        """Yield every table with every person in it; of people with equal data one."""
        for table in self.databases():
            for place in range(len(table)):
                if not place or table[place] != table[place - 1]:
                    yield table, place

    def without(self, table: Database, place: int) -> Database:
        """The table after a person is removed."""
        return table[:place] + table[place + 1 :]

    def join(self, table: Database, value: Value) -> Database:
        """The table after a person comes in."""
        return tuple(sorted((*table, value), key=self._places.__getitem__))


def samples(table: Database, rate: Fraction) -> Iterator[tuple[Fraction, Database]]:
    """Yield every outcome of an independent coin for each person; people with equal data are interchangeable."""
    sizes = Counter(table)
    kinds = [
        [(comb(n, kept) * rate**kept * (1 - rate) ** (n - kept), (value,) * kept) for kept in range(n + 1)]
        for value, n in sizes.items()
    ]
    for drawn in product(*kinds):
        if chance := prod((share for share, _ in drawn), start=Fraction(1)):
            yield chance, tuple(chain.from_iterable(some for _, some in drawn))


def poisson_sampled(mechanism: Mechanism, rate: Fraction) -> Mechanism:
    """Return the mechanism behind Poisson sampling."""
    inner = cache(mechanism)
    return cache(lambda table: mix((chance, inner(some)) for chance, some in samples(table, rate)))

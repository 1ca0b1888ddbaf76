"""Draws, as values: everybody, a keyed coin at one rate or by stratum, or k of n people.

A draw says completely who is in the sample. Every engine that is handed the same draw and the same people picks the
same sample, whatever the order of the rows, the batches and the number of threads. Keys are secrets and are not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeAlias

from crowdblend.errors import InvalidInput
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.trusted import randomness
    from crowdblend.trusted.randomness import DrawKey


@dataclass(frozen=True)
class Part:
    """One of the parts that a second coin divides a sample into: whose mark is at least `start` and below `stop`.

    Parts of one key that do not overlap share nobody. The ends are exact, so that shares add up.
    """

    key: DrawKey = field(repr=False)
    start: Fraction
    stop: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= 1:
            raise InvalidInput(
                "A part lies between 0 and 1.", remedy="Pass rising ends.", where="share", code="draw.part"
            )


def parts_of(key: DrawKey, shares: Sequence[float]) -> list[Part]:
    """Return a part for every share; people in none of them are left out.

    Where doubles add up to a little more than 1, each is divided by their sum, as the rule does; ends that have more
    than the 128 binary places of a mark are off by less than the last of them.
    """
    total = max(sum(map(Fraction, shares)), Fraction(1))
    ends = [Fraction(0), *(end / total for end in accumulate(map(Fraction, shares)))]
    return [Part(key, start, stop) for start, stop in pairwise(ends)]


def shares_within(share: float, choosing: float | None) -> tuple[float, ...]:
    """Return the shares of the sample that the people of one publication have.

    Where a share of them, `choosing`, chooses the recoding of the others, theirs comes first. The doubles that come out
    are those by which people are sent to parts, and those that are certified.
    """
    return (share,) if choosing is None else (share * choosing, share - share * choosing)


@dataclass(frozen=True)
class Everybody:
    """All people of the source, or one part of them.

    `row_key` decides which of several rows of a person counts; without one a fresh secret does.
    """

    part: Part | None = None
    row_key: DrawKey | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Coin:
    """Each person with probability `rate`, independently, by the coin of the key; or one part of those.

    `row_key` decides which of several rows of a person counts; without one the key does.
    """

    key: DrawKey = field(repr=False)
    rate: float
    part: Part | None = None
    row_key: DrawKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InvalidInput(
                f"rate must be between 0 and 1, got {self.rate}.",
                remedy="Pass the share of people kept.",
                where="rate",
                code="draw.rate",
            )


@dataclass(frozen=True)
class Exactly:
    """Exactly `samples` of `people` people, each set of them equally likely, by the key."""

    key: DrawKey = field(repr=False)
    samples: int
    people: int

    def __post_init__(self) -> None:
        if not 0 <= self.samples <= self.people:
            raise InvalidInput(
                f"A sample of {self.samples} cannot be drawn from {self.people} people.",
                remedy="Draw between none and all of them.",
                where="samples",
                code="draw.samples",
            )


@dataclass(frozen=True)
class StratifiedCoin:
    """Each person with the rate of the person's stratum, independently, by the coin of the key.

    The strata are the classes of a column; `rates` has one for each, in the order of their codes. People have one row
    each before coins are flipped: a person with rows in two strata would else have a rate that is neither of theirs.
    `row_key` decides which of several rows counts; without one the key does. `part` are those whose mark lies between
    two shares of their rate: given that it is below the rate, it is uniform below it, so that parts share nobody.
    """

    key: DrawKey = field(repr=False)
    stratum: str
    rates: tuple[float, ...]
    row_key: DrawKey | None = field(default=None, repr=False)
    part: Part | None = None

    def __post_init__(self) -> None:
        if not all(0 < rate < 1 for rate in self.rates):
            raise InvalidInput(
                "Every stratum has a rate above 0 and below 1.",
                remedy="Pass the share of people kept of each.",
                where="rates",
                code="draw.rate",
            )


Draw: TypeAlias = Everybody | Coin | Exactly | StratifiedCoin


def row_key_of(draw: Draw) -> bytes:
    """Return the secret that decides which of several rows of a person counts."""
    if isinstance(draw, Exactly):
        return draw.key.persons
    if draw.row_key is not None:
        return draw.row_key.persons
    return randomness.new_key() if isinstance(draw, Everybody) else draw.key.persons

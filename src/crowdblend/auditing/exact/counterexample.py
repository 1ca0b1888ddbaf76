"""A guarantee that is proved wrong: the people, the person and the event."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from crowdblend.auditing.exact.worlds import Database

_MOST_OUTCOMES = 6


@dataclass(frozen=True)
class Counterexample:
    """Two situations that the guarantee calls hard to tell apart, and an event that tells them apart.

    `excess` is the probability beyond what was guaranteed; the event has it whichever way it is counted, since all
    numbers are exact.
    """

    guarantee: str
    people: Database
    person: Hashable | None
    compared: str
    event: frozenset[Hashable]
    likely: Fraction
    unlikely: Fraction
    allowed: Fraction
    why: str = ""

    @property
    def excess(self) -> Fraction:
        """By how much the event is more likely than it may be."""
        return self.likely - self.allowed

    def describe(self) -> str:
        """The counterexample for people to read."""
        outcomes = sorted(map(text_of, self.event))
        more = f" and {len(outcomes) - _MOST_OUTCOMES} more" if len(outcomes) > _MOST_OUTCOMES else ""
        lines = [
            f"guarantee    {self.guarantee}",
            f"people       {' '.join(map(text_of, self.people)) or 'nobody'}",
            *([f"person       {text_of(self.person)}"] if self.person is not None else []),
            f"compared     {self.compared}",
            f"event        the output is {' or '.join(outcomes[:_MOST_OUTCOMES])}{more}",
            f"probability  {number(self.likely)} against {number(self.unlikely)}",
            f"allowed      {number(self.allowed)}, so {number(self.excess)} too much",
        ]
        return "\n".join(lines + ([f"why          {self.why}"] if self.why else []))

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "guarantee": self.guarantee,
            "people": [text_of(value) for value in self.people],
            "person": None if self.person is None else text_of(self.person),
            "compared": self.compared,
            "event": sorted(map(text_of, self.event)),
            "likely": float(self.likely),
            "unlikely": float(self.unlikely),
            "allowed": float(self.allowed),
        }


def text_of(value: Hashable) -> str:
    """A value or an outcome, short and the same on every run."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(text_of, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text_of, value)) + ")"
    return str(value)


def number(value: Fraction) -> str:
    """A fraction as it is when that is short, and in digits.

    >>> number(Fraction(1, 3)), number(Fraction(0)), number(Fraction(1, 7**20))
    ('1/3 = 0.333333', '0', '1.25325e-17')
    """
    if value.denominator == 1:
        return str(value)
    digits = f"{float(value):.6g}"
    return f"{value} = {digits}" if value.denominator < 10_000 else digits

"""A promise that is proved wrong: the people, the person and the event."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from crowdblend.auditing.exact.worlds import Database

_SHOWN = 6


@dataclass(frozen=True)
class Counterexample:
    """Two situations that the promise calls hard to tell apart, and an event that tells them apart.

    `excess` is the probability beyond what was promised; the event has it whichever way it is counted, since all
    numbers are exact.
    """

    promise: str
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

    def words(self) -> str:
        """The counterexample for people to read."""
        outcomes = sorted(map(shown, self.event))
        more = f" and {len(outcomes) - _SHOWN} more" if len(outcomes) > _SHOWN else ""
        lines = [
            f"promised     {self.promise}",
            f"people       {' '.join(map(shown, self.people)) or 'nobody'}",
            *([f"person       {shown(self.person)}"] if self.person is not None else []),
            f"compared     {self.compared}",
            f"event        the output is {' or '.join(outcomes[:_SHOWN])}{more}",
            f"probability  {number(self.likely)} against {number(self.unlikely)}",
            f"allowed      {number(self.allowed)}, so {number(self.excess)} too much",
        ]
        return "\n".join(lines + ([f"why          {self.why}"] if self.why else []))

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "promise": self.promise,
            "people": [shown(value) for value in self.people],
            "person": None if self.person is None else shown(self.person),
            "compared": self.compared,
            "event": sorted(map(shown, self.event)),
            "likely": float(self.likely),
            "unlikely": float(self.unlikely),
            "allowed": float(self.allowed),
        }


def shown(value: Hashable) -> str:
    """A value or an outcome, short and the same on every run."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
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

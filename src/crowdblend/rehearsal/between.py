"""Published numbers as seen by somebody who wants to know which of two persons' data they are about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdblend.rehearsal.looking import digest, shown_in

# Numbers that are looked at one by one, and steps that the way from one person to the other is divided into.
_NUMBERS, _STEPS = 8, 8


@dataclass(frozen=True)
class Number:
    """One number: which it is, where it is for one person, how far the other moves it, and the loss of that."""

    row: int
    start: float
    moved: float
    loss: float


@dataclass(frozen=True)
class Between:
    """The numbers that two persons move."""

    numbers: tuple[Number, ...]

    def at(self, files: Mapping[str, bytes]) -> dict[str, str]:
        """What is seen of a file with a number in every row."""
        ((name, content),) = files.items()
        shown = shown_in(name, content)
        value = shown.header.index("value")
        return {"the files": digest(shown.rows), **self.of([float(row[value]) for row in shown.rows])}

    def of(self, values: Sequence[float]) -> dict[str, str]:
        """How far on the way from the one to the other each number is, and how all of them together speak."""
        views: dict[str, str] = {}
        spoken = 0.0
        for number in self.numbers:
            way = (float(values[number.row]) - number.start) / number.moved
            spoken += number.loss * (abs(way) - abs(way - 1))
            if len(views) < _NUMBERS:
                views[f"number {number.row + 1}"] = str(min(max(math.floor(_STEPS * way), -1), _STEPS))
        whole = sum(number.loss for number in self.numbers)
        return {**views, "all numbers": f"{spoken / whole:.1f}"} if whole else views

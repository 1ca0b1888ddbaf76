"""Observers of a release: the audited person's class, the amount shown, and the raw files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

from crowdblend.kinds.shared.data_formats import format_of
from crowdblend.kinds.shared.plan import Outcome
from crowdblend.methods.recoding.classes import Recoding
from crowdblend.methods.selection.lattice import Node

# The outcome of a release for each way of looking at it.
Views = dict[str, str]


@dataclass(frozen=True)
class ShownFile:
    """A published file as text: the names of its columns, and its rows; and its bytes, where it is a file by itself."""

    header: list[str]
    rows: list[list[str]]
    content: bytes = field(default=b"", compare=False, repr=False)

    def of_class(self, labels: Mapping[str, str]) -> str:
        """Return the count of a class with its flag, or how many rows it has, or that it is missing."""
        places = [place for place, column in enumerate(self.header) if column in labels]
        rest = [place for place, column in enumerate(self.header) if column not in labels]
        own = [labels[self.header[place]] for place in places]
        mine = [row for row in self.rows if [row[place] for place in places] == own]
        if not mine:
            return "missing"
        return " ".join(mine[0][place] for place in rest) if rest else f"{len(mine)} rows"


def shown_in(name: str, content: bytes) -> ShownFile:
    """Return a published file as it is read."""
    return ShownFile(*format_of(name).rows(content), content)


# All files of a release by name.
PublishedFiles = Mapping[str, ShownFile]


class Observer(Protocol):
    """An observer of releases, each time in several ways."""

    def observe(self, files: PublishedFiles, outcome: Outcome) -> Views:
        """Return what is seen of the files of one release, and of what the data decided about it."""


def digest(content: object) -> str:
    """Return anything as a short text that nothing else has."""
    return blake2b(repr(content).encode(), digest_size=12).hexdigest()


def digest_of(files: PublishedFiles) -> str:
    """Return a short text that no other files have."""
    return digest(sorted((name, one.content or one.rows) for name, one in files.items()))


@dataclass(frozen=True)
class ClassObserver:
    """An observer who looks for a person with these raw values, one for each column."""

    columns: Sequence[str]
    recodings: Sequence[Sequence[Recoding]]
    values: Sequence[str | None]

    def observe(self, files: PublishedFiles, outcome: Outcome) -> Views:
        """Return the person's class and how much is shown; a recoding that was chosen is part of every view."""
        recoding = outcome if isinstance(outcome, tuple) else None
        labels = self._labels(recoding)
        chosen = "" if recoding is None else f"{','.join(map(str, recoding))}: "
        views = {"the files": chosen + digest_of(files)}
        for name, one in sorted(files.items()):
            where = "" if len(files) == 1 else f" in {name}"
            views[f"the person's class{where}"] = chosen + one.of_class(labels)
            views[f"classes or rows{where}"] = f"{chosen}{len(one.rows)}"
        if len(files) > 1:
            views["the person's classes"] = ", ".join(one.of_class(labels) for _, one in sorted(files.items()))
        if recoding is not None:
            views["the recoding"] = chosen
        return views

    def _labels(self, recoding: Node | None) -> dict[str, str]:
        """Return the labels of the person's class, at the levels that were chosen."""
        levels = recoding or (0,) * len(self.columns)
        return {
            name: str(offered[level].label(value))
            for name, offered, level, value in zip(self.columns, self.recodings, levels, self.values, strict=True)
        }


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
class NumbersObserver:
    """An observer who knows which numbers two persons move, and how far."""

    numbers: tuple[Number, ...]

    def observe(self, files: PublishedFiles, _outcome: Outcome) -> Views:
        """Return what is seen of a file with a number in every row."""
        ((_, shown),) = files.items()
        value = shown.header.index("value")
        return {"the files": digest_of(files), **self.views_of([float(row[value]) for row in shown.rows])}

    def views_of(self, values: Sequence[float]) -> Views:
        """Return how far on the way from the one to the other each number is, and how all of them together speak."""
        views: Views = {}
        spoken = 0.0
        for number in self.numbers:
            way = (float(values[number.row]) - number.start) / number.moved
            spoken += number.loss * (abs(way) - abs(way - 1))
            if len(views) < _NUMBERS:
                views[f"number {number.row + 1}"] = str(min(max(math.floor(_STEPS * way), -1), _STEPS))
        whole = sum(number.loss for number in self.numbers)
        return {**views, "all numbers": f"{spoken / whole:.1f}"} if whole else views

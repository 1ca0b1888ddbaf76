"""What an onlooker makes of a release: the audited person's class, how much is shown, and the files as they are."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

from crowdblend.recoding import Recoding
from crowdblend.selection import ChosenRecoding


@dataclass(frozen=True)
class Shown:
    """A published file as text: the names of its columns, and its rows."""

    header: list[str]
    rows: list[list[str]]

    def of_class(self, labels: Mapping[str, str]) -> str:
        """The count of a class with its flag, or how many rows it has, or that it is missing."""
        places = [place for place, column in enumerate(self.header) if column in labels]
        rest = [place for place, column in enumerate(self.header) if column not in labels]
        own = [labels[self.header[place]] for place in places]
        mine = [row for row in self.rows if [row[place] for place in places] == own]
        if not mine:
            return "missing"
        return " ".join(mine[0][place] for place in rest) if rest else f"{len(mine)} rows"


def shown_in(name: str, content: bytes) -> Shown:
    """A published file as it is read."""
    if name.endswith(".csv"):
        header, *rows = csv.reader(io.StringIO(content.decode()))
        return Shown(header, rows)
    from pyarrow import BufferReader, parquet  # noqa: PLC0415 - heavy

    held = parquet.ParquetFile(BufferReader(content)).read(use_threads=False)
    columns = [[str(value) for value in column.to_pylist()] for column in held.columns]
    return Shown(held.column_names, [list(row) for row in zip(*columns, strict=True)])


class Looking(Protocol):
    """Somebody who looks at releases, each time in several ways."""

    def at(self, files: Mapping[str, bytes], outcome: Any) -> dict[str, str]:
        """What is seen of the files of one release, and of what was chosen for it."""

    def at_shown(self, shown: Mapping[str, Shown], outcome: Any) -> dict[str, str]:
        """The same of files that were read before."""


@dataclass(frozen=True)
class Onlooker:
    """Somebody who wants to know about a person with these raw values, one for each column.

    `score_noise` is how far the noise moves a score that is shown, on average.
    """

    columns: Sequence[str]
    recodings: Sequence[Sequence[Recoding]]
    values: Sequence[str | None]
    score_noise: float = 1.0

    def at(self, files: Mapping[str, bytes], outcome: ChosenRecoding | None) -> dict[str, str]:
        """Several ways of looking at one release; a recoding that was chosen is part of all of them."""
        shown = {name: shown_in(name, content) for name, content in files.items()}
        return self._views(digest(sorted(files.items())), shown, outcome)

    def at_shown(self, shown: Mapping[str, Shown], outcome: ChosenRecoding | None = None) -> dict[str, str]:
        """The same of files that were read before."""
        return self._views(digest(sorted((name, one.rows) for name, one in shown.items())), shown, outcome)

    def _views(self, files: str, shown: Mapping[str, Shown], outcome: ChosenRecoding | None) -> dict[str, str]:
        labels = self._labels(outcome)
        chosen = "" if outcome is None else f"{','.join(map(str, outcome.node))}: "
        views = {"the files": chosen + files}
        for name, one in sorted(shown.items()):
            where = "" if len(shown) == 1 else f" in {name}"
            views |= {f"{view}{where}": chosen + seen for view, seen in _in_table(one, labels)}
        if len(shown) > 1:
            views["the person's classes"] = ", ".join(one.of_class(labels) for _, one in sorted(shown.items()))
        if outcome is not None:
            views["the recoding"] = chosen
            if outcome.scores is not None:
                views["scores around it"] = chosen + digest(outcome.scores)
                # All of them together are hardly ever seen twice; one of them in steps of half its noise is.
                step = math.floor(2 * outcome.scores[outcome.node] / self.score_noise)
                views["the score of the recoding"] = f"{chosen}{step}"
        return views

    def _labels(self, outcome: ChosenRecoding | None) -> dict[str, str]:
        """The labels of the person's class, at the levels that were chosen."""
        levels = outcome.node if outcome is not None else (0,) * len(self.columns)
        return {
            name: str(offered[level].label(value))
            for name, offered, level, value in zip(self.columns, self.recodings, levels, self.values, strict=True)
        }


def _in_table(shown: Shown, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    return [("the person's class", shown.of_class(labels)), ("classes or rows", str(len(shown.rows)))]


def digest(content: object) -> str:
    """Anything as a short text that nothing else has."""
    return blake2b(repr(content).encode(), digest_size=12).hexdigest()


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
        return self.at_shown(shown_in(name, content))

    def at_shown(self, shown: Shown) -> dict[str, str]:
        """The same of rows that were read before."""
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

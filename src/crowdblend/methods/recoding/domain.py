"""Declarations of a column, published as they are: they never depend on the data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

import msgspec

Number: TypeAlias = int | float


class Domain(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename={"start": "from"}
):
    """The map from values to labels, or to numbers on a grid, with the possible labels.

    `labels` are listed unless the domain is open or they follow from the rest; then `size` says how many there are.
    `recodings` are those among which the data choose, before they have. `join` says how many neighbouring classes of
    the column one class here has.
    """

    recoding: str = ""
    labels: tuple[str, ...] | None = None
    size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    other: str | None = None
    missing: str | None = None
    start: Number | str | None = None
    to: Number | str | None = None
    width: Number | None = None
    resolution: Number | None = None
    breaks: tuple[Number, ...] | None = None
    include_to: bool = False
    bottom: bool = False
    top: bool = False
    whole: bool = False
    outside: Literal["refuse", "clamp", "drop"] | None = None
    blank: Number | None = None
    period: str | None = None
    level: int | None = None
    levels: int | None = None
    length: int | None = None
    join: Annotated[int, msgspec.Meta(ge=2)] | None = None
    recodings: tuple[Domain, ...] = ()

    @property
    def number_of_labels(self) -> int | None:
        """The number of possible labels; None where the domain is open."""
        return self.size if self.labels is None else len(self.labels)

    @property
    def is_ordered(self) -> bool:
        """True if the labels have an order of their own: intervals and dates."""
        return self.recoding in ("intervals", "breaks", "dates")

    @property
    def class_ends(self) -> tuple[tuple[Number | None, Number | None], ...] | None:
        """The lower and the upper end of every class of numbers, in the order of the labels, None where it has none.

        The lower end belongs to a class. None where the labels are no intervals of numbers, or not listed.
        """
        if self.labels is None or self.recoding not in ("intervals", "breaks"):
            return None
        edges = self.breaks if self.breaks is not None else self._even_edges()
        edges = (*edges[: -1 : self.join or 1], edges[-1])
        below: list[tuple[Number | None, Number | None]] = [(None, edges[0])] if self.bottom else []
        above: list[tuple[Number | None, Number | None]] = [(edges[-1], None)] if self.top else []
        without = [(None, None) for name in (self.other, self.missing) if name is not None]
        return (*below, *pairwise(edges), *above, *without)

    @property
    def spoken_labels(self) -> Mapping[str, str]:
        """Labels of classes of numbers in the words of people, by label; other labels have none.

        >>> ages = Domain(recoding="breaks", labels=("[0, 18)", "[18, 65)", "≥ 65"), breaks=(0, 18, 65), top=True)
        >>> list(ages.spoken_labels.values())
        ['0 to under 18', '18 to under 65', '65 and over']
        """
        # Facts may come from anywhere, and say little or nonsense.
        if not (self._are_listed_intervals if self.recoding == "intervals" else self.breaks):
            return {}
        ends = self.class_ends or ()
        if len(ends) != len(self.labels or ()):
            return {}
        last = len(ends) - 1 - sum(end == (None, None) for end in ends)
        spoken = {}
        for at, (text, (low, high)) in enumerate(zip(self.labels or (), ends, strict=True)):
            if low is not None and high is not None:
                spoken[text] = self._say_between(low, high, closed=self.include_to and at == last)
            elif low is not None:
                spoken[text] = f"{_say(low)} and over"
            elif high is not None:
                spoken[text] = f"under {_say(high)}"
        return spoken

    @property
    def _are_listed_intervals(self) -> bool:
        """True if there are no more intervals than labels, so that they can be listed."""
        if self.labels is None or not all(isinstance(end, int | float) for end in (self.start, self.to, self.width)):
            return False
        low, high = self.bounds
        return bool(self.width) and 0 < (high - low) / float(self.width or 1) <= (len(self.labels) + 1) * (
            self.join or 1
        )

    def _say_between(self, low: Number, high: Number, *, closed: bool) -> str:
        """Return words for the numbers from `low` to `high`, which is one of them where `closed`."""
        if closed:
            return f"{_say(low)} to {_say(high)}"
        if not self.whole:
            return f"{_say(low)} to under {_say(high)}"
        return _say(low) if high - low == 1 else f"{_say(low)} to {_say(high - 1)}"

    def _even_edges(self) -> tuple[Number, ...]:
        """Return the ends of intervals of equal width: exact decimals, each as the nearest number."""
        first, last, width = (Fraction(repr(end)) for end in (self.start, self.to, self.width))
        edges = (first + place * width for place in range(int((last - first) / width) + 1))
        return tuple(int(edge) if edge.denominator == 1 else float(edge) for edge in edges)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the values."""
        assert isinstance(self.start, int | float), "only numbers have bounds"
        assert isinstance(self.to, int | float), "only numbers have bounds"
        return float(self.start), float(self.to)


def _say(number: Number) -> str:
    """Return a number as people write it: thousands apart, but not in what may be a year."""
    return f"{number:.15g}" if abs(number) < 10_000 else f"{number:,.15g}"

"""Intervals of equal width, with optional bottom and top coding.

Interval number i is [start + i·width, start + (i+1)·width): its lower end belongs to it, its upper end does not, and
`stop` is outside the domain unless `include_stop` or `top` says otherwise. The ends are exact decimals of the declared
numbers, each rounded once to the nearest double and compared with values as doubles, so the text 0.3 lies in [0.3, 0.4)
and 0.1 + 0.2, which is a little more, lies there as well.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar, Literal

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import LARGEST_DOMAIN, ComputedRecoding
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.reading import (
    Number,
    double,
    exact,
    exact_range,
    number,
    number_sql,
    plain,
    plain_digits,
)

# With at most this many breaks, a value is compared with all of them.
_FEW = 16
_EXACT = 2**50  # whole numbers up to here leave room for a guess in doubles to be wrong by less than one interval


@dataclass(frozen=True)
class Intervals(ComputedRecoding):
    """Equal widths from `start` to `stop`; `bottom` and `top` add the classes "< start" and "≥ stop".

    With `whole` the values are whole numbers: the classes are called 0–9, 10–19, and a fraction is outside the domain.

    >>> age = Intervals(0, 100, 10, top=True)
    >>> age.labels[age.code("39")], age.labels[age.code("100")], age.code("-1")
    ('[30, 40)', '≥ 100', None)
    """

    start: Number
    stop: Number
    width: Number
    include_stop: bool = False
    bottom: bool = False
    top: bool = False
    whole: bool = False

    reads: ClassVar[Literal["number"]] = "number"
    unit: ClassVar[str] = "width"
    """The key that declares the width."""

    def __post_init__(self) -> None:
        if max(map(abs, (self._first, self._first + self._steps * self._step, self._scale))) > _EXACT:
            raise InvalidInput(
                f"from, to and {self.unit} must need at most 15 digits together, got from {self.start}, "
                f"to {self.stop}, {self.unit} {self.width}. Round them.",
                where=self.unit,
                code="recoding.digits",
            )
        if self.include_stop and self.top:
            message = "include_to and top must not both be true: top already takes the value of to. Drop one."
            raise InvalidInput(message, where="include_to", code="recoding.two-ends")
        if self.whole:
            check_whole((("from", self.start), ("to", self.stop), ("width", self.width)))
        super().__post_init__()

    @cached_property
    def _declaration(self) -> tuple[Fraction, Fraction, Fraction]:
        return exact_range(self.start, self.stop, self.width, unit=self.unit, most=LARGEST_DOMAIN)

    @cached_property
    def _scale(self) -> int:
        """The common denominator, so that every end is a whole number divided by it."""
        start, _, width = self._declaration
        return math.lcm(start.denominator, width.denominator)

    @cached_property
    def _first(self) -> int:
        return int(self._declaration[0] * self._scale)

    @cached_property
    def _step(self) -> int:
        return int(self._declaration[2] * self._scale)

    @cached_property
    def _steps(self) -> int:
        start, stop, width = self._declaration
        return int((stop - start) / width)

    def end(self, index: int) -> float:
        """Return the lower end of interval number `index`, as the nearest double."""
        return (self._first + index * self._step) / self._scale

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """ "< start" if asked for, the intervals, "≥ stop" if asked for."""
        first, width = exact("from", self.start), exact("width", self.width)
        if self._scale == 1:  # whole numbers are written ten times as fast
            ends = [str(self._first + index * self._step) for index in range(self._steps + 1)]
        else:
            ends = [plain_digits(first + index * width) for index in range(self._steps + 1)]
        if self.whole:
            lows = [first + index * width for index in range(self._steps)]
            called = [whole_label(low, low + width - 1) for low in lows]
            if self.include_stop:
                called[-1] = whole_label(lows[-1], lows[-1] + width)
            return (f"< {ends[0]}",) * self.bottom + tuple(called) + (f"≥ {ends[-1]}",) * self.top
        labels = [f"[{low}, {high})" for low, high in pairwise(ends)]
        if self.include_stop:
            labels[-1] = labels[-1][:-1] + "]"
        return (f"< {ends[0]}",) * self.bottom + tuple(labels) + (f"≥ {ends[-1]}",) * self.top

    def declaration(self) -> Domain:
        """Return the bounds and the width, and what lies beyond the bounds."""
        return Domain(
            recoding="intervals",
            start=plain(self.start),
            to=plain(self.stop),
            width=plain(self.width),
            include_to=self.include_stop,
            bottom=bool(self.bottom),
            top=bool(self.top),
            whole=self.whole,
        )

    def own_code(self, value: str) -> int | None:
        """Return the position of the interval that holds the number."""
        read = number(value)
        if read is None or (self.whole and not read.is_integer()):
            return None
        passed = bisect_right(range(self._steps + 1), read, key=self.end)
        if self.include_stop and read == self.end(self._steps):
            passed = self._steps
        code = passed - 1 + self.bottom
        return code if 0 <= code < len(self.own_labels) else None

    def own_sql(self, column: str, typed: bool) -> str:
        """Return a guess by division, put right by comparing with the two exact ends beside it."""
        value = f"({number_sql(column, typed)})"
        guess = f"floor(({value} - {double(self.end(0))}) / {double(self._step / self._scale)})"
        inside = (
            f"least({guess} - CAST({value} < {self._end_sql(guess)} AS INTEGER) "
            f"+ CAST({value} >= {self._end_sql(f'({guess} + 1)')} AS INTEGER), {self._steps - 1}) + {int(self.bottom)}"
        )
        low, high = double(self.end(0)), double(self.end(self._steps))
        fits = f" AND {whole_sql(value)}" if self.whole else ""
        whens = [f"WHEN {value} >= {low} AND {value} {'<=' if self.include_stop else '<'} {high}{fits} THEN {inside}"]
        if self.bottom:
            whens.append(f"WHEN {value} < {low} AND {value} > CAST('-inf' AS DOUBLE){fits} THEN 0")
        if self.top:
            whens.append(
                f"WHEN {value} >= {high} AND {value} < CAST('inf' AS DOUBLE){fits} THEN {self._steps + self.bottom}"
            )
        return f"CASE {' '.join(whens)} END"

    def own_quick_sql(self, column: str, whole: bool) -> str:
        """Whole numbers between whole ends are exact doubles, and no quotient is rounded up: nothing to put right."""
        if not whole or self._scale != 1:
            return self.own_sql(column, True)
        first, last = self._first, self._first + self._steps * self._step
        above = f"CAST({column} AS DOUBLE)" + (f" - {first}" if first else "")
        place = f"floor(({above}) / {self._step})"
        inside = f"least({place}, {self._steps - 1})" if self.include_stop else place
        whens = [f"WHEN {column} >= {first} AND {column} {'<=' if self.include_stop else '<'} {last} THEN {inside}"]
        if self.bottom:
            whens = [f"{whens[0]} + 1", f"WHEN {column} < {first} THEN 0"]
        if self.top:
            whens.append(f"WHEN {column} >= {last} THEN {self._steps + self.bottom}")
        return f"CASE {' '.join(whens)} END"

    def _end_sql(self, index: str) -> str:
        """Return the lower end of an interval: exact whole numbers, and one rounding in the division."""
        return (
            f"(({index} * {double(float(self._step))} + {double(float(self._first))}) / {double(float(self._scale))})"
        )


@dataclass(frozen=True)
class Breaks(ComputedRecoding):
    """Classes between rising breaks; `bottom` and `top` add the classes "< first" and "≥ last".

    >>> income = Breaks((0, 25000, 50000), top=True)
    >>> income.labels, income.code("25000"), income.code("-1")
    (('[0, 25000)', '[25000, 50000)', '≥ 50000'), 1, None)
    """

    breaks: tuple[Number, ...]
    bottom: bool = False
    top: bool = False
    whole: bool = False

    reads: ClassVar[Literal["number"]] = "number"

    def __post_init__(self) -> None:
        if len(self.breaks) + self.bottom + self.top < 2 or not self.breaks:
            raise InvalidInput(
                f"breaks must list at least two numbers, got {len(self.breaks)}. "
                "Add one, or let `bottom = true` or `top = true` take what lies beyond.",
                where="breaks",
                code="recoding.too-few",
            )
        if len(self.breaks) > LARGEST_DOMAIN // 1000:
            raise InvalidInput(
                f"breaks may list at most {LARGEST_DOMAIN // 1000} numbers, got {len(self.breaks)}. "
                "Use from, to and width.",
                where="breaks",
                code="recoding.size",
            )
        for low, high in pairwise(self.breaks):
            if float(exact("breaks", low)) >= float(exact("breaks", high)):
                message = f"breaks must rise, got {low} before {high}. Sort them and drop repeats."
                raise InvalidInput(message, where="breaks", code="recoding.order")
        if self.whole:
            check_whole(("breaks", value) for value in self.breaks)
        super().__post_init__()

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        return tuple(float(exact("breaks", value)) for value in self.breaks)

    def declaration(self) -> Domain:
        """Return the breaks, and what lies beyond them."""
        breaks = tuple(plain(end) for end in self.breaks)
        return Domain(recoding="breaks", breaks=breaks, bottom=bool(self.bottom), top=bool(self.top), whole=self.whole)

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """ "< first" if asked for, the classes between, "≥ last" if asked for."""
        ends = [plain_digits(exact("breaks", value)) for value in self.breaks]
        between = tuple(f"[{low}, {high})" for low, high in pairwise(ends))
        if self.whole:
            exactly = [exact("breaks", value) for value in self.breaks]
            between = tuple(whole_label(low, high - 1) for low, high in pairwise(exactly))
        return (f"< {ends[0]}",) * self.bottom + between + (f"≥ {ends[-1]}",) * self.top

    def own_code(self, value: str) -> int | None:
        """Return the position of the class that holds the number."""
        read = number(value)
        if read is None or (self.whole and not read.is_integer()):
            return None
        code = bisect_right(self._ends, read) - 1 + self.bottom
        return code if 0 <= code < len(self.own_labels) else None

    def own_sql(self, column: str, typed: bool) -> str:
        """A binary search in nested comparisons, bounded on both sides so that NaN and the infinities stay out."""
        return self._bounded_sql(f"({number_sql(column, typed)})", partial(_search, index=0))

    def own_quick_sql(self, column: str, whole: bool) -> str:
        """Few comparisons are all made and counted: every branch divides the rows, which takes longer."""
        if len(self.breaks) > _FEW:
            return self.own_sql(column, True)
        return self._bounded_sql(f"({number_sql(column, typed=True)})", _count_ends)

    def _bounded_sql(self, value: str, place: Callable[[str, tuple[float, ...]], str]) -> str:
        above = f"{value} > CAST('-inf' AS DOUBLE)" if self.bottom else f"{value} >= {double(self._ends[0])}"
        below = f"{value} < CAST('inf' AS DOUBLE)" if self.top else f"{value} < {double(self._ends[-1])}"
        # between classes i and i+1 lies this end, whichever classes there are
        ends = self._ends[0 if self.bottom else 1 : None if self.top else -1]
        fits = f" AND {whole_sql(value)}" if self.whole else ""
        return f"CASE WHEN {above} AND {below}{fits} THEN {place(value, ends)} END"


def _count_ends(value: str, ends: tuple[float, ...]) -> str:
    """Return the number of ends that a value has reached."""
    return " + ".join(f"CAST({value} >= {double(end)} AS DOUBLE)" for end in ends) or "0"


def _search(value: str, ends: tuple[float, ...], index: int) -> str:
    if not ends:
        return str(index)
    middle = len(ends) // 2
    lower, upper = _search(value, ends[:middle], index), _search(value, ends[middle + 1 :], index + middle + 1)
    return f"CASE WHEN {value} < {double(ends[middle])} THEN {lower} ELSE {upper} END"


def whole_label(first: Decimal, last: Decimal) -> str:
    """Return the numbers from the first to the last: a single one by itself, negative ones with a word between.

    >>> whole_label(Decimal(10), Decimal(19)), whole_label(Decimal(7), Decimal(7)), whole_label(Decimal(-9), Decimal(0))
    ('10–19', '7', '-9 to 0')
    """
    if first == last:
        return f"{first:f}"
    return f"{first:f} to {last:f}" if first < 0 else f"{first:f}–{last:f}"


def check_whole(publication: Iterable[tuple[str, Number]]) -> None:
    """Refuse ends and widths with a fraction, where classes are of whole numbers."""
    for name, value in publication:
        if exact(name, value) != exact(name, value).to_integral_value():
            message = (
                f"`whole = true` declares whole numbers, and {name} is {value}. Use a whole number, or remove whole."
            )
            raise InvalidInput(message, where=name, code="recoding.whole")


def whole_sql(value: str) -> str:
    """Return SQL for whether a number has no fraction."""
    return f"{value} = floor({value})"

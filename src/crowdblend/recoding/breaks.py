"""Intervals between declared breaks, with optional bottom and top coding.

The class between two breaks holds its lower end and not its upper end. Values below the first break or at and above
the last one are outside the domain unless `bottom` or `top` gives them a class.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

from crowdblend.errors import InvalidInput
from crowdblend.recoding.classes import LARGEST_DOMAIN, Computed
from crowdblend.recoding.reading import Number, double, exact, number, number_sql, plain, plain_digits
from crowdblend.recoding.whole_numbers import check_whole, whole_label, whole_sql


@dataclass(frozen=True)
class Breaks(Computed):
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
                "Add one, or let bottom = true or top = true take what lies beyond.",
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
                raise InvalidInput(
                    f"breaks must rise, got {low} before {high}. Sort them and drop repeats.",
                    where="breaks",
                    code="recoding.order",
                )
        if self.whole:
            check_whole(("breaks", value) for value in self.breaks)
        super().__post_init__()

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        return tuple(float(exact("breaks", value)) for value in self.breaks)

    def declaration(self) -> dict[str, Any]:
        """The breaks, and what lies beyond them."""
        breaks = [plain(end) for end in self.breaks]
        beyond = {"bottom": self.bottom, "top": self.top}
        return {"recoding": "breaks", "breaks": breaks, **beyond, **({"whole": True} if self.whole else {})}

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
        """The position of the class that holds the number."""
        read = number(value)
        if read is None or (self.whole and not read.is_integer()):
            return None
        code = bisect_right(self._ends, read) - 1 + self.bottom
        return code if 0 <= code < len(self.own_labels) else None

    def own_sql(self, column: str, typed: bool) -> str:
        """A binary search in nested comparisons, bounded on both sides so that NaN and the infinities stay out."""
        value = f"({number_sql(column, typed)})"
        above = f"{value} > CAST('-inf' AS DOUBLE)" if self.bottom else f"{value} >= {double(self._ends[0])}"
        below = f"{value} < CAST('inf' AS DOUBLE)" if self.top else f"{value} < {double(self._ends[-1])}"
        # between classes i and i+1 lies this end, whichever classes there are
        ends = self._ends[0 if self.bottom else 1 : None if self.top else -1]
        fits = f" AND {whole_sql(value)}" if self.whole else ""
        return f"CASE WHEN {above} AND {below}{fits} THEN {_search(value, ends, 0)} END"


def _search(value: str, ends: tuple[float, ...], passed: int) -> str:
    if not ends:
        return str(passed)
    middle = len(ends) // 2
    lower, upper = _search(value, ends[:middle], passed), _search(value, ends[middle + 1 :], passed + middle + 1)
    return f"CASE WHEN {value} < {double(ends[middle])} THEN {lower} ELSE {upper} END"

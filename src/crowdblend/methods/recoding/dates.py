"""Dates cut to a year, quarter, month, ISO week or day.

Without bounds the domain is open. With them it is the days from `start` up to, not including, `stop` (`include_stop`
adds that day), and the classes are all the periods that these days touch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import LARGEST_DOMAIN, ComputedRecoding, Open
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.reading import FIRST_DAY, LAST_DAY, day, day_sql

Period: TypeAlias = Literal["year", "quarter", "month", "week", "day"]
_MONDAY = date(1, 1, 1)  # weeks are counted from it


class _Rules(NamedTuple):
    """A period's fewest days, and for a day in Python and SQL its number, one more than the last one's, and label."""

    shortest: int
    number: Callable[[date], int]
    number_sql: str
    label: Callable[[date], str]
    label_sql: str


_RULES: dict[Period, _Rules] = {
    "year": _Rules(365, lambda on: on.year, "year({0})", lambda on: f"{on.year:04d}", "strftime({0}, '%Y')"),
    "quarter": _Rules(
        90,
        lambda on: on.year * 4 + (on.month - 1) // 3,
        "year({0}) * 4 + quarter({0}) - 1",
        lambda on: f"{on.year:04d}-Q{(on.month - 1) // 3 + 1}",
        "strftime({0}, '%Y') || '-Q' || quarter({0})",
    ),
    "month": _Rules(
        28,
        lambda on: on.year * 12 + on.month - 1,
        "year({0}) * 12 + month({0}) - 1",
        lambda on: f"{on.year:04d}-{on.month:02d}",
        "strftime({0}, '%Y-%m')",
    ),
    "week": _Rules(
        7,
        lambda on: (on - _MONDAY).days // 7,
        "(({0}) - DATE '0001-01-01') // 7",
        lambda on: "{:04d}-W{:02d}".format(*on.isocalendar()),
        "lpad(CAST(isoyear({0}) AS VARCHAR), 4, '0') || '-W' || lpad(CAST(week({0}) AS VARCHAR), 2, '0')",
    ),
    "day": _Rules(
        1, lambda on: (on - _MONDAY).days, "({0}) - DATE '0001-01-01'", date.isoformat, "strftime({0}, '%Y-%m-%d')"
    ),
}
PERIODS = tuple(_RULES)


def _check_period(period: str) -> None:
    if period not in PERIODS:
        message = f"date must be one of {', '.join(PERIODS)}, got {period!r}. Pick the coarsest that serves."
        raise InvalidInput(message, where="date", code="recoding.period")


@dataclass(frozen=True)
class Dates(Open):
    """The period of any date.

    >>> Dates("quarter").label("2024-02-29")
    '2024-Q1'
    """

    period: Period

    reads: ClassVar[Literal["date"]] = "date"

    def __post_init__(self) -> None:
        _check_period(self.period)
        super().__post_init__()

    def declaration(self) -> Domain:
        """Return the period."""
        return Domain(recoding="dates", period=self.period)

    def own_label(self, value: str) -> str | None:
        """Return the period's label, or None when the text is no date."""
        when = day(value)
        return None if when is None else _RULES[self.period].label(when)

    def own_label_sql(self, column: str, typed: bool) -> str:
        """Return the period's label, NULL for what is no date of the years 0001 to 9999."""
        when = f"({day_sql(column, typed)})"
        inside = f"{when} BETWEEN DATE '{FIRST_DAY.isoformat()}' AND DATE '{LAST_DAY.isoformat()}'"
        return f"CASE WHEN {inside} THEN {_RULES[self.period].label_sql.format(when)} END"


@dataclass(frozen=True)
class DateRange(ComputedRecoding):
    """The periods between two days.

    >>> born = DateRange("year", date(1990, 1, 1), date(1993, 1, 1))
    >>> born.labels, born.code("1992-12-31"), born.code("1993-01-01")
    (('1990', '1991', '1992'), 2, None)
    """

    period: Period
    start: date
    stop: date
    include_stop: bool = False

    reads: ClassVar[Literal["date"]] = "date"

    def __post_init__(self) -> None:
        _check_period(self.period)
        if self.start > self.last:
            message = f"from must be before to, got from {self.start}, to {self.stop}. Swap or widen them."
            raise InvalidInput(message, where="from", code="recoding.order")
        if self.place(self.last) >= LARGEST_DOMAIN:
            message = f"A column may have at most {LARGEST_DOMAIN} periods. Use a coarser date."
            raise InvalidInput(message, where="date", code="recoding.size")
        super().__post_init__()

    def declaration(self) -> Domain:
        """Return the period, and the first and the last day."""
        start, to = self.start.isoformat(), self.stop.isoformat()
        return Domain(recoding="dates", period=self.period, start=start, to=to, include_to=self.include_stop)

    @property
    def last(self) -> date:
        """The last day of the domain."""
        if self.include_stop:
            return self.stop
        if self.stop == FIRST_DAY:
            message = f"from must be before to, got from {self.start}, to {self.stop}. Swap or widen them."
            raise InvalidInput(message, where="from", code="recoding.order")
        return self.stop - timedelta(days=1)

    @cached_property
    def days(self) -> tuple[date, ...]:
        """One day of every period that the range touches."""
        first, last = self.start.toordinal(), self.last.toordinal()
        # No period is shorter than its step, so that none is stepped over.
        days = map(date.fromordinal, (*range(first, last, _RULES[self.period].shortest), last))
        return tuple({_RULES[self.period].number(when): when for when in days}.values())

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """Every period that the range touches."""
        return tuple(map(_RULES[self.period].label, self.days))

    def own_code(self, value: str) -> int | None:
        """Return the number of periods from the first one to the date; None outside the range."""
        when = day(value)
        return self.place(when) if when is not None and self.start <= when <= self.last else None

    def place(self, when: date) -> int:
        """Return the number of periods from the first one to a day of the range."""
        return _RULES[self.period].number(when) - _RULES[self.period].number(self.start)

    def own_sql(self, column: str, typed: bool) -> str:
        """The same count in SQL."""
        return self._counted_sql(f"({day_sql(column, typed)})", "{}")

    def own_quick_sql(self, column: str, _whole: bool) -> str:
        """The same in doubles."""
        return self._counted_sql(f"({day_sql(column, typed=True)})", "CAST({} AS DOUBLE)")

    def _counted_sql(self, when: str, number: str) -> str:
        inside = f"{when} BETWEEN DATE '{self.start.isoformat()}' AND DATE '{self.last.isoformat()}'"
        period, first = _RULES[self.period].number_sql.format(when), _RULES[self.period].number(self.start)
        return f"CASE WHEN {inside} THEN {number.format(period)} - {first} END"

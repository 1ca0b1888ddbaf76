"""Dates cut to a year, quarter, month, ISO week or day.

Without bounds the domain is open. With them it is the days from `start` up to, not including, `stop` (`include_stop`
adds that day), and the classes are all the periods that these days touch.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.recoding.classes import LARGEST_DOMAIN, ComputedRecoding, Open
from crowdblend.recoding.domain import Domain
from crowdblend.recoding.reading import FIRST_DAY, LAST_DAY, day, day_sql

Period: TypeAlias = Literal["year", "quarter", "month", "week", "day"]
PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day")

_SHORTEST: dict[Period, int] = {"year": 365, "quarter": 90, "month": 28, "week": 7, "day": 1}
_MONDAY = date(1, 1, 1)  # a Monday, so that weeks are counted from it
_NUMBER_SQL = {
    "year": "year({0})",
    "quarter": "year({0}) * 4 + quarter({0}) - 1",
    "month": "year({0}) * 12 + month({0}) - 1",
    "week": "(({0}) - DATE '0001-01-01') // 7",
    "day": "({0}) - DATE '0001-01-01'",
}
_LABEL_SQL = {
    "year": "strftime({0}, '%Y')",
    "quarter": "strftime({0}, '%Y') || '-Q' || quarter({0})",
    "month": "strftime({0}, '%Y-%m')",
    "week": "lpad(CAST(isoyear({0}) AS VARCHAR), 4, '0') || '-W' || lpad(CAST(week({0}) AS VARCHAR), 2, '0')",
    "day": "strftime({0}, '%Y-%m-%d')",
}


def period_number(period: Period, when: date) -> int:
    """Return a whole number that rises by one from each period to the next."""
    match period:
        case "year":
            return when.year
        case "quarter":
            return when.year * 4 + (when.month - 1) // 3
        case "month":
            return when.year * 12 + when.month - 1
        case "week":
            return (when - _MONDAY).days // 7
        case "day":
            return (when - _MONDAY).days


def period_label(period: Period, when: date) -> str:
    """Return the period as people write it: 2024, 2024-Q1, 2024-02, 2024-W09 or 2024-02-29."""
    match period:
        case "year":
            return f"{when.year:04d}"
        case "quarter":
            return f"{when.year:04d}-Q{(when.month - 1) // 3 + 1}"
        case "month":
            return f"{when.year:04d}-{when.month:02d}"
        case "week":
            year, week, _ = when.isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "day":
            return when.isoformat()


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
        return None if when is None else period_label(self.period, when)

    def own_label_sql(self, column: str, typed: bool) -> str:
        """Return the period's label, NULL for what is no date of the years 0001 to 9999."""
        when = f"({day_sql(column, typed)})"
        inside = f"{when} BETWEEN DATE '{FIRST_DAY.isoformat()}' AND DATE '{LAST_DAY.isoformat()}'"
        return f"CASE WHEN {inside} THEN {_LABEL_SQL[self.period].format(when)} END"


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
        if period_number(self.period, self.last) - period_number(self.period, self.start) >= LARGEST_DOMAIN:
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
        days = map(date.fromordinal, (*range(first, last, _SHORTEST[self.period]), last))
        return tuple({period_number(self.period, when): when for when in days}.values())

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """Every period that the range touches."""
        return tuple(period_label(self.period, when) for when in self.days)

    def own_code(self, value: str) -> int | None:
        """Return the number of periods from the first one to the date; None outside the range."""
        when = day(value)
        return self.place(when) if when is not None and self.start <= when <= self.last else None

    def place(self, when: date) -> int:
        """Return the number of periods from the first one to a day of the range."""
        return period_number(self.period, when) - period_number(self.period, self.start)

    def own_sql(self, column: str, typed: bool) -> str:
        """The same count in SQL."""
        when = f"({day_sql(column, typed)})"
        inside = f"{when} BETWEEN DATE '{self.start.isoformat()}' AND DATE '{self.last.isoformat()}'"
        first = period_number(self.period, self.start)
        return f"CASE WHEN {inside} THEN {_NUMBER_SQL[self.period].format(when)} - {first} END"

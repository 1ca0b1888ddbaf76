"""The ways to declare a column's domain, each with the keys it has.

    values       a class for each listed value
    width        intervals of equal width
    breaks       intervals between breaks
    prefix       the first characters
    date         periods
    hierarchy    groups from a file
    resolution   numbers between bounds: to be averaged (statistics), or axes of points

A domain is declared from what is known beforehand, never read off the data.
"""

from __future__ import annotations

import datetime
import re
import warnings
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec.structs import force_setattr

from crowdblend.notation import Caution
from crowdblend.policies.key import Rule, Section, key
from crowdblend.policies.refusals import naming, refusal, show_value
from crowdblend.policies.rules import needs, one_of
from crowdblend.policies.value_types import Exact, Exacts, FilePath, Level, Period, Periods, Texts, Wholes, Widths
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.recoding import axes, bounded_recoding, classes, dates, hierarchies, intervals, values

_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_PERIODS: tuple[Period, ...] = get_args(Period)
Other = Annotated[str | None, key("The class of every value outside the domain.")]
Missing = Annotated[str | None, key("The class of NULL and empty values.")]
Weight = Annotated[float | None, key("How much the column matters when the recoding is chosen; 1 unless given.")]
Bottom = Annotated[bool, key('Give values below the domain the class "< first".')]
Top = Annotated[bool, key('Give values above the domain the class "≥ last".')]
IncludeTo = Annotated[bool, key("Count the upper end itself into the last class.")]
Whole = Annotated[
    bool,
    key("The values are whole numbers: classes are called 10–19, not [10, 20), and a fraction is outside the domain."),
]
Lower = Annotated[Exact, key("The lower end, included.", name="from")]
Upper = Annotated[Exact, key("The upper bound, included.", name="to")]


class Domain(Section, frozen=True, kw_only=True):
    """The declared domain of a column."""

    way: ClassVar[str]

    def recodings(self) -> tuple[classes.Recoding, ...]:
        """Return the recodings that the column may take, finest first; none where it has no classes."""
        raise NotImplementedError

    @property
    def importance(self) -> float:
        """The importance of the column when the recoding is chosen."""
        weight = getattr(self, "weight", None)
        if weight is not None and not weight > 0:
            raise refusal("weight", f"weight is {show_value(weight)}.", "Give the column a weight above 0.", "weight")
        return 1.0 if weight is None else float(weight)


class ValueDomain(Domain, frozen=True, kw_only=True):
    """Listed values."""

    way = "values"

    values: Annotated[Texts, key("The values, kept as they are.")]
    other: Other = None
    missing: Missing = None

    def recodings(self) -> tuple[classes.Recoding, ...]:
        return (values.Values(self.values, other=self.other, missing=self.missing),)


class IntervalDomain(Domain, frozen=True, kw_only=True):
    """Intervals of equal width, or of several widths to choose from."""

    way = "width"

    start: Lower
    stop: Annotated[Exact, key("The upper end, excluded unless `include_to = true`.", name="to")]
    width: Annotated[Widths, key("The width of every interval, or several to choose from, finest first.")]
    include_to: IncludeTo = False
    bottom: Bottom = False
    top: Top = False
    whole: Whole = False
    other: Other = None
    missing: Missing = None
    weight: Weight = None

    def __post_init__(self) -> None:
        super().__post_init__()
        finest = self.width[0] if isinstance(self.width, tuple) and self.width else self.width
        if self.include_to and not self.top and finest == 1 and self.start == int(self.start):
            message = (
                f"include_to puts {self.stop - 1} and {self.stop} into one class, the last one. "
                f"Write `to = {self.stop + 1}` without `include_to` for a class of each."
            )
            warnings.warn(Caution(message), stacklevel=3)

    def recodings(self) -> tuple[classes.Recoding, ...]:
        given = {name: getattr(self, name) for name in ("bottom", "top", "whole", "other", "missing")}
        if isinstance(self.width, tuple):
            _check_rising("width", self.width)
        return tuple(
            intervals.Intervals(self.start, self.stop, width, include_stop=self.include_to, **given)
            for width in (self.width if isinstance(self.width, tuple) else (self.width,))
        )


class BreakDomain(Domain, frozen=True, kw_only=True):
    """Intervals between rising breaks."""

    way = "breaks"

    breaks: Annotated[Exacts, key("The rising ends of the classes.")]
    bottom: Bottom = False
    top: Top = False
    whole: Whole = False
    other: Other = None
    missing: Missing = None

    def recodings(self) -> tuple[classes.Recoding, ...]:
        given = {name: getattr(self, name) for name in ("bottom", "top", "whole", "other", "missing")}
        return (intervals.Breaks(self.breaks, **given),)


class PrefixDomain(Domain, frozen=True, kw_only=True):
    """The first characters of a text."""

    way = "prefix"

    prefix: Annotated[int, key("How many characters to keep.")]
    missing: Missing = None

    def recodings(self) -> tuple[classes.Recoding, ...]:
        return (values.Prefixes(self.prefix, missing=self.missing),)


class DateDomain(Domain, frozen=True, kw_only=True):
    """Periods, or several to choose from; from and to together close the domain."""

    way = "date"
    rules: ClassVar[tuple[Rule, ...]] = (
        needs("start", "stop", code="date"),
        needs("stop", "start", code="date"),
        needs("include_to", "stop", code="date"),
    )

    date: Annotated[
        Periods,
        key("The period to cut to: year, quarter, month, week or day; or several to choose from, finest first."),
    ]
    start: Annotated[
        datetime.date | None, key("The first day, such as 1990-01-01; 1990 is its first day.", name="from")
    ] = None
    stop: Annotated[
        datetime.date | None,
        key(
            "The last day, excluded unless `include_to = true`; a month or year is its first day, or then its last.",
            name="to",
        ),
    ] = None
    include_to: IncludeTo = False
    other: Other = None
    missing: Missing = None
    weight: Weight = None

    def __post_init__(self) -> None:
        force_setattr(self, "start", _day(self.start))
        force_setattr(self, "stop", _day(self.stop, last=self.include_to is True))
        super().__post_init__()

    def recodings(self) -> tuple[classes.Recoding, ...]:
        periods = self.date if isinstance(self.date, tuple) else (self.date,)
        if isinstance(self.date, tuple):
            _check_rising("date", tuple(map(_PERIODS.index, periods)))
            if periods[0] == "week":
                message = "A week can lie in two months, so that longer periods are not made of weeks."
                raise refusal("offer", message, 'Begin with "day", as in ["day", "week", "month", "year"].', "date")
        if self.start is None or self.stop is None:
            if len(periods) > 1:
                raise refusal("offer", "Several periods need from and to.", "Add the first and the last day.", "from")
            return (dates.Dates(periods[0], other=self.other, missing=self.missing),)
        first, last, beyond = self.start, self.stop, {"other": self.other, "missing": self.missing}
        return tuple(dates.DateRange(period, first, last, include_stop=self.include_to, **beyond) for period in periods)


class HierarchyDomain(Domain, frozen=True, kw_only=True):
    """Groups from a file; one level is published, or several are offered."""

    way = "hierarchy"
    rules: ClassVar[tuple[Rule, ...]] = (one_of("level", "levels", code="hierarchy"),)

    hierarchy: Annotated[FilePath, key("A file: one value a line, then its group at each level, with ';' between.")]
    level: Annotated[
        Level | None, key('The level to publish; 0 keeps the values themselves, "choose" offers all levels.')
    ] = None
    levels: Annotated[Wholes | None, key("The levels to choose from, finest first.")] = None
    other: Other = None
    missing: Missing = None
    weight: Weight = None

    def recodings(self) -> tuple[classes.Recoding, ...]:
        lines = hierarchies.read_hierarchy(Path(self.hierarchy))
        first = self.level if isinstance(self.level, int) else 0
        finest = naming(
            f"hierarchy {Path(self.hierarchy).name!r}",
            lambda: hierarchies.Hierarchies(lines, first, other=self.other, missing=self.missing),
        )
        if isinstance(self.level, int):
            return (finest,)
        if self.level is not None and finest.levels < 2:
            raise refusal(
                "hierarchy", "The hierarchy has one level, which leaves no choice.", "Write `level = 0`.", "level"
            )
        if self.levels is not None:
            _check_rising("levels", self.levels)
        return tuple(finest.at(level) for level in (range(finest.levels) if self.levels is None else self.levels))


class NumberDomain(Domain, frozen=True, kw_only=True):
    """Numbers between two bounds, to be averaged."""

    way = "resolution"

    start: Lower
    stop: Upper
    resolution: Annotated[Exact, key("Values are rounded to whole multiples of this, counted from from.")]
    outside: Annotated[Literal["refuse", "clamp"], key("What happens to values beyond the bounds.")] = "refuse"
    blank: Annotated[Exact | None, key("The value that NULL and empty values count as.")] = None

    def recodings(self) -> tuple[classes.Recoding, ...]:
        """Return none: an average has no classes."""
        return ()

    def bounds(self) -> bounded_recoding.BoundedRecoding:
        """Return the numbers as totals see them."""
        return bounded_recoding.BoundedRecoding(self.start, self.stop, self.resolution, self.outside, self.blank)


class AxisDomain(Domain, frozen=True, kw_only=True):
    """An axis of points."""

    way = "resolution"

    start: Lower
    stop: Upper
    resolution: Annotated[Exact, key("The steps to which coordinates are rounded before noise is added.")]
    width: Annotated[
        Exact | None, key("The width of the blocks, a whole number of resolutions; not with boxes or a quadtree.")
    ] = None
    outside: Annotated[Literal["refuse", "drop"], key("What happens to people without a place in the bounds.")] = (
        "refuse"
    )

    def recodings(self) -> tuple[classes.Recoding, ...]:
        return (self.axis(),)

    def axis(self) -> axes.Axis:
        """Return the steps of the resolution between the bounds."""
        dropped = "outside" if self.outside == "drop" else None
        return axes.Axis(self.start, self.stop, self.resolution, other=dropped)


DOMAINS: dict[str, type[Domain]] = {
    domain.way: domain
    for domain in (ValueDomain, IntervalDomain, BreakDomain, PrefixDomain, DateDomain, HierarchyDomain, NumberDomain)
}


def _day(context: object, *, last: bool = False) -> Any:
    """Return the day that a text or a year means, the first one of a month or year, or its last; others as they are.

    >>> _day("2024-02-29"), _day(2024), _day("2024-02", last=True), _day("February")
    (datetime.date(2024, 2, 29), datetime.date(2024, 1, 1), datetime.date(2024, 2, 29), 'February')
    """
    text = str(context) if isinstance(context, str | int) and not isinstance(context, bool) else ""
    if not (parts := _DAY.fullmatch(text.strip())):
        return context
    year, month, day = (int(part) if part else None for part in parts.groups())
    try:
        first = datetime.date(year or 0, month or 1, day or 1)
        if not last or day is not None:
            return first
        after = datetime.date(year or 0, (month or 12), 28) + datetime.timedelta(days=4)
        return after - datetime.timedelta(days=after.day)
    except (ValueError, OverflowError):
        return context


def _check_rising(name: str, values: tuple[int | Decimal, ...]) -> None:
    if len(values) < 2 or any(low >= high for low, high in pairwise(values)):
        message = f"{name} offers {show_value(values)}, which are not two or more rising values."
        raise refusal("offer", message, "Sort them finest first, or give a single one.", name)

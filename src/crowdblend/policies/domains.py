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
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crowdblend.policies.key import Section, key, naming, refusal
from crowdblend.policies.values import shown

if TYPE_CHECKING:
    from crowdblend.recoding import Axis, Bounded, Recoding

_OTHER = "The class of every value outside the domain."
_MISSING = "The class of NULL and empty values."
_WEIGHT = "How much the column matters when the recoding is chosen; 1 unless given."
_BOTTOM = 'Give values below the domain the class "< first".'
_TOP = 'Give values above the domain the class "≥ last".'
_INCLUDE = "Count the value of to into the last class."
_WHOLE = "The values are whole numbers: classes are called 10–19, not [10, 20), and a fraction is outside the domain."
_PERIODS = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True, kw_only=True)
class Domain(Section):
    """The declared domain of a column."""

    way: ClassVar[str]

    def recodings(self) -> tuple[Recoding, ...]:
        """The recodings that the column may take, finest first; none where it has no classes."""
        raise NotImplementedError

    @property
    def importance(self) -> float:
        """How much the column matters when the recoding is chosen."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class ValueDomain(Domain):
    """Listed values."""

    way = "values"

    values: tuple[str, ...] = key("The values, kept as they are.", required=True)
    other: str | None = key(_OTHER)
    missing: str | None = key(_MISSING)

    def recodings(self) -> tuple[Recoding, ...]:
        """A class for each value."""
        from crowdblend.recoding import Values  # noqa: PLC0415

        return (Values(self.values, other=self.other, missing=self.missing),)


@dataclass(frozen=True, kw_only=True)
class IntervalDomain(Domain):
    """Intervals of equal width, or of several widths to choose from."""

    way = "width"

    start: Any = key("The lower end, included.", name="from", kind="decimal", required=True)
    stop: Any = key("The upper end, excluded unless include_to is true.", name="to", kind="decimal", required=True)
    width: Any = key(
        "The width of every interval, or several to choose from, finest first.", kind="widths", required=True
    )
    include_to: bool = key(_INCLUDE, default=False)
    bottom: bool = key(_BOTTOM, default=False)
    top: bool = key(_TOP, default=False)
    whole: bool = key(_WHOLE, default=False)
    other: str | None = key(_OTHER)
    missing: str | None = key(_MISSING)
    weight: float | None = key(_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        finest = self.width[0] if isinstance(self.width, tuple) and self.width else self.width
        if self.include_to and not self.top and finest == 1 and self.start == int(self.start):
            message = (
                f"include_to puts {self.stop - 1} and {self.stop} into one class, the last one. "
                f"Write to = {self.stop + 1} without include_to for a class of each."
            )
            warnings.warn(message, stacklevel=3)

    def recodings(self) -> tuple[Recoding, ...]:
        """The intervals for each width."""
        from crowdblend.recoding import Intervals  # noqa: PLC0415

        widths = self.width if isinstance(self.width, tuple) else (self.width,)
        if isinstance(self.width, tuple):
            _check_rising("width", widths)
        return tuple(
            Intervals(
                self.start,
                self.stop,
                width,
                include_stop=self.include_to,
                bottom=self.bottom,
                top=self.top,
                whole=self.whole,
                other=self.other,
                missing=self.missing,
            )
            for width in widths
        )

    @property
    def importance(self) -> float:
        """The weight."""
        return _weight(self.weight)


@dataclass(frozen=True, kw_only=True)
class BreakDomain(Domain):
    """Intervals between rising breaks."""

    way = "breaks"

    breaks: Any = key("The rising ends of the classes.", kind="numbers", required=True)
    bottom: bool = key(_BOTTOM, default=False)
    top: bool = key(_TOP, default=False)
    whole: bool = key(_WHOLE, default=False)
    other: str | None = key(_OTHER)
    missing: str | None = key(_MISSING)

    def recodings(self) -> tuple[Recoding, ...]:
        """The intervals between the breaks."""
        from crowdblend.recoding import Breaks  # noqa: PLC0415

        beyond = {"bottom": self.bottom, "top": self.top, "whole": self.whole}
        return (Breaks(self.breaks, **beyond, other=self.other, missing=self.missing),)


@dataclass(frozen=True, kw_only=True)
class PrefixDomain(Domain):
    """The first characters of a text."""

    way = "prefix"

    prefix: int = key("How many characters to keep.", required=True)
    missing: str | None = key(_MISSING)

    def recodings(self) -> tuple[Recoding, ...]:
        """The prefixes."""
        from crowdblend.recoding import Prefixes  # noqa: PLC0415

        return (Prefixes(self.prefix, missing=self.missing),)


@dataclass(frozen=True, kw_only=True)
class DateDomain(Domain):
    """Periods, or several to choose from; from and to together close the domain."""

    way = "date"

    date: Any = key(
        "The period to cut to: year, quarter, month, week or day; or several to choose from, finest first.",
        kind="periods",
        required=True,
    )
    start: datetime.date | None = key("The first day.", name="from", kind="day")
    stop: datetime.date | None = key("The last day, excluded unless include_to is true.", name="to", kind="day")
    include_to: bool = key(_INCLUDE, default=False)
    other: str | None = key(_OTHER)
    missing: str | None = key(_MISSING)
    weight: float | None = key(_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        for period in self.date if isinstance(self.date, tuple) else (self.date,):
            if period not in _PERIODS:
                raise refusal("choice", f"date takes {', '.join(_PERIODS)}, got {shown(period)}.", "Use one.", "date")

    def recodings(self) -> tuple[Recoding, ...]:
        """The periods of each level that is offered."""
        from crowdblend.recoding import DateRange, Dates  # noqa: PLC0415

        periods = self.date if isinstance(self.date, tuple) else (self.date,)
        if isinstance(self.date, tuple):
            self._check_offer(periods)
        if self.start is None and self.stop is None:
            if self.include_to:
                raise refusal("date", "include_to needs from and to.", "Add them, or remove include_to.", "include_to")
            return (Dates(periods[0], other=self.other, missing=self.missing),)
        if self.start is None or self.stop is None:
            raise refusal("date", "Only one of from and to is given.", "Add the other bound.", "from")
        first, last = self.start, self.stop
        return tuple(
            DateRange(period, first, last, include_stop=self.include_to, other=self.other, missing=self.missing)
            for period in periods
        )

    def _check_offer(self, periods: tuple[Any, ...]) -> None:
        """Periods to choose from are two or more, each a union of the first ones, over a domain with two ends."""
        places = [_PERIODS.index(period) for period in periods]
        _check_rising("date", tuple(places) if len(places) > 1 else ())
        if self.start is None and self.stop is None:
            raise refusal("offer", "Several periods need from and to.", "Add the first and the last day.", "from")
        if periods[0] == "week" and len(periods) > 1:
            raise refusal(
                "offer",
                "A week can lie in two months, so that longer periods are not made of weeks.",
                'Begin with "day", as in ["day", "week", "month", "year"].',
                "date",
            )

    @property
    def importance(self) -> float:
        """The weight."""
        return _weight(self.weight)


@dataclass(frozen=True, kw_only=True)
class HierarchyDomain(Domain):
    """Groups from a file; one level is published, or several are offered."""

    way = "hierarchy"

    hierarchy: str = key(
        "A file: one value a line, then its group at each level, with ';' between.", kind="path", required=True
    )
    level: Any = key('The level to publish; 0 keeps the values themselves, "choose" offers all levels.', kind="level")
    levels: Any = key("The levels to choose from, finest first.", kind="wholes")
    other: str | None = key(_OTHER)
    missing: str | None = key(_MISSING)
    weight: float | None = key(_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.level is None) == (self.levels is None):
            raise refusal(
                "hierarchy",
                "A hierarchy needs either level or levels.",
                "Give the level, or those to choose from.",
                "level",
            )

    def recodings(self) -> tuple[Recoding, ...]:
        """The groups at each level that is offered."""
        from crowdblend.recoding import Hierarchies, read_hierarchy  # noqa: PLC0415

        lines = read_hierarchy(Path(self.hierarchy))
        everything = self.level == "choose"
        first = 0 if everything or self.level is None else self.level
        finest = naming(
            f"hierarchy {Path(self.hierarchy).name!r}",
            lambda: Hierarchies(lines, first, other=self.other, missing=self.missing),
        )
        if everything and finest.levels < 2:
            raise refusal(
                "hierarchy", "The hierarchy has one level, which leaves no choice.", "Write level = 0.", "level"
            )
        if everything:
            return tuple(finest.at(level) for level in range(finest.levels))
        if self.level is not None:
            return (finest,)
        _check_rising("levels", self.levels)
        return tuple(finest.at(level) for level in self.levels)

    @property
    def importance(self) -> float:
        """The weight."""
        return _weight(self.weight)


@dataclass(frozen=True, kw_only=True)
class NumberDomain(Domain):
    """Numbers between two bounds, to be averaged."""

    way = "resolution"

    start: Any = key("The lower bound, included.", name="from", kind="decimal", required=True)
    stop: Any = key("The upper bound, included.", name="to", kind="decimal", required=True)
    resolution: Any = key(
        "Values are rounded to whole multiples of this, counted from from.", kind="decimal", required=True
    )
    outside: Literal["refuse", "clamp"] = key("What happens to values beyond the bounds.", default="refuse")
    blank: Any = key("The value that NULL and empty values count as.", kind="decimal")

    def recodings(self) -> tuple[Recoding, ...]:
        """None: an average has no classes."""
        return ()

    def bounds(self) -> Bounded:
        """The numbers as totals see them."""
        from crowdblend.recoding import Bounded  # noqa: PLC0415

        return Bounded(self.start, self.stop, self.resolution, self.outside, self.blank)


@dataclass(frozen=True, kw_only=True)
class AxisDomain(Domain):
    """An axis of points."""

    way = "resolution"

    start: Any = key("The lower bound, included.", name="from", kind="decimal", required=True)
    stop: Any = key("The upper bound, included.", name="to", kind="decimal", required=True)
    resolution: Any = key(
        "The steps to which coordinates are rounded before noise is added.", kind="decimal", required=True
    )
    width: Any = key(
        "The width of the blocks, a whole number of resolutions; not with boxes or a quadtree.", kind="decimal"
    )
    outside: Literal["refuse", "drop"] = key("What happens to people without a place in the bounds.", default="refuse")

    def recodings(self) -> tuple[Recoding, ...]:
        """The axis alone."""
        return (self.axis(),)

    def axis(self) -> Axis:
        """The steps of the resolution between the bounds."""
        from crowdblend.recoding import Axis  # noqa: PLC0415

        return Axis.declared(self.start, self.stop, self.resolution, drop=self.outside == "drop")


DOMAINS: dict[str, type[Domain]] = {
    domain.way: domain
    for domain in (ValueDomain, IntervalDomain, BreakDomain, PrefixDomain, DateDomain, HierarchyDomain, NumberDomain)
}


def _weight(value: float | None) -> float:
    if value is not None and not value > 0:
        raise refusal("weight", f"weight is {shown(value)}.", "Give the column a weight above 0.", "weight")
    return 1.0 if value is None else float(value)


def _check_rising(name: str, values: tuple[Any, ...]) -> None:
    if len(values) < 2 or any(low >= high for low, high in pairwise(values)):
        raise refusal(
            "offer",
            f"{name} offers {shown(values)}, which are not two or more rising values.",
            "Sort them finest first, or give a single one.",
            name,
        )

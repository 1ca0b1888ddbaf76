"""Numbers between two bounds, on a grid: what is averaged, added up, or ordered.

A value becomes a whole number of steps from the lower bound, rounded to the nearest step. Bounds and grid are declared,
never read off the data, so one person moves a sum by no more than the steps between the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import ComputedRecoding
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.reading import (
    Number,
    blank_sql,
    double,
    exact,
    exact_range,
    is_blank,
    number,
    number_sql,
    plain,
)

MOST_STEPS = 2**31


@dataclass(frozen=True)
class BoundedRecoding:
    """Whole steps of `resolution` from `start` to `stop`; `blank` is the value that no value counts as.

    >>> income = BoundedRecoding(0, 100_000, 500, outside="clamp")
    >>> income.steps, income.code("1740"), income.code("250000"), income.code("")
    (200, 3, 200, None)
    """

    start: Number
    stop: Number
    resolution: Number
    outside: Literal["refuse", "clamp"] = "refuse"
    blank: Number | None = None

    def __post_init__(self) -> None:
        start, stop, _ = self._declaration
        if self.blank is not None and not start <= Fraction(exact("blank", self.blank)) <= stop:
            message = f"blank must lie between from and to, got {self.blank}. Choose a value between them."
            raise InvalidInput(message, where="blank", code="recoding.blank")

    @cached_property
    def _declaration(self) -> tuple[Fraction, Fraction, Fraction]:
        return exact_range(self.start, self.stop, self.resolution, unit="resolution", most=MOST_STEPS)

    @property
    def steps(self) -> int:
        """The number of steps between the bounds."""
        start, stop, resolution = self._declaration
        return int((stop - start) / resolution)

    @property
    def from_zero(self) -> int | None:
        """The steps from 0 to the upper bound; None if values may be negative or 0 is off the grid."""
        start, stop, resolution = self._declaration
        return int(stop / resolution) if start >= 0 and start % resolution == 0 else None

    def value(self, steps: Fraction) -> Fraction:
        """Return the value that lies this many steps above the lower bound, kept between the bounds."""
        start, stop, resolution = self._declaration
        return min(max(start, start + resolution * steps), stop)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds, exactly."""
        start, stop, _ = self._declaration
        return start, stop

    def code(self, value: str | None) -> int | None:
        """Return the steps of a raw value, or None when it is refused."""
        if value is None or is_blank(value):
            return None if self.blank is None else self._steps(float(self.blank))
        read = number(value)
        return None if read is None else self._steps(read)

    def sql(self, column: str, typed: bool = False) -> str:
        """Return the BIGINT steps in SQL, NULL where the value is refused."""
        value = f"({number_sql(column, typed)})"
        low, high, step = map(double, self._ends)
        inside = f"least(floor(({value} - {low}) / {step} + CAST(0.5 AS DOUBLE)), {self.steps})"
        whens = [f"WHEN {value} >= {low} AND {value} <= {high} THEN {inside}"]
        if self.outside == "clamp":
            whens.append(f"WHEN {value} < {low} AND {value} > CAST('-inf' AS DOUBLE) THEN 0")
            whens.append(f"WHEN {value} > {high} AND {value} < CAST('inf' AS DOUBLE) THEN {self.steps}")
        if self.blank is not None:
            whens.insert(0, f"WHEN {blank_sql(column, typed)} THEN {self._steps(float(self.blank))}")
        return f"CAST(CASE {' '.join(whens)} END AS BIGINT)"

    def domain(self) -> Domain:
        """The bounds and the resolution as JSON-ready data, and what values beyond the bounds and blanks count as."""
        return Domain(
            recoding="measure",
            start=plain(self.start),
            to=plain(self.stop),
            resolution=plain(self.resolution),
            outside=self.outside,
            blank=None if self.blank is None else plain(self.blank),
        )

    @property
    def _ends(self) -> tuple[float, float, float]:
        start, stop, resolution = (float(value) for value in self._declaration)
        return start, stop, resolution

    def _steps(self, read: float) -> int | None:
        low, high, step = self._ends
        if low <= read <= high:
            return min(math.floor((read - low) / step + 0.5), self.steps)
        if self.outside == "refuse":
            return None
        return 0 if read < low else self.steps


@dataclass(frozen=True)
class Steps(ComputedRecoding):
    """The steps of bounded numbers as classes, so that an engine counts them together with labels.

    >>> Steps(BoundedRecoding(0, 1, "0.5")).labels
    ('0', '1', '2')
    """

    bounds: BoundedRecoding

    reads: ClassVar[Literal["number"]] = "number"

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The numbers of the steps, as text; they are never published."""
        return tuple(map(str, range(self.bounds.steps + 1)))

    def own_code(self, value: str) -> int | None:
        """Return the number of the step."""
        return self.bounds.code(value)

    def code(self, value: str | None) -> int | None:
        """Return the number of the step, blanks as they are declared."""
        return self.bounds.code(value)

    def own_sql(self, column: str, typed: bool) -> str:
        """Return the number of the step in SQL."""
        return self.bounds.sql(column, typed)

    def declaration(self) -> Domain:
        """Return the bounds and the resolution."""
        return self.bounds.domain()

"""The estimands of statistics, a class for each: its key, its totals, value, error, bounds and words.

A new one is a class in the list ESTIMANDS, with a key in `Subject` and `SubjectFacts`. The two methods ask it: that of
a fixed number of people for a number behind the mean of the totals per person, that in copies for sums and shares.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from crowdblend.kinds.shared.facts import Count, Fact
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.methods.planning.statistics.accuracy import QuantileShape, Shape
from crowdblend.methods.planning.statistics.ways import AnyShape
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.policies.key import Section, key
from crowdblend.policies.value_types import Where
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Labels = dict[str, tuple[str, ...]]
Ends = tuple[Fraction, Fraction]
# A total, and between which numbers the true one lies.
Estimate = tuple[float, float, float]
_SHARES: Ends = (Fraction(0), Fraction(1))


class Subject(Section, frozen=True, kw_only=True):
    """A name, and the key of what a statistic is of: exactly one of those of ESTIMANDS."""

    section = "publish.statistics"

    name: Annotated[str, key("The statistic's name in the published data.")]
    average: Annotated[str | None, key("The average of a column of numbers between two bounds.")] = None
    sum: Annotated[str | None, key("The sum of a column of numbers between two bounds.")] = None
    median: Annotated[str | None, key("The median of a column of numbers between two bounds, on its grid.")] = None
    quantile: Annotated[
        str | None, key("A quantile of a column of numbers between two bounds, on its grid; with at.")
    ] = None
    at: Annotated[
        float | None, key("With quantile: the share of people below it, with up to three decimals, as in 0.9.")
    ] = None
    fraction: Annotated[
        Where | None, key('The share of people with these labels, for example `{ sex = "Female" }`.')
    ] = None
    count: Annotated[Where | None, key("How many people have these labels.")] = None
    histogram: Annotated[str | None, key("How many people have each label of a column.")] = None


class SubjectFacts(Fact, frozen=True, kw_only=True):
    """The subject of a statistic, as facts have it, the way in which it was computed, and the loss of its noise.

    With the way "everybody" nobody is drawn, and `samples` is how many random people the guarantee is relative to.
    """

    way: Literal["everybody", "sample", "strata"]
    noise_epsilon: Loss
    samples: Count | None = None
    average: str | None = None
    sum: str | None = None
    median: str | None = None
    quantile: str | None = None
    at: float | None = None
    fraction: Labels | None = None
    count: Labels | None = None
    histogram: str | None = None


class Estimand(ABC):
    """The subject of a statistic with its mathematics.

    By default it is the number of some people, a total to which each of them adds one step.

    `bounds` are those of its column of numbers, and `of_some` says that it is of groups, or of people with some labels.
    """

    key: ClassVar[str]
    words: ClassVar[str] = "number of {counted} whose {among}"
    """The statistic as one says it, of its column or its labels."""
    article: ClassVar[str] = "A"
    measured: ClassVar[bool] = False
    """True if it is of a column of numbers."""
    of_labels: ClassVar[bool] = False
    """True if its key has labels, and no column."""
    by_column: ClassVar[bool] = False
    """True if it counts by the labels of its column."""
    grouped: ClassVar[bool] = False
    """True if there may be one for each group."""
    counts: ClassVar[bool] = False
    """True if it is a number of people."""
    restricts: ClassVar[bool] = True
    """True if its labels say who counts, and not what is counted."""
    is_quantile: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    """True if it lies between two ends whoever counts, and so does its error."""
    by_steps: ClassVar[bool] = False
    """True if people have to be counted at every step of its column, also where all of them count."""

    def __init__(self, at: Fraction = Fraction(1, 2)) -> None:
        """Take the share of people below, which quantiles alone have a use for."""
        self.at = at

    @abstractmethod
    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        """Return what the noise has to know of a number of groups; `of_some` also where sizes are noisy."""

    def width(self, bounds: BoundedRecoding | None, of_some: bool) -> int:
        """Return how many totals every number has."""
        return 1

    def added(self, bounds: BoundedRecoding) -> list[NDArray[np.int64]]:
        """Return what a person at each step adds to every total of their group."""
        raise NotImplementedError

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        """Return steps per person in the statistic's own unit."""
        raise NotImplementedError

    def value(self, steps: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        """Return the published number of a mean number of steps, kept within what is possible."""
        raise NotImplementedError

    def steps(self, value: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> Fraction:
        """Return the mean number of steps that a published number comes from."""
        raise NotImplementedError

    def value_of_totals(self, totals: Sequence[int], bounds: BoundedRecoding, drawn: int, people: int) -> float:
        """Return the number of several totals of as many people as were drawn of all `people`."""
        raise NotImplementedError

    def ends(self, bounds: BoundedRecoding | None) -> Ends:
        """Return the two numbers between which the shares of two totals lie."""
        return _SHARES if bounds is None else bounds.ends

    def scales(self, bounds: BoundedRecoding | None, steps: int, width: int) -> list[float]:
        """Return the unit of every total, where they add up to a number; none where it is a share of two."""
        return []

    def of_estimates(
        self, estimates: Sequence[Estimate], bounds: BoundedRecoding | None, steps: int
    ) -> tuple[float, float]:
        """Return the number of estimated totals, and its error; by default their sum, each in its unit."""
        value, error = 0.0, 0.0
        for scale, (estimate, low, high) in zip(self.scales(bounds, steps, len(estimates)), estimates, strict=True):
            value += scale * estimate
            error += abs(scale) * max(estimate - low, high - estimate)
        return value, error

    def possible(self, bounds: BoundedRecoding | None, most: float) -> tuple[float, float]:
        """Return the ends of what is possible of `most` people at most."""
        low, high = self.ends(bounds)
        return float(low), float(high)

    def largest(self, bounds: BoundedRecoding | None, people: int) -> float:
        """Return the largest absolute value that can be published."""
        return float(max(map(abs, self.possible(bounds, people))))


class _Shares(Estimand):
    """A number between two ends."""

    is_share = True


class _Measured(Estimand):
    """A number of a column of numbers."""

    words = "{key} of {column}"
    measured = True
    grouped = True

    def added(self, bounds: BoundedRecoding) -> list[NDArray[np.int64]]:
        steps = np.arange(bounds.steps + 1)
        return [steps[::-1], steps]


class Average(_Measured, _Shares):
    """The average of a column: the sum over the number of people, which two totals tell together in groups."""

    key = "average"
    article = "An"

    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        assert bounds is not None
        return Shape(bounds.steps, 2 * groups, share, sized=True) if of_some else Shape(bounds.steps, 1, share)

    def width(self, bounds: BoundedRecoding | None, of_some: bool) -> int:
        return 2 if of_some else 1

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        assert bounds is not None
        return steps * float(bounds.resolution)

    def value(self, steps: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        assert bounds is not None
        return float(bounds.value(steps))

    def steps(self, value: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> Fraction:
        assert bounds is not None
        start, stop = bounds.ends
        return (value - start) * bounds.steps / (stop - start)


class Sum(_Measured):
    """The sum of a column: in steps from 0, or of two totals where numbers may be negative."""

    key = "sum"

    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        assert bounds is not None
        if not of_some:
            return Shape(bounds.steps, 1, share)
        from_zero = bounds.from_zero
        return Shape(bounds.steps, 2 * groups, share) if from_zero is None else Shape(from_zero, groups, share)

    def width(self, bounds: BoundedRecoding | None, of_some: bool) -> int:
        return 2 if of_some and (bounds is None or bounds.from_zero is None) else 1

    def added(self, bounds: BoundedRecoding) -> list[NDArray[np.int64]]:
        if bounds.from_zero is None:
            return super().added(bounds)
        return [np.arange(bounds.steps + 1) + bounds.from_zero - bounds.steps]

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        assert bounds is not None
        if self.width(bounds, of_some) > 1:
            low, high = map(abs, bounds.ends)
            return steps * float(low + high) / bounds.steps * people
        return steps * float(bounds.resolution) * people

    def value(self, steps: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        assert bounds is not None
        if not of_some:
            return float(people * bounds.value(steps))
        _, high = bounds.ends
        total = people * steps * high / (bounds.from_zero or 1)
        return float(min(max(Fraction(0), total), people * high))

    def steps(self, value: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> Fraction:
        assert bounds is not None
        start, stop = bounds.ends
        from_zero = bounds.from_zero if of_some else None
        mean = value / people
        return mean * from_zero / stop if from_zero else (mean - start) * bounds.steps / (stop - start)

    def value_of_totals(self, totals: Sequence[int], bounds: BoundedRecoding, drawn: int, people: int) -> float:
        (low, high), (start, stop) = totals, bounds.ends
        total = (start * low + stop * high) / bounds.steps * Fraction(people, drawn)
        return float(min(max(min(Fraction(0), start) * people, total), max(Fraction(0), stop) * people))

    def scales(self, bounds: BoundedRecoding | None, steps: int, width: int) -> list[float]:
        start, stop = (float(end / steps) for end in self.ends(bounds))
        return [start, stop] if width == 2 else [stop]

    def possible(self, bounds: BoundedRecoding | None, most: float) -> tuple[float, float]:
        low, high = map(float, self.ends(bounds))
        return low * most if low < 0 else 0.0, math.inf if math.isinf(most) else max(0, high * most)

    def largest(self, bounds: BoundedRecoding | None, people: int) -> float:
        return float(max(map(abs, self.ends(bounds)))) * people


class Quantile(_Measured, _Shares):
    """The value below which a share of the people are, chosen among the steps of a grid."""

    key = "quantile"
    words = "{at:g}-quantile of {column}"
    is_quantile = True
    by_steps = True

    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        assert bounds is not None
        return QuantileShape(self.at, bounds.steps + 1, groups, share, whole=not of_some)

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        return steps  # of ranks


class Median(Quantile):
    """The value below which half of the people are."""

    key = "median"
    words = "{key} of {column}"


class _People(Estimand):
    """People, counted."""

    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        return Shape(1, groups, share)

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        return steps * people

    def value(self, steps: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        return float(min(max(steps, Fraction(0)), Fraction(1)) * people)

    def steps(self, value: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> Fraction:
        return value / people

    def scales(self, bounds: BoundedRecoding | None, steps: int, width: int) -> list[float]:
        return [1.0]

    def possible(self, bounds: BoundedRecoding | None, most: float) -> tuple[float, float]:
        return 0.0, most


class PeopleWith(_People):
    """The number of people with some labels."""

    key = "count"
    of_labels = True
    grouped = True
    counts = True


class ByLabel(_People):
    """The number of people with each label of a column."""

    key = "histogram"
    words = "{counted} by {column}"
    by_column = True
    counts = True


class ShareWith(_People, _Shares):
    """The share of people with some labels; where their number is not public, of two totals."""

    key = "fraction"
    words = "share of {counted} whose {among}"
    of_labels = True
    restricts = False

    def shape(self, bounds: BoundedRecoding | None, groups: int, of_some: bool, share: float) -> AnyShape:
        return Shape(1, 2, share, sized=True) if of_some else Shape(1, groups, share)

    def in_unit(self, steps: float, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        return steps

    def value(self, steps: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> float:
        return float(min(max(steps, Fraction(0)), Fraction(1)))

    def steps(self, value: Fraction, bounds: BoundedRecoding | None, people: int, of_some: bool) -> Fraction:
        return value

    def scales(self, bounds: BoundedRecoding | None, steps: int, width: int) -> list[float]:
        return []

    def possible(self, bounds: BoundedRecoding | None, most: float) -> tuple[float, float]:
        return 0.0, 1.0


# A new statistic stands here, and policies can state it.
ESTIMANDS: dict[str, type[Estimand]] = {
    one.key: one for one in (Average, Sum, Median, Quantile, ShareWith, PeopleWith, ByLabel)
}


def keys_where(holds: str) -> Iterator[str]:
    """Yield the keys of the estimands of which something holds, in their order."""
    return (name for name, one in ESTIMANDS.items() if getattr(one, holds))

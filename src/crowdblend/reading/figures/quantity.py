"""Quantities: numbers as far as they are known, and the one that every mark of a chart stands for.

A published table knows some numbers as estimates, others as two ends, and some only from below. Marks that show now the
one and now the other cannot be compared. So the numbers of a chart are measured in one way, the best that all of them
have, and text, shade and caption of the chart follow from this measure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Known:
    """A number of the population as far as it is known, beside the published count.

    `low` is None where nothing is known of the population, `high` where the number has no upper end, `estimate` where
    cells are missing. Nothing is `published` where all of its cells are missing.
    """

    count: int
    low: int | None = None
    high: int | None = None
    estimate: float | None = None
    published: bool = True

    @property
    def text(self) -> str:
        """Everything known, as text.

        >>> Known(20, 31, 52, 40.0).text, Known(20, 31, 85).text, Known(20, 31).text, Known(0, 0, 84, None, False).text
        ('40 (31 to 52)', '31 to 85', 'at least 31', 'not published: 0 to 84')
        """
        low, high = self.low, self.high
        if low is None:
            return f"{self.count:,}" if self.published else "not published"
        ends = f"at least {low:,}" if high is None else f"{low:,} to {high:,}"
        if not self.published:
            return "not published" if high is None else f"not published: {ends}"
        if self.estimate is None:
            return ends
        # Noise may take the estimate of a small number so far below zero that no number of people fits it well.
        ends = "at most a few" if high == 0 and self.estimate < 0 else ends
        return f"{whole(self.estimate)} ({ends})"


class Measure(Enum):
    """The ways to measure a number; the caption says which."""

    COUNT = "the published number"
    ESTIMATE = "the estimate"
    INTERVAL = "the 95 % interval"
    LEAST = "the lower end of the 95 % interval: at least so many"


@dataclass(frozen=True)
class Quantity:
    """The quantity of every mark: what is counted, in words and in one, and how its number is measured."""

    counted: str
    measure: Measure
    noun: str = "people"

    @classmethod
    def shared_by(cls, numbers: Iterable[Known], *, published: str, estimated: str, noun: str = "people") -> Quantity:
        """Return the best quantity that all of these numbers have, by what is counted in the data and estimated."""
        every = list(numbers)
        if any(one.low is None for one in every):
            return cls(published, Measure.COUNT, noun)
        if all(one.estimate is not None for one in every):
            return cls(estimated, Measure.ESTIMATE, noun)
        least = any(one.high is None for one in every)
        return cls(estimated, Measure.LEAST if least else Measure.INTERVAL, noun)

    def value(self, number: Known) -> float:
        """Return the number that shades and lengths follow: of an interval its middle."""
        match self.measure:
            case Measure.COUNT:
                return number.count
            case Measure.ESTIMATE:
                assert number.estimate is not None
                return number.estimate
            case Measure.INTERVAL:
                assert number.low is not None
                assert number.high is not None
                return (number.low + number.high) / 2
        assert number.low is not None
        return number.low

    def texts(self, number: Known) -> tuple[str, ...]:
        """Return what a mark says, or its two parts: the ends of an interval."""
        if self.measure is not Measure.INTERVAL:
            return (whole(self.value(number)),)
        return (f"{number.low:,}–", f"{number.high:,}") if number.low != number.high else (f"{number.low:,}",)

    def short_texts(self, number: Known) -> tuple[str, ...]:
        """Return the same in few characters; ends are rounded outward, so that what is said stays true."""
        if self.measure is Measure.INTERVAL:
            assert number.low is not None
            assert number.high is not None
            ends = compact(number.low, down=True), compact(number.high, up=True)
            return (f"{ends[0]}–", ends[1]) if number.low != number.high else ends[:1]
        return (compact(round(self.value(number)), down=self.measure is Measure.LEAST),)


def whole(value: float) -> str:
    """Return a number without digits behind the point, and zero without a sign.

    >>> whole(-0.2), whole(1234.5)
    ('0', '1,234')
    """
    return f"{round(value) + 0:,}"


def compact(count: int, *, down: bool = False, up: bool = False) -> str:
    """Return a count in few characters: to three digits, the nearest one unless it is rounded down or up.

    >>> compact(9999), compact(12345), compact(4_000_000), compact(12345, up=True), compact(-12345, down=True)
    ('9,999', '12.3k', '4.00M', '12.4k', '-12.4k')
    """
    size = abs(count)
    if size < 10_000:
        return f"{count:,}"
    step = 10 ** (len(str(size)) - 3)
    steps = count // step if down else -(-count // step) if up else round(count / step)
    rounded = steps * step
    for scale, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(rounded) >= scale:
            digits = max(0, 2 - (len(str(abs(rounded) // scale)) - 1))
            return f"{rounded / scale:.{digits}f}{unit}"
    return f"{rounded:,}"

"""Raw values of one column, as a release would read them: an example of each class, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.methods.recoding.classes import Lookup, Recoding
from crowdblend.methods.recoding.dates import DateRange, Dates
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes
from crowdblend.trusted.machine.packages import pyarrow

# Of each column the audit uses this many classes at most, the first and the last among them, or all.
CLASSES, EVERY_CLASS = 4, 1 << 20
# So far beyond a domain is a value of the class at its end.
_FAR = 10**6
# A class for blanks or for other values gets one person in fifty.
_RARE = 0.02
# Of an open domain this many different texts and these days are made up.
_TEXTS = 100
_FIRST_DAY, _LAST_DAY = date(1940, 1, 1), date(2024, 12, 31)

Rng = np.random.Generator
Numbers = NDArray[np.float64]
# Texts, numbers or days.
RawValues = NDArray[Any]


def examples(recoding: Recoding, most: int) -> list[str | None]:
    """Return up to `most` raw values of different classes, in the order of the classes as far as they have one.

    >>> examples(Intervals(0, 100, 10, top=True), 4)
    ['0.0', '10.0', '90.0', '1000100.0']
    """
    found: dict[str, str | None] = {}
    for value in [*_candidates(recoding), "\x7f no such value", None]:
        label = recoding.label(value)
        if label is not None:
            found.setdefault(label, value)
    chosen = list(found.values())
    return chosen if len(chosen) <= most else [*chosen[: most // 2], *chosen[len(chosen) - (most + 1) // 2 :]]


def _candidates(recoding: Recoding) -> Iterator[str]:
    """Yield raw values of all classes, or of many, in the order of the classes."""
    match recoding:
        case Lookup():
            by_code = {code: value for value, code in reversed(list(recoding.lookup.items()))}
            yield from (by_code[code] for code in sorted(by_code))
        case Intervals():
            inside = len(recoding.own_labels) - recoding.bottom - recoding.top
            steps = range(inside) if inside <= 64 else [*range(32), *range(inside - 32, inside)]
            yield str(float(recoding.start) - _FAR)
            yield from (str(recoding.end(step)) for step in steps)
            yield str(float(recoding.stop) + _FAR)
        case Breaks():
            ends = [float(end) for end in recoding.breaks]
            yield from map(str, [ends[0] - _FAR, *ends, ends[-1] + _FAR])
        case DateRange():
            days = (recoding.last - recoding.start).days
            steps = sorted({0, days, *range(0, days, max(1, days // 64))})
            yield from ((recoding.start + timedelta(days=step)).isoformat() for step in steps)
        case Dates():
            yield from (f"{year}-06-15" for year in (1900, 1950, 2000, 2024))
        case Prefixes():
            yield from (letter * recoding.length for letter in "aAzZ")
        case _:
            raise NotImplementedError(f"no raw values are known for {type(recoding).__name__}")


def draw_values(recoding: Recoding, count: int, spread: float, rng: Rng) -> pyarrow.Array:
    """Return this many raw values, some of them blank or beyond the domain where that has a class."""
    values = _draw(recoding, count, spread, rng)
    blank = rng.random(count) < (_RARE if recoding.missing is not None or recoding.other is not None else 0)
    return pyarrow.array(values, mask=blank)


def draw_measure(measure: BoundedRecoding, count: int, spread: float, rng: Rng) -> pyarrow.Array:
    """Return this many numbers between the bounds, lower ones more often; some blank where blanks count as a value."""
    steps = np.floor(_fractions(count, spread, rng) * (measure.steps + 1))
    values = np.clip(
        float(measure.start) + steps * float(measure.resolution), float(measure.start), float(measure.stop)
    )
    blank = rng.random(count) < (_RARE if measure.blank is not None else 0)
    if all(float(number).is_integer() for number in (measure.start, measure.resolution)):
        return pyarrow.array(np.rint(values).astype(np.int64), mask=blank)
    return pyarrow.array(values, mask=blank)


def _fractions(count: int, spread: float, rng: Rng) -> Numbers:
    """Return numbers from 0 to below 1, evenly at spread 0 and nearer to 0 beyond."""
    drawn: Numbers = rng.random(count) ** (1 + spread)
    return drawn


def _places(classes: int, count: int, spread: float, rng: Rng) -> NDArray[np.int64]:
    """Return classes with probabilities as 1, 1/2^spread, 1/3^spread, …"""
    weights = np.arange(1, classes + 1, dtype=np.float64) ** -spread
    ends = np.cumsum(weights) / weights.sum()
    found: NDArray[np.int64] = np.minimum(np.searchsorted(ends, rng.random(count), side="right"), classes - 1)
    return found


def _draw(recoding: Recoding, count: int, spread: float, rng: Rng) -> RawValues:  # noqa: PLR0911  one case for each recoding
    match recoding:
        case Lookup():
            return _among(list(recoding.lookup), count, spread, rng)
        case Axis():
            cells = np.floor(_fractions(count, spread, rng) * recoding.cells).astype(np.int64)
            return recoding.midpoints(cells)
        case Intervals():
            inside = len(recoding.own_labels) - recoding.bottom - recoding.top
            ends = np.array([recoding.end(place) for place in range(inside + 1)])
            return _between(ends, recoding, count, spread, rng)
        case Breaks():
            return _between(np.array([float(end) for end in recoding.breaks]), recoding, count, spread, rng)
        case DateRange():
            return _days(recoding.start, recoding.last, count, spread, rng)
        case Dates():
            return _days(_FIRST_DAY, _LAST_DAY, count, spread, rng)
        case Prefixes(length):
            return _among([f"{place:0{length}d}" for place in range(min(_TEXTS, 10**length))], count, spread, rng)
    raise NotImplementedError(f"no values are made up for {type(recoding).__name__}")


def _among(texts: Sequence[str], count: int, spread: float, rng: Rng) -> RawValues:
    known = np.array(texts, dtype=object)
    return known[_places(len(known), count, spread, rng)]


def _between(ends: Numbers, recoding: Intervals | Breaks, count: int, spread: float, rng: Rng) -> RawValues:
    """Return numbers evenly within classes; a class beyond the ends is taken as wide as its neighbour."""
    low = [2 * ends[0] - ends[1]] if recoding.bottom and len(ends) > 1 else [ends[0] - 1] if recoding.bottom else []
    high = [2 * ends[-1] - ends[-2]] if recoding.top and len(ends) > 1 else [ends[-1] + 1] if recoding.top else []
    every = np.concatenate([low, ends, high])
    place = _places(len(every) - 1, count, spread, rng)
    values: RawValues = every[place] + rng.random(count) * (every[place + 1] - every[place])
    if bool((every == np.floor(every)).all()):
        values = np.floor(values).astype(np.int64)
    else:
        # The sum may round up to the end of the next class.
        values = np.minimum(values, np.nextafter(every[place + 1], every[place]))
    return values


def _days(first: date, last: date, count: int, spread: float, rng: Rng) -> RawValues:
    days = np.floor(_fractions(count, spread, rng) * ((last - first).days + 1)).astype("timedelta64[D]")
    return np.datetime64(first) + days

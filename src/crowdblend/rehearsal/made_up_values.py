"""Made-up raw values of one column, as a release would read them: text, numbers, or days."""

from __future__ import annotations

from datetime import date
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.recoding import Bounded, Breaks, DateRange, Dates, Intervals, Lookup, Prefixes, Recoding
from crowdblend.recoding.axes import Axis

if TYPE_CHECKING:
    import pyarrow

# A class for blanks or for other values gets one person in fifty.
_RARE = 0.02
# Of an open domain so many different texts and these days are made up.
_TEXTS = 100
_FIRST_DAY, _LAST_DAY = date(1940, 1, 1), date(2024, 12, 31)


def draw_values(recoding: Recoding, count: int, spread: float, rng: np.random.Generator) -> pyarrow.Array:
    """So many raw values, some of them blank or beyond the domain where that has a class."""
    import pyarrow as pa  # noqa: PLC0415  heavy

    values: Any = _draw(recoding, count, spread, rng)
    blank = rng.random(count) < (_RARE if recoding.missing is not None or recoding.other is not None else 0)
    return pa.array(values, mask=blank)


def draw_measure(measure: Bounded, count: int, spread: float, rng: np.random.Generator) -> pyarrow.Array:
    """So many numbers between the bounds, the lower ones more often; some blank where blanks count as a value."""
    import pyarrow as pa  # noqa: PLC0415  heavy

    steps = np.floor(_fractions(count, spread, rng) * (measure.steps + 1))
    values = np.clip(
        float(measure.start) + steps * float(measure.resolution), float(measure.start), float(measure.stop)
    )
    blank = rng.random(count) < (_RARE if measure.blank is not None else 0)
    return pa.array(_whole(values, measure.start, measure.resolution), mask=blank)


def _fractions(count: int, spread: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Numbers from 0 to below 1, evenly at spread 0 and nearer to 0 beyond."""
    drawn: NDArray[np.float64] = rng.random(count) ** (1 + spread)
    return drawn


def _places(classes: int, count: int, spread: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Classes with probabilities as 1, 1/2^spread, 1/3^spread, …"""
    weights = np.arange(1, classes + 1, dtype=np.float64) ** -spread
    ends = np.cumsum(weights) / weights.sum()
    found: NDArray[np.int64] = np.minimum(np.searchsorted(ends, rng.random(count), side="right"), classes - 1)
    return found


@singledispatch
def _draw(recoding: Recoding, count: int, spread: float, rng: np.random.Generator) -> Any:
    raise NotImplementedError(f"no values are made up for {type(recoding).__name__}")


@_draw.register
def _(recoding: Lookup, count: int, spread: float, rng: np.random.Generator) -> Any:
    known = np.array(list(recoding.lookup), dtype=object)
    return known[_places(len(known), count, spread, rng)]


@_draw.register
def _(recoding: Axis, count: int, spread: float, rng: np.random.Generator) -> Any:
    cells = np.floor(_fractions(count, spread, rng) * recoding.cells).astype(np.int64)
    return recoding.midpoints(cells)


@_draw.register
def _(recoding: Intervals, count: int, spread: float, rng: np.random.Generator) -> Any:
    inside = len(recoding.own_labels) - recoding.bottom - recoding.top
    ends = np.array([recoding.end(place) for place in range(inside + 1)])
    return _between(ends, recoding, count, spread, rng)


@_draw.register
def _(recoding: Breaks, count: int, spread: float, rng: np.random.Generator) -> Any:
    return _between(np.array([float(end) for end in recoding.breaks]), recoding, count, spread, rng)


@_draw.register
def _(recoding: DateRange, count: int, spread: float, rng: np.random.Generator) -> Any:
    return _days(recoding.start, recoding.last, count, spread, rng)


@_draw.register
def _(recoding: Dates, count: int, spread: float, rng: np.random.Generator) -> Any:
    del recoding
    return _days(_FIRST_DAY, _LAST_DAY, count, spread, rng)


@_draw.register
def _(recoding: Prefixes, count: int, spread: float, rng: np.random.Generator) -> Any:
    length = recoding.length
    known = np.array([f"{place:0{length}d}" for place in range(min(_TEXTS, 10**length))], dtype=object)
    return known[_places(len(known), count, spread, rng)]


def _between(ends: NDArray[np.float64], recoding: Any, count: int, spread: float, rng: np.random.Generator) -> Any:
    """Numbers evenly within classes; a class beyond the ends is taken as wide as its neighbour."""
    low = [2 * ends[0] - ends[1]] if recoding.bottom and len(ends) > 1 else [ends[0] - 1] if recoding.bottom else []
    high = [2 * ends[-1] - ends[-2]] if recoding.top and len(ends) > 1 else [ends[-1] + 1] if recoding.top else []
    every = np.concatenate([low, ends, high])
    place = _places(len(every) - 1, count, spread, rng)
    values = every[place] + rng.random(count) * (every[place + 1] - every[place])
    if bool((every == np.floor(every)).all()):
        return np.floor(values).astype(np.int64)
    # The sum may round up to the end of the next class.
    return np.minimum(values, np.nextafter(every[place + 1], every[place]))


def _days(first: date, last: date, count: int, spread: float, rng: np.random.Generator) -> Any:
    days = np.floor(_fractions(count, spread, rng) * ((last - first).days + 1)).astype("timedelta64[D]")
    return np.datetime64(first) + days


def _whole(values: NDArray[np.float64], *declared: Any) -> Any:
    """As whole numbers where all declared ones are whole."""
    return np.rint(values).astype(np.int64) if all(float(value).is_integer() for value in declared) else values

"""Raw values for the classes of a column: the first and the last class, and some between."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import singledispatch

from crowdblend.recoding import Breaks, DateRange, Dates, Intervals, Lookup, Prefixes, Recoding
from crowdblend.recoding.dates import PERIODS

_FAR = 10**6


def examples(recoding: Recoding, most: int) -> list[str | None]:
    """Up to `most` raw values of different classes, in the order of the classes as far as they have one.

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


@singledispatch
def _candidates(recoding: Recoding) -> Iterator[str]:
    raise NotImplementedError(f"no raw values are known for {type(recoding).__name__}")


@_candidates.register
def _(recoding: Lookup) -> Iterator[str]:
    by_code = {code: value for value, code in reversed(list(recoding.lookup.items()))}
    yield from (by_code[code] for code in sorted(by_code))


@_candidates.register
def _(recoding: Intervals) -> Iterator[str]:
    start, stop = float(recoding.start), float(recoding.stop)
    inside = len(recoding.own_labels) - recoding.bottom - recoding.top
    steps = range(inside) if inside <= 64 else [*range(32), *range(inside - 32, inside)]
    yield str(start - _FAR)
    yield from (str(recoding.end(step)) for step in steps)
    yield str(stop + _FAR)


@_candidates.register
def _(recoding: Breaks) -> Iterator[str]:
    ends = [float(end) for end in recoding.breaks]
    yield from map(str, [ends[0] - _FAR, *ends, ends[-1] + _FAR])


@_candidates.register
def _(recoding: DateRange) -> Iterator[str]:
    days = (recoding.last - recoding.start).days
    steps = sorted({0, days, *range(0, days, max(1, days // 64))})
    yield from ((recoding.start + timedelta(days=step)).isoformat() for step in steps)


@_candidates.register
def _(recoding: Dates) -> Iterator[str]:
    assert recoding.period in PERIODS
    yield from (f"{year}-06-15" for year in (1900, 1950, 2000, 2024))


@_candidates.register
def _(recoding: Prefixes) -> Iterator[str]:
    yield from (letter * recoding.length for letter in "aAzZ")

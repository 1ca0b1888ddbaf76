"""The classes of a column of numbers, drawn on a ruler."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from crowdblend.reading.figures.drawing import TEXT_SIZE, Drawing, text_width
from crowdblend.reading.figures.scales import Scale

_RULER, _HEIGHT, _LEFT = 640.0, 26.0, 8.0
_SHADES = ("#4c78a8", "#9ecae9")
_BEYOND = "#bab0ac"


def class_ruler(ends: Sequence[float], *, bottom: bool = False, top: bool = False) -> str:
    """The ruler as SVG: one block between each two ends, and open blocks below and above where there are such classes.

    >>> class_ruler([0, 10, 20], top=True).startswith("<svg")
    True
    """
    picture = Drawing()
    first, last = float(ends[0]), float(ends[-1])
    beyond = _RULER / 12
    start = _LEFT + (beyond if bottom else 0)
    stop = _LEFT + _RULER - (beyond if top else 0)

    at = Scale(first, last, start, stop).place
    if bottom:
        picture.rectangle(_LEFT, 0, beyond - 1, _HEIGHT, fill=_BEYOND)
    if top:
        picture.rectangle(stop + 1, 0, beyond - 1, _HEIGHT, fill=_BEYOND)
    for number, (low, high) in enumerate(pairwise(ends)):
        width = max(at(float(high)) - at(float(low)), 0.3)
        picture.rectangle(at(float(low)), 0, width, _HEIGHT, fill=_SHADES[number % 2])
    free = 0.0
    for value in ends:
        text = f"{float(value):,g}" if float(value) < 1e15 else f"{float(value):g}"
        half = text_width(text) / 2
        place = min(max(at(float(value)), _LEFT + half), _LEFT + _RULER - half)
        if place - half >= free:
            picture.text(place, _HEIGHT + TEXT_SIZE + 3, text, anchor="middle")
            free = place + half + 8
    return picture.svg(_RULER + 2 * _LEFT, _HEIGHT + TEXT_SIZE + 10)

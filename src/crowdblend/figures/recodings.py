"""Pictures of recodings: the classes of a column of numbers on a ruler, and a recoding with its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import INK, PADDING, QUIET, TEXT_SIZE, Drawing, text_width
from crowdblend.figures.scales import Scale, Shade
from crowdblend.frozen import dataclass

Named = tuple[str, float]

_RULER, _HEIGHT, _LEFT = 640.0, 26.0, 8.0
_SHADES = ("#4c78a8", "#9ecae9")
_BEYOND = "#bab0ac"

WIDTH, ROW, BOX, TOP = 720, 36, 28, 30
# Left and right end of the boxes: before, in the middle, after.
_PLACES = ((0, 240), (285, 435), (480, 720))
_LINE = "#b6bec8"
# From this part of the shades on, writing is white.
_DARK = 0.6


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


@dataclass(frozen=True)
class _Box:
    name: str
    number: float
    left: float
    right: float
    y: float


def neighbours(
    middle: Named, before: Sequence[Named], after: Sequence[Named], *, headings: tuple[str, str, str]
) -> str:
    """Return the text of an SVG element; `headings` stand above the three columns of boxes.

    >>> drawn = neighbours(("chosen", 90.0), [("age 5", 70.0)], [("age 20", 95.5)], headings=("finer", "", "coarser"))
    >>> drawn.count("<rect")
    3
    """
    if not before and not after:
        raise InvalidInput("A node without neighbours cannot be drawn. Pass at least one node before or after it.")
    height = TOP + max(len(before), len(after)) * ROW
    boxes = [
        _Box(
            name,
            number,
            PADDING + place[0],
            PADDING + place[1],
            PADDING + TOP + (height - TOP) / 2 + (at - (len(column) - 1) / 2) * ROW,
        )
        for column, place in zip((before, [middle], after), _PLACES, strict=True)
        for at, (name, number) in enumerate(column)
    ]
    center = boxes[len(before)]
    values = [box.number for box in boxes]
    shade = Shade(min(values), max(values), log=False)
    picture = Drawing()
    for box in boxes:
        _line(picture, box, center)
    for box in boxes:
        color = "white" if shade.share(box.number) > _DARK else INK
        picture.rectangle(box.left, box.y - BOX / 2, box.right - box.left, BOX, fill=shade.color(box.number), radius=5)
        picture.text(box.left + 10, box.y, box.name, size=12.5, color=color)
        picture.text(box.right - 10, box.y, f"{box.number:,.0f}", size=12.5, color=color, anchor="end", weight=600)
    for heading, (left, _) in zip(headings, _PLACES, strict=True):
        if heading:
            picture.text(PADDING + left, PADDING + TOP / 3, heading, size=12.5, color=QUIET)
    return picture.svg(WIDTH + 2 * PADDING, height + 2 * PADDING)


def _line(picture: Drawing, box: _Box, center: _Box) -> None:
    """Draw a line from a box to the middle one, on whichever side it is."""
    if box.right <= center.left:
        picture.line(box.right, box.y, center.left, center.y, stroke=_LINE, thickness=1.2)
    elif box.left >= center.right:
        picture.line(box.left, box.y, center.right, center.y, stroke=_LINE, thickness=1.2)

"""A node and what lies one step to either side of it: boxes joined by lines, darker for a higher number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import Drawing
from crowdblend.figures.scales import Shade
from crowdblend.figures.style import INK, PADDING, QUIET

Named = tuple[str, float]

WIDTH, ROW, BOX, TOP = 720, 36, 28, 30
# Left and right end of the boxes: before, in the middle, after.
_PLACES = ((0, 240), (285, 435), (480, 720))
_LINE = "#b6bec8"
# From this part of the shades on, writing is white.
_DARK = 0.6


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
    """The text of an SVG element; `headings` stand above the three columns of boxes.

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
    """From a box to the middle one, whichever side it is on."""
    if box.right <= center.left:
        picture.line(box.right, box.y, center.left, center.y, stroke=_LINE, thickness=1.2)
    elif box.left >= center.right:
        picture.line(box.left, box.y, center.right, center.y, stroke=_LINE, thickness=1.2)

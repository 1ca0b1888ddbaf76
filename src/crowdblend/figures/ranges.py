"""Numbers that are known within a range: what there is at least, and what there may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import Drawing, text_width
from crowdblend.figures.rows import GAP, STEP, Rows
from crowdblend.figures.scales import Linear, round_numbers
from crowdblend.figures.style import GRID, INK, PADDING, PALETTE, QUIET

WIDTH, _PALE = 320, "#a9cfe8"


@dataclass(frozen=True)
class Range:
    """A label with the ends of its number; `high` is None where there is none, `estimate` where there is none."""

    label: str
    low: float
    high: float | None
    estimate: float | None
    note: str


def range_chart(ranges: Sequence[Range], *, narrow: bool = False) -> str:
    """The text of an SVG element: a bar up to the low end, paler up to the high one, a line at the estimate.

    Where there is no high end the pale bar runs to the edge and stays open. A narrow chart fits a phone.

    >>> range_chart([Range("a", 10, 20, 15, "10 to 20"), Range("b", 3, None, None, "at least 3")]).count("at least")
    1
    """
    labels = [each.label for each in ranges]
    if not ranges or len(set(labels)) < len(labels):
        raise InvalidInput("A chart of ranges needs at least one label, and each label once. Merge equal labels.")
    top = max([1.0, *(each.high if each.high is not None else 1.25 * each.low for each in ranges)])
    rows = Rows(labels, [each.note for each in ranges], WIDTH, narrow)
    scale = Linear(0.0, top, rows.left, rows.right)
    picture = Drawing()
    for tick in round_numbers(0.0, top):
        x = scale.place(tick)
        picture.line(x, PADDING, x, rows.bottom, stroke=GRID)
        picture.text(x, rows.bottom + 14, f"{tick:,.10g}", color=QUIET, anchor="middle")
    for at, each in enumerate(ranges):
        rows.write(picture, at)
        _draw(picture, scale, each, rows.middle(at), top)
        if not narrow:
            picture.text(rows.right + GAP, rows.middle(at), each.note, color=QUIET)
    right = rows.right if narrow else rows.right + GAP + max(text_width(each.note) for each in ranges)
    return picture.svg(right + PADDING, rows.bottom + 24 + PADDING)


def _draw(picture: Drawing, scale: Linear, each: Range, y: float, top: float) -> None:
    start, low = scale.place(0.0), scale.place(max(each.low, 0.0))
    high = scale.place(top if each.high is None else max(each.high, 0.0))
    picture.rectangle(low, y - 0.22 * STEP, max(high - low, 0.0), 0.44 * STEP, fill=_PALE)
    picture.rectangle(start, y - 0.35 * STEP, low - start, 0.7 * STEP, fill=PALETTE[0])
    if each.estimate is not None and each.estimate >= 0:
        x = scale.place(each.estimate)
        picture.line(x, y - 0.42 * STEP, x, y + 0.42 * STEP, stroke=INK, thickness=2)

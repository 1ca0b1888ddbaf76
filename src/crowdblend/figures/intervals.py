"""Values with the range that each stays within."""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import Drawing
from crowdblend.figures.rows import Rows
from crowdblend.figures.scales import Linear, round_numbers
from crowdblend.figures.style import GRID, PADDING, PALETTE, QUIET

WIDTH, _PALE = 520, "#7fb8d8"


def interval_chart(rows: Sequence[tuple[str, float, float, float]], *, narrow: bool = False) -> str:
    """The text of an SVG element: for every label a dot at its value on a line from its low to its high end.

    >>> interval_chart([("[0, 10)", 850.0, 100.0, 1600.0)]).count("<circle")
    1
    """
    labels = [label for label, *_ in rows]
    if not rows or len(set(labels)) < len(labels):
        raise InvalidInput("A chart of intervals needs at least one label, and each label once. Merge equal labels.")
    low, high = min(0.0, *(row[2] for row in rows)), max(0.0, *(row[3] for row in rows))
    lines = Rows(labels, [""] * len(rows), WIDTH, narrow)
    scale = Linear(low, high, lines.left, lines.right)
    picture = Drawing()
    for tick in round_numbers(low, high):
        x = scale.place(tick)
        picture.line(x, PADDING, x, lines.bottom, stroke=GRID)
        picture.text(x, lines.bottom + 14, f"{tick:,.10g}", color=QUIET, anchor="middle")
    for at, (_, value, start, end) in enumerate(rows):
        y = lines.middle(at)
        lines.write(picture, at)
        picture.line(scale.place(start), y, scale.place(end), y, stroke=_PALE, thickness=2)
        picture.dot(scale.place(value), y, 4.4, fill=PALETTE[0])
    return picture.svg(lines.right + (1 if narrow else 2) * PADDING, lines.bottom + 24 + PADDING)

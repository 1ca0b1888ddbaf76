"""Charts with a row for every label: bars of counts, values within their intervals, and numbers known within a range.

Labels stand left of their bars, or above them in a narrow chart, which fits a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from crowdblend.errors import InvalidInput
from crowdblend.figures.drawing import INK, NARROW, PADDING, PAGE, PALETTE, QUIET, Drawing, text_width
from crowdblend.figures.scales import Scale, draw_ticks, round_numbers
from crowdblend.frozen import dataclass

# Bars have as much room as labels and notes leave of the page, and so much at least.
LEAST_WIDTH = 120
STEP, GAP, _LINE = 25, 8, 17
_INTERVAL, _UNCERTAIN = "#7fb8d8", "#a9cfe8"


@dataclass(frozen=True)
class Range:
    """A label with the ends of its number; `high` is None where there is none, `estimate` where there is none."""

    label: str
    low: float
    high: float | None
    estimate: float | None
    note: str


def bar_chart(totals: Sequence[tuple[str, int]], *, narrow: bool = False) -> str:
    """The text of an SVG element: a horizontal bar for every label, in the order given, with its number at the end.

    A narrow chart fits a phone: labels and numbers stand above the bars.

    >>> bar_chart([("Female", 1200), ("Male", 98)]).count("1,200")
    1
    """
    _check_labels([label for label, _ in totals])
    counts = [count for _, count in totals]
    numbers = [f"{count:,}" for count in counts]
    rows = _Rows([label for label, _ in totals], numbers, 6 + max(map(text_width, numbers)), narrow)
    scale = Scale(min(0, *counts), max(0, *counts), rows.left, rows.right)
    zero = scale.place(0)
    picture = Drawing()
    for at, count in enumerate(counts):
        middle, end = rows.middle(at), scale.place(count)
        rows.write(picture, at)
        picture.rectangle(min(zero, end), middle - 0.35 * STEP, abs(end - zero), 0.7 * STEP, fill=PALETTE[0])
        if not narrow:
            picture.text(max(zero, end) + 6, middle, numbers[at], color=QUIET)
    return picture.svg(rows.edge, rows.bottom + PADDING)


def interval_chart(rows: Sequence[tuple[str, float, float, float]], *, narrow: bool = False) -> str:
    """Return the text of an SVG element: for every label a dot at its value on a line from its low to its high end.

    >>> interval_chart([("[0, 10)", 850.0, 100.0, 1600.0)]).count("<circle")
    1
    """
    labels = [label for label, *_ in rows]
    _check_labels(labels)
    low, high = min(0.0, *(row[2] for row in rows)), max(0.0, *(row[3] for row in rows))
    lines = _Rows(labels, [""] * len(rows), 0 if narrow else PADDING, narrow)
    scale = Scale(low, high, lines.left, lines.right)
    picture = Drawing()
    _draw_ticks(picture, scale, lines)
    for at, (_, value, start, end) in enumerate(rows):
        y = lines.middle(at)
        lines.write(picture, at)
        picture.line(scale.place(start), y, scale.place(end), y, stroke=_INTERVAL, thickness=2)
        picture.dot(scale.place(value), y, 4.4, fill=PALETTE[0])
    return picture.svg(lines.edge, lines.bottom + 24 + PADDING)


def range_chart(ranges: Sequence[Range], *, narrow: bool = False) -> str:
    """Return the text of an SVG element: a bar up to the low end, paler up to the high one, a line at the estimate.

    Where there is no high end the pale bar runs to the edge and stays open. A narrow chart fits a phone.

    >>> range_chart([Range("a", 10, 20, 15, "10 to 20"), Range("b", 3, None, None, "at least 3")]).count("at least")
    1
    """
    labels = [each.label for each in ranges]
    _check_labels(labels)
    top = max([1.0, *(each.high if each.high is not None else 1.25 * each.low for each in ranges)])
    rows = _Rows(labels, [each.note for each in ranges], GAP + max(text_width(each.note) for each in ranges), narrow)
    scale = Scale(0.0, top, rows.left, rows.right)
    picture = Drawing()
    _draw_ticks(picture, scale, rows)
    for at, each in enumerate(ranges):
        rows.write(picture, at)
        _draw_range(picture, scale, each, rows.middle(at), top)
        if not narrow:
            picture.text(rows.right + GAP, rows.middle(at), each.note, color=QUIET)
    return picture.svg(rows.edge, rows.bottom + 24 + PADDING)


def _draw_range(picture: Drawing, scale: Scale, each: Range, y: float, top: float) -> None:
    start, low = scale.place(0.0), scale.place(max(each.low, 0.0))
    high = scale.place(top if each.high is None else max(each.high, 0.0))
    picture.rectangle(low, y - 0.22 * STEP, max(high - low, 0.0), 0.44 * STEP, fill=_UNCERTAIN)
    picture.rectangle(start, y - 0.35 * STEP, low - start, 0.7 * STEP, fill=PALETTE[0])
    if each.estimate is not None and each.estimate >= 0:
        x = scale.place(each.estimate)
        picture.line(x, y - 0.42 * STEP, x, y + 0.42 * STEP, stroke=INK, thickness=2)


def _check_labels(labels: Sequence[str]) -> None:
    if not labels or len(set(labels)) < len(labels):
        raise InvalidInput("A chart needs at least one label, and each label once. Merge equal labels.")


def _draw_ticks(picture: Drawing, scale: Scale, rows: _Rows) -> None:
    ticks = [(tick, f"{tick:,.10g}") for tick in round_numbers(scale.low, scale.high)]
    draw_ticks(picture, scale, ticks, rows.bottom, top=PADDING, edge=rows.edge)


@dataclass(frozen=True)
class _Rows:
    """Rows with a label, a note and a bar each; bars begin at `left` and end at `right`.

    On a wide page the caller draws the notes, to the right of the bars; on a narrow one they share the line of the
    labels, or have one of their own where a label and its note are too long for one line.
    """

    labels: Sequence[str]
    notes: Sequence[str]
    beside: float
    """The room that is left for notes to the right of the bars."""
    narrow: bool = False

    @property
    def left(self) -> float:
        """The left end of bars."""
        return PADDING if self.narrow else PADDING + max(map(text_width, self.labels)) + GAP

    @property
    def right(self) -> float:
        """The right end of bars."""
        if self.narrow:
            return self.left + NARROW
        return max(self.left + LEAST_WIDTH, PAGE - PADDING - self.beside)

    @property
    def edge(self) -> float:
        """The right edge of the picture."""
        return self.right + (0 if self.narrow else self.beside) + PADDING

    @property
    def bottom(self) -> float:
        """The bottom of the last row."""
        return PADDING + len(self.labels) * self._step

    def middle(self, at: int) -> float:
        """Return the height of a row's bar, at its middle."""
        return PADDING + (at + 1) * self._step - STEP / 2 - (GAP / 2 if self.narrow else 0)

    def write(self, picture: Drawing, at: int) -> None:
        """Write the label of a row, and on a narrow page its note."""
        label, note = self.labels[at], self.notes[at]
        if not self.narrow:
            picture.text(self.left - GAP, self.middle(at), label, anchor="end")
            return
        top = PADDING + at * self._step
        picture.text(self.left, top + _LINE / 2, label)
        if note and self._lines == 1:
            picture.text(self.right, top + _LINE / 2, note, color=QUIET, anchor="end")
        elif note:
            picture.text(self.left, top + 1.5 * _LINE, note, color=QUIET)

    @cached_property
    def _lines(self) -> int:
        """The number of text lines in a row of a narrow chart."""
        pairs = zip(self.labels, self.notes, strict=True)
        fits = all(text_width(label) + text_width(note) + 2 * GAP <= NARROW for label, note in pairs)
        return 1 if fits else 2

    @property
    def _step(self) -> float:
        return STEP if not self.narrow else STEP + self._lines * _LINE + GAP

"""Charts with a row for every label: bars of counts, values within their intervals, and numbers as far as known.

Labels stand left of their bars, or above them in a narrow chart, which fits a phone. Labels that are times stand below
their bars, so that time runs from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.drawing import GRID, INK, NARROW, PADDING, PAGE, PALETTE, QUIET, Drawing, text_width
from crowdblend.reading.figures.quantity import Known, Measure, Quantity
from crowdblend.reading.figures.scales import Scale, draw_ticks, round_numbers

# Bars have as much room as labels and notes leave of the page, and so much at least.
LEAST_WIDTH = 120
STEP, GAP, _LINE = 25, 8, 17
# The height of upright bars.
HIGH = 200
_INTERVAL, _UNCERTAIN = "#7fb8d8", "#a9cfe8"


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
    low = min(0.0, *(min(row[1:3]) for row in rows))
    high = max(0.0, *(max(row[1], row[3]) for row in rows))
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


@dataclass(frozen=True)
class RangeChart:
    """Numbers by their labels: a bar up to the lower end, a paler one up to the upper end, a line at the estimate.

    Where there is no upper end the pale bar runs to the edge. Where the quantity is a count, bars are counts. With
    `upright` labels stand below, from left to right.

    >>> numbers = {"a": Known(9, 10, 20, 15.0), "b": Known(2, 3)}
    >>> chart = RangeChart(Quantity.shared_by(numbers.values(), published="people", estimated="people"), numbers)
    >>> chart.svg().count("at least 3"), chart.svg(narrow=True).count("15 (10 to 20)")
    (1, 1)
    """

    quantity: Quantity
    numbers: Mapping[str, Known]
    upright: bool = False

    def __post_init__(self) -> None:
        _check_labels(list(self.numbers))

    @property
    def caption(self) -> str:
        """The meaning of bars and lines."""
        if self.quantity.measure is Measure.COUNT:
            return ""
        every = self.numbers.values()
        if self.quantity.measure is Measure.ESTIMATE:
            lines = ["The line is the estimate; the strong and the faint bar end at the ends of the 95 % interval."]
        else:
            lines = ["The strong bar ends at the lower end of the 95 % interval, the faint one at the upper end."]
            some = any(one.estimate is not None for one in every)
            lines.append(
                "The line is the estimate; where there is none, some cells are not published."
                if some
                else "There is no estimate, since cells below the threshold are not published."
            )
        lines += (
            ["A faint bar that runs to the edge has no upper end."] if any(one.high is None for one in every) else []
        )
        return " ".join(lines)

    def ends(self, number: Known) -> tuple[float, float | None]:
        """Return the ends of the strong and of the faint bar; None at the edge."""
        if self.quantity.measure is Measure.COUNT:
            return number.count, number.count
        assert number.low is not None
        return number.low, number.high

    @property
    def top(self) -> float:
        """The number at the end of the scale."""
        ends = map(self.ends, self.numbers.values())
        return max([1.0, *(high if high is not None else 1.25 * low for low, high in ends)])

    def svg(self, *, narrow: bool = False) -> str:
        """Return the text of an SVG element; a narrow chart fits a phone."""
        return self._columns(narrow) if self.upright else self._rows(narrow)

    def _rows(self, narrow: bool) -> str:
        notes = [self._note(number) for number in self.numbers.values()]
        rows = _Rows(list(self.numbers), notes, GAP + max(map(text_width, notes)), narrow)
        scale = Scale(0.0, self.top, rows.left, rows.right)
        picture = Drawing()
        _draw_ticks(picture, scale, rows)
        for at, number in enumerate(self.numbers.values()):
            y = rows.middle(at)
            rows.write(picture, at)
            low, high = map(scale.place, self._drawn_ends(number))
            picture.rectangle(low, y - 0.22 * STEP, high - low, 0.44 * STEP, fill=_UNCERTAIN)
            picture.rectangle(scale.start, y - 0.35 * STEP, low - scale.start, 0.7 * STEP, fill=PALETTE[0])
            if (estimate := self._estimate(number)) is not None:
                x = scale.place(estimate)
                picture.line(x, y - 0.42 * STEP, x, y + 0.42 * STEP, stroke=INK, thickness=2)
            if not narrow:
                picture.text(rows.right + GAP, y, notes[at], color=QUIET)
        return picture.svg(rows.edge, rows.bottom + 24 + PADDING)

    def _columns(self, narrow: bool) -> str:
        """Draw a column for every label, and as many labels and numbers as there is room for."""
        ticks = round_numbers(0.0, self.top)
        left = PADDING + GAP + max(text_width(f"{tick:,.10g}") for tick in ticks)
        right = PADDING + NARROW if narrow else PAGE - PADDING
        step, bottom = (right - left) / len(self.numbers), PADDING + 20 + HIGH
        wide = max(0.5, min(0.7 * step, 40.0))
        scale = Scale(0.0, self.top, bottom, PADDING + 20)
        picture = Drawing()
        for tick in ticks:
            picture.line(left, scale.place(tick), right, scale.place(tick), stroke=GRID)
            picture.text(left - GAP, scale.place(tick), f"{tick:,.10g}", color=QUIET, anchor="end")
        for at, number in enumerate(self.numbers.values()):
            x = left + (at + 0.5) * step
            low, high = map(scale.place, self._drawn_ends(number))
            picture.rectangle(x - 0.31 * wide, high, 0.62 * wide, low - high, fill=_UNCERTAIN)
            picture.rectangle(x - 0.5 * wide, low, wide, bottom - low, fill=PALETTE[0])
            if (estimate := self._estimate(number)) is not None:
                y = scale.place(estimate)
                picture.line(x - 0.6 * wide, y, x + 0.6 * wide, y, stroke=INK, thickness=2)
        places = Scale(0.0, len(self.numbers), left, right)
        labels = [(at + 0.5, text) for at, text in enumerate(self.numbers)]
        draw_ticks(picture, places, labels, bottom, top=None, edge=right + PADDING)
        numbers = ["".join(self.quantity.short_texts(number)) for number in self.numbers.values()]
        if max(map(text_width, numbers)) + 6 <= step:
            for at, (text, number) in enumerate(zip(numbers, self.numbers.values(), strict=True)):
                height = min(map(scale.place, self._drawn_ends(number))) - 12
                picture.text(places.place(at + 0.5), height, text, size=11, color=QUIET, anchor="middle")
        return picture.svg(right + PADDING, bottom + 24 + PADDING)

    def _note(self, number: Known) -> str:
        return f"{number.count:,}" if self.quantity.measure is Measure.COUNT else number.text

    def _drawn_ends(self, number: Known) -> tuple[float, float]:
        low, high = self.ends(number)
        return max(low, 0.0), self.top if high is None else max(high, low, 0.0)

    def _estimate(self, number: Known) -> float | None:
        """Return where the line of the estimate is; none where it is below zero."""
        drawn = self.quantity.measure is not Measure.COUNT and number.estimate is not None and number.estimate >= 0
        return number.estimate if drawn else None


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

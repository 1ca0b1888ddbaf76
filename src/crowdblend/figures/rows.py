"""Where the rows of a chart lie: labels left of their bars, or above them where the page is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from crowdblend.figures.drawing import Drawing, text_width
from crowdblend.figures.style import PADDING, QUIET

STEP, GAP = 25, 8
# With its padding a narrow chart fits a phone of 390 pixels.
NARROW = 318
_LINE = 17


@dataclass(frozen=True)
class Rows:
    """Rows with a label, a note and a bar each; bars begin at `left` and end at `right`.

    On a wide page the caller draws the notes, to the right of the bars; on a narrow one they share the line of the
    labels, or have one of their own where a label and its note are too long for one line.
    """

    labels: Sequence[str]
    notes: Sequence[str]
    width: float
    narrow: bool = False

    @property
    def left(self) -> float:
        """Where bars begin."""
        return PADDING if self.narrow else PADDING + max(map(text_width, self.labels)) + GAP

    @property
    def right(self) -> float:
        """Where bars end."""
        return self.left + (NARROW if self.narrow else self.width)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return PADDING + len(self.labels) * self._step

    def middle(self, at: int) -> float:
        """The height of a row's bar, at its middle."""
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
        """How many lines of text a row of a narrow chart has."""
        pairs = zip(self.labels, self.notes, strict=True)
        fits = all(text_width(label) + text_width(note) + 2 * GAP <= NARROW for label, note in pairs)
        return 1 if fits else 2

    @property
    def _step(self) -> float:
        return STEP if not self.narrow else STEP + self._lines * _LINE + GAP

"""Legends of shades: a strip of them with numbers beside it."""

from __future__ import annotations

from crowdblend.reading.figures.drawing import QUIET, Drawing, text_width
from crowdblend.reading.figures.quantity import compact
from crowdblend.reading.figures.scales import Scale, Shade, log_ticks, round_numbers

LEGEND_HEIGHT, _STEPS, _WIDE, _GAP = 150, 32, 14, 6
# Numbers nearer to each other than this would touch.
_APART = 16
_SIZE = 11
LOGARITHMIC = "logarithmic"


def draw_legend(picture: Drawing, shade: Shade, x: float, y: float, *titles: str) -> float:
    """Draw what the shades stand for, most on top, below its titles; return its right edge."""
    for at, title in enumerate(titles):
        picture.text(x, y + 6 + 16 * at, title, weight=600 if at == 0 else None)
    notes = [LOGARITHMIC] if shade.log and shade.high > shade.low else []
    top, bottom = y + 6 + 16 * len(titles), y + LEGEND_HEIGHT - 18 * len(notes)
    tall = (bottom - top) / _STEPS
    for at in range(_STEPS):
        color = Shade(0, 1, log=False).color(1 - (at + 0.5) / _STEPS)
        picture.rectangle(x, top + at * tall, _WIDE, tall + 0.5, fill=color)
    place = Scale(shade.low, shade.high, bottom - 6, top + 6, shade.log).place
    written: list[tuple[float, str]] = []
    for value in _ticks(shade):
        height = place(value)
        if all(abs(height - other) >= _APART for other, _ in written):
            written.append((height, compact(round(value))))
    for height, text in written:
        picture.text(x + _WIDE + _GAP, height, text)
    for at, note in enumerate(notes):
        picture.text(x, bottom + 14 + 16 * at, note, size=_SIZE, color=QUIET)
    numbers = [_WIDE + _GAP + text_width(text) for _, text in written]
    return x + max(*map(text_width, titles), *(text_width(note, _SIZE) for note in notes), *numbers, 0.0)


def _ticks(shade: Shade) -> list[float]:
    """Return both ends, and round numbers between them; whole ones, since what is counted is whole."""
    low, high = shade.low, shade.high
    if not high > low:
        return [low]
    between = log_ticks(low, high) if shade.log else round_numbers(low, high)
    return [high, low, *(tick for tick in between if low < tick < high and tick == round(tick))]

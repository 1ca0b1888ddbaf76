"""SVG pictures put together from rectangles, lines, dots and text, and how all of them look.

Text keeps its own size, so a picture needs to know how much room a label takes. Fonts differ from reader to reader;
`text_width` therefore estimates on the generous side.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from unicodedata import category, east_asian_width

# Okabe and Ito's colours, told apart by readers of every colour vision; their yellow vanishes on white and gave way.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#333333")
SHADES = ("#dbeaf5", "#8fbfe0", "#2f86c1", "#08406e")
INK, QUIET, GROUND, GRID, LINE = "#1f2328", "#57606a", "#f3f4f6", "#e6e8eb", "#8c959f"
FONT = "Inter, Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
PADDING, TEXT_SIZE = 16, 12
# A picture is as wide as the page of a report; with its padding a narrow one fits a phone of 390 pixels.
PAGE, NARROW = 824, 318

_HATCH_STEP = 7
_NARROW = frozenset("ijl|!.,:;'`()[]{}frtI /\\-")
_BROAD = frozenset("mwMWQOGD@%…—≥≤<>=+")


def text_width(text: str, size: float = TEXT_SIZE) -> float:
    """Return about how wide a line of text is drawn, in the units of the picture.

    >>> text_width("iii") < text_width("nnn") < text_width("MMM")
    True
    """
    return size * sum(map(_width, text))


def wrap(text: str, width: float, size: float = TEXT_SIZE) -> list[str]:
    """Return a sentence in lines that are at most so wide, or of one word.

    >>> wrap("what falls together, and what does not", 120)
    ['what falls together,', 'and what does not']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if east_asian_width(character) in "WF":
        return 1.05
    if category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    return 0.92 if character in _BROAD else 0.68 if character.isupper() else 0.58


class Drawing:
    """Shapes in the order in which they are drawn; whatever is text is escaped.

    >>> picture = Drawing()
    >>> picture.text(0, 10, "1 < 2")
    >>> picture.svg(50, 20).count("1 &lt; 2")
    1
    """

    def __init__(self) -> None:
        self._shapes: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str | None = None,
        thickness: float = 1.0,
        radius: float = 0.0,
    ) -> None:
        """A rectangle by its upper left corner."""
        more = _attribute("rx", radius or None) + _stroke(stroke, thickness)
        self._shapes.append(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
            f' fill="{fill}"{more}></rect>'
        )

    def line(self, x: float, y: float, x2: float, y2: float, *, stroke: str, thickness: float = 1.0) -> None:
        """A straight line between two points."""
        ends = f'x1="{_number(x)}" y1="{_number(y)}" x2="{_number(x2)}" y2="{_number(y2)}"'
        self._shapes.append(f"<line {ends}{_stroke(stroke, thickness)}></line>")

    def hatch(self, x: float, y: float, width: float, height: float, *, stroke: str, opacity: float) -> None:
        """Slanted lines over a rectangle, given by its upper left corner."""
        lines, reach = [], _HATCH_STEP
        while reach < width + height:
            down, across = min(reach, height), min(reach, width)
            ends = (x + reach - down, y + down, x + across, y + reach - across)
            lines.append("M{} {}L{} {}".format(*map(_number, ends)))
            reach += _HATCH_STEP
        self._shapes.append(
            f'<path d="{"".join(lines)}" fill="none"{_stroke(stroke, 1.5)} stroke-opacity="{_number(opacity)}"></path>'
        )

    def path(
        self, points: Iterable[tuple[float, float]], *, stroke: str, thickness: float, dashed: bool = False
    ) -> None:
        """A line through points, in their order."""
        places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        self._shapes.append(
            f'<polyline points="{places}" fill="none"{_stroke(stroke, thickness)} stroke-linejoin="round"{dashes}>'
            "</polyline>"
        )

    def dot(self, x: float, y: float, radius: float, *, fill: str) -> None:
        """A filled circle."""
        self._shapes.append(
            f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="{fill}"></circle>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = TEXT_SIZE,
        color: str = INK,
        anchor: str = "start",
        weight: int | None = None,
        angle: float | None = None,
    ) -> None:
        """A line of text whose middle is at the height y; `anchor` says which end of it is at x."""
        place = f'x="{_number(x)}" y="{_number(y + 0.35 * size)}"'
        if angle is not None:
            place = f'transform="translate({_number(x)} {_number(y)}) rotate({_number(angle)})"'
        self._shapes.append(
            f'<text {place} font-size="{_number(size)}" fill="{color}" text-anchor="{anchor}"'
            f"{_attribute('font-weight', weight)}>{escape(text)}</text>"
        )

    def lines(
        self,
        x: float,
        y: float,
        texts: Iterable[str],
        *,
        size: float = TEXT_SIZE,
        color: str = QUIET,
        weight: int | None = None,
    ) -> None:
        """Lines of text, one below the other."""
        for at, text in enumerate(texts):
            self.text(x, y + at * size * 1.45, text, size=size, color=color, weight=weight)

    def svg(self, width: float, height: float, *, ground: str | None = None) -> str:
        """Return the picture as the text of an SVG element of that size, on a ground of one colour or on none."""
        wide, high = _number(width), _number(height)
        below = "" if ground is None else f'<rect width="{wide}" height="{high}" rx="8" fill="{ground}"></rect>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
            f' font-family="{escape(FONT)}">{below}{"".join(self._shapes)}</svg>'
        )


def _stroke(color: str | None, thickness: float) -> str:
    return "" if color is None else f' stroke="{color}" stroke-width="{_number(thickness)}"'


def _attribute(name: str, value: float | None) -> str:
    return "" if value is None else f' {name}="{_number(value)}"'


@lru_cache(maxsize=1024)
def _number(value: float) -> str:
    """Return a coordinate to a hundredth: finer is not seen, and differs from processor to processor."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")

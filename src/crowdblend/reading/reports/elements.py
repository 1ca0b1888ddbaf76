"""Elements of HTML: what is put into one is escaped and loses its control characters, unless it is HTML already."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from crowdblend.reading.reports.text import without_controls

# These have nothing inside, and no end.
_EMPTY = {"meta", "input"}


def element(name: str, /, *inside: object, **attributes: object) -> Markup:
    """Return an element; an underscore in an attribute's name is a dash, and one that is None or False is left out.

    >>> element("a", "1 < 2", href="#x", class_="quiet", aria_label=None)
    Markup('<a href="#x" class="quiet">1 &lt; 2</a>')
    """
    said = [
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html_of(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    begin = f"<{name}{''.join(said)}>"
    return Markup(begin if name in _EMPTY else f"{begin}{''.join(map(html_of, inside))}</{name}>")


def together(parts: Iterable[object], between: str = "\n") -> Markup:
    """Return HTML one after the other, by default each on a line of its own.

    >>> together(["a & b", element("b", "c")], " ")
    Markup('a &amp; b <b>c</b>')
    """
    return Markup(between.join(map(html_of, parts)))


def html_of(value: object) -> Markup:
    """Return a value as HTML."""
    return escape(without_controls(value))

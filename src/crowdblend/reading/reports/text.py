"""Text and numbers as a page prints them.

Whatever comes from data is made visible and cut; risks are rounded up, so that none is printed smaller than it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

LONGEST = 80
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "�")
_CONTROLS = {code: chr(0x2400 + code) for code in range(32)} | dict.fromkeys(range(127, 160), "�")
_UNSEEN = {**_CONTROLS, **_BIDI, 0x2028: "␤", 0x2029: "␤", 0xFFFE: "�", 0xFFFF: "�"}
# Line ends keep the page readable as text and are the only control characters on it.
_OBEYED = {code: sign for code, sign in _UNSEEN.items() if code != 10}


def visible(text: str) -> str:
    """Return the text with characters that do not show, or that turn the direction of others, made visible.

    >>> visible("two\\nlines")
    'two␊lines'
    """
    plain = text.translate(_UNSEEN) or "(empty)"
    return plain if plain.strip() else "␠" * len(plain)


def shorten(text: object, longest: int = LONGEST) -> str:
    """Return the text, cut visibly when it is too long.

    >>> shorten("x" * 10_000, 3)
    'xxx… (10,000 characters)'
    """
    plain = visible(str(text))
    return plain if len(plain) <= longest else f"{plain[:longest]}… ({len(str(text)):,} characters)"


def label(text: str, longest: int = LONGEST) -> Markup:
    """Return a label from the data, shortened, and kept from turning the writing direction around it."""
    return Markup(f"<bdi>{escape(shorten(text, longest))}</bdi>")


def without_controls(value: object) -> object:
    """Return what a template prints without control characters; HTML of our own stays as it is."""
    return value.translate(_OBEYED) if type(value) is str else value


def inline_svg(svg: str, description: str) -> Markup:
    """Return an SVG element for the inside of a page, with a description for those who cannot see it."""
    # Inside HTML the name space means nothing, and without it the page names no outside address at all.
    root = svg.removeprefix("<svg").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return Markup(f'<svg role="img" aria-label="{escape(description.translate(_OBEYED))}"{root}')


def distinct_labels(labels: Iterable[str], longest: int) -> dict[str, str]:
    """Return labels cut to fit a figure, each still different from all the others.

    >>> distinct_labels(["aaaa", "aaab", "b"], 3)
    {'aaaa': 'aaa…', 'aaab': 'aaa… (2)', 'b': 'b'}
    """
    fitted: dict[str, str] = {}
    for text in labels:
        plain = visible(text)
        short = plain if len(plain) <= longest else f"{plain[:longest]}…"
        others, number, name = set(fitted.values()), 1, short
        while name in others:
            number += 1
            name = f"{short} ({number})"
        fitted[text] = name
    return fitted


def enumeration(names: Iterable[str]) -> str:
    """Return names as one says them.

    >>> enumeration(["age", "sex", "region"])
    'age, sex and region'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

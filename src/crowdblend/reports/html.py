"""HTML that cannot be broken out of: every string is escaped unless it is Html."""

from __future__ import annotations

from html import escape

LONGEST = 80
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "�")
_CONTROLS = {code: chr(0x2400 + code) for code in range(32)} | dict.fromkeys(range(127, 160), "�")
_UNSEEN = {**_CONTROLS, **_BIDI, 0x2028: "␤", 0x2029: "␤", 0xFFFE: "�", 0xFFFF: "�"}
_EMPTY = {"meta", "br"}
# Line ends keep the page readable as text and are the only control characters on it.
_OBEYED = {code: sign for code, sign in _UNSEEN.items() if code != 10}


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | bool) -> Html:
    """An element; children that are not Html are escaped, and attributes always are.

    >>> element("p", "1 < 2 ", element("b", "so"), class_="plain")
    '<p class="plain">1 &lt; 2 <b>so</b></p>'
    """
    named = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    if name in _EMPTY:
        return Html(f"<{name}{named}>")
    return Html(f"<{name}{named}>{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Pieces one after the other, each escaped unless it is Html."""
    return Html("".join(child if isinstance(child, Html) else _escape(child) for child in children))


def visible(text: str) -> str:
    """The text with characters that do not show, or that turn the direction of others, made visible.

    >>> visible("two\\nlines")
    'two␊lines'
    """
    plain = text.translate(_UNSEEN) or "(empty)"
    return plain if plain.strip() else "␠" * len(plain)


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text, cut visibly when it is too long.

    >>> shorten("x" * 10_000, 3)
    'xxx… (10,000 characters)'
    """
    plain = visible(text)
    return plain if len(plain) <= longest else f"{plain[:longest]}… ({len(text):,} characters)"


def label(text: str, longest: int = LONGEST) -> Html:
    """A label from the data, shortened, and kept from turning the writing direction around it."""
    return element("bdi", shorten(text, longest))


def table(headers: list[str], rows: list[list[str]], *, caption: str, numbers: frozenset[int] = frozenset()) -> Html:
    """A table with a caption and named headers; the columns in `numbers` are set to the right."""
    head = [element("th", header, scope="col", **_right(at in numbers)) for at, header in enumerate(headers)]
    body = [
        element("tr", *(element("td", cell, **_right(at in numbers)) for at, cell in enumerate(row)), "\n")
        for row in rows
    ]
    whole = element(
        "table", element("caption", caption), element("thead", element("tr", *head)), "\n", element("tbody", *body)
    )
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


def inline_svg(drawn: str, description: str) -> Html:
    """An SVG element inside the page, with a description for those who cannot see it."""
    # Inside HTML the name space means nothing, and without it the page names no outside address at all.
    root = drawn.removeprefix("<svg").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return Html(f'<svg role="img" aria-label="{_escape(description)}"{root}')


def _escape(text: str) -> str:
    return escape(text.translate(_OBEYED))


def _right(number: bool) -> dict[str, str]:
    return {"class_": "number"} if number else {}


def _attribute(name: str, value: str | bool) -> str:
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{_escape(str(value))}"'

"""Forms of a page as a browser sends them: which fields, with which values, after what HTML does to these."""

from dataclasses import dataclass
from html.parser import HTMLParser

Attributes = dict[str, str]


@dataclass(frozen=True)
class Form:
    """A form: where it is sent by a script, or by a click, and its fields, buttons aside."""

    action: str
    fields: tuple[tuple[str, str], ...]


class _Forms(HTMLParser):
    """The forms of a page, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str]]]] = []
        self._inside = False
        self._select: tuple[Attributes, list[tuple[str, bool]]] | None = None
        self._option: tuple[Attributes, list[str]] | None = None
        self._area: tuple[Attributes, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a form, a field, or the beginning of one."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = True
            self.found.append((given.get("hx-post") or given.get("action", ""), []))
        elif tag == "input" and given.get("name"):
            self._add_input(given)
        elif tag == "select":
            self._select = (given, [])
        elif tag == "option" and self._select is not None:
            self._end_option()
            self._option = (given, [])
        elif tag == "textarea":
            self._area = (given, [])

    def handle_endtag(self, tag: str) -> None:
        """Add the field that ends."""
        if tag == "form":
            self._inside = False
        elif tag == "option":
            self._end_option()
        elif tag == "select" and self._select is not None:
            self._end_option()
            given, options = self._select
            chosen = [value for value, selected in options if selected] or [value for value, _ in options[:1]]
            self._add(given, chosen[-1:])
            self._select = None
        elif tag == "textarea" and self._area is not None:
            given, texts = self._area
            self._add(given, ["".join(texts).removeprefix("\n")])
            self._area = None

    def handle_data(self, data: str) -> None:
        """Add text to the field that it stands in."""
        for holder in (self._option, self._area):
            if holder is not None:
                holder[1].append(data)

    def _end_option(self) -> None:
        if self._option is not None and self._select is not None:
            given, texts = self._option
            text = given.get("value", " ".join("".join(texts).split()))
            self._select[1].append((text, "selected" in given))
        self._option = None

    def _add_input(self, given: Attributes) -> None:
        kind = given.get("type", "text")
        if kind in ("checkbox", "radio"):
            self._add(given, [given.get("value", "on")] if "checked" in given else [])
        elif kind == "hidden":
            self._add(given, [given.get("value", "")])
        elif kind not in ("submit", "button", "file", "image", "reset"):
            self._add(given, [given.get("value", "").replace("\n", "").replace("\r", "")])

    def _add(self, given: Attributes, values: list[str]) -> None:
        if self._inside and given.get("name") and "disabled" not in given:
            for value in values:
                ends = value.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
                self.found[-1][1].append((given["name"], ends))


def forms_of(page: str) -> list[Form]:
    """The forms of a page."""
    parser = _Forms()
    parser.feed(page.replace("\r\n", "\n").replace("\r", "\n"))
    parser.close()
    return [Form(action, tuple(fields)) for action, fields in parser.found]

"""The blocks of a page: paragraphs, headings, tables, figures, and the steps of a derivation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from crowdblend.reading.reports.elements import element, together
from crowdblend.reading.reports.text import inline_svg
from crowdblend.trusted.guarantees.wording import fact

if TYPE_CHECKING:
    from crowdblend.trusted.calculus import Derivation


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str

    def html(self) -> Markup:
        """Return it as HTML."""
        return element("h3", self.text)


@dataclass(frozen=True)
class Table:
    """A table; the columns in `right` are numbers. A folded one stands below the figure that draws it."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    right: Collection[int] = ()
    folded: bool = False

    def html(self) -> Markup:
        """Return it as HTML."""
        caption = self.caption
        names = [element("th", name, scope="col", class_=self._class(at)) for at, name in enumerate(self.headers)]
        rows = [
            element("tr", *(element("td", cell, class_=self._class(at)) for at, cell in enumerate(row)))
            for row in self.rows
        ]
        head = element("thead", element("tr", *names))
        table = element("table", element("caption", caption), head, element("tbody", together(rows)), class_="plain")
        said = caption.striptags() if isinstance(caption, Markup) else caption
        # What scrolls needs the focus to work from the keyboard.
        scrolled = element("div", table, class_="scroll", tabindex=0, role="region", aria_label=said)
        return element("details", _THE_NUMBERS, scrolled, class_="numbers") if self.folded else scrolled

    def _class(self, at: int) -> str | None:
        return "number" if at in self.right else None


_THE_NUMBERS = element("summary", "The numbers")


@dataclass(frozen=True)
class Figure:
    """A figure with its caption, which also describes it to those who cannot see it; without `narrow` it scrolls."""

    caption: str
    wide: Markup
    narrow: Markup | None

    def html(self) -> Markup:
        """Return it as HTML."""
        named = "scroll" if self.narrow is None else "scroll wide"
        drawn = [element("div", self.wide, class_=named, tabindex=0, role="group")]
        drawn += [] if self.narrow is None else [element("div", self.narrow, class_="narrow")]
        return element("figure", *drawn, element("figcaption", self.caption))


@dataclass(frozen=True)
class Group:
    """Blocks that the stylesheet knows by a name."""

    name: str
    blocks: Sequence[Block]

    def html(self) -> Markup:
        """Return it as HTML."""
        return element("div", show(self.blocks), class_=self.name)


# A string is a paragraph.
Block = str | Heading | Table | Figure | Group


def figure(draw: Callable[[bool], str], caption: str, *, scrolls: bool = False) -> Figure:
    """Return a figure; `draw` is called with False, and for phones with True unless the figure scrolls there."""
    return Figure(caption, inline_svg(draw(False), caption), None if scrolls else inline_svg(draw(True), caption))


def figures(blocks: Sequence[Block]) -> Iterator[Figure]:
    """Yield the figures among blocks, in groups as well, in their order."""
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Group):
            yield from figures(block.blocks)


def show(blocks: Sequence[Block]) -> Markup:
    """Return blocks as HTML, one after the other."""
    return together(element("p", block) if isinstance(block, str) else block.html() for block in blocks)


def show_step(step: Derivation) -> Markup:
    """Return a step of a derivation as HTML, and inside it the steps it rests on."""
    theorem, assumed = step.rule.theorem, step.own_assumptions()
    parts = [
        element("summary", element("code", theorem.id), " ", step.conclusion.words()),
        element("p", theorem.statement),
        element("p", "Source: ", theorem.source, class_="quiet"),
    ]
    if step.parameters:
        each = ", ".join(f"{name} = {fact(value)}" for name, value in step.parameters.items())
        parts.append(element("p", "With ", element("code", each)))
    if assumed:
        parts.append(element("p", "Assuming: ", " ".join(one.sentence() for one in assumed), class_="quiet"))
    if step.premises:
        parts += [element("p", "From:"), *map(show_step, step.premises)]
    return element("details", together(parts), class_="step")

"""The page: first for someone who has never heard of ε, then for someone who wants to check.

A kind shows its releases as a `View`, made of blocks; everything else on the page is the same for all kinds.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import ClassVar

from markupsafe import Markup

from crowdblend.calculus import Assumption
from crowdblend.frozen import dataclass
from crowdblend.guarantees.guessing import lead
from crowdblend.lazy import lazy_imports
from crowdblend.policies.registry import part
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.crowd_facts import RecodingFacts
from crowdblend.reports.sentences import describe_column, explanation
from crowdblend.reports.text import fact, inline_svg, label, round_up, shorten, without_controls

with lazy_imports():
    import jinja2

CHOSEN_RECODING = "Which recoding was chosen"
_EVERYBODY = "Everybody in the data took part in the choice; the published sample was drawn separately."
_SPLIT = "A part of the sample made the choice; nobody in that part is published."
REPORT = "report.html"
TEMPLATES = Path(__file__).parent / "templates"
LOOK = TEMPLATES / "look.css"
CHECKER = TEMPLATES / "check.js"
# What comes after the data.
AFTER = {
    "reading": "How to read the numbers",
    "guarantee": "What is guaranteed",
    "assumptions": "What the guarantee assumes",
    "derivation": "For researchers: why the guarantee holds",
    "verify": "How to check it yourself",
    "details": "Parameters, files and software",
}


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    kind: ClassVar = "heading"
    text: str


@dataclass(frozen=True)
class Table:
    """A table; the columns in `right` are numbers. A folded one stands below the figure that draws it."""

    kind: ClassVar = "table"
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    right: Collection[int] = ()
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure with its caption, which also describes it to those who cannot see it; without `narrow` it scrolls."""

    kind: ClassVar = "figure"
    caption: str
    wide: Markup
    narrow: Markup | None


@dataclass(frozen=True)
class Group:
    """Blocks that the stylesheet knows by a name."""

    kind: ClassVar = "group"
    name: str
    blocks: Sequence[Block]


# A string is a paragraph.
Block = str | Heading | Table | Figure | Group


@dataclass(frozen=True)
class Part:
    """A section of the page; one that continues another is not listed in the contents."""

    name: str
    heading: str
    blocks: Sequence[Block]
    listed: bool = True


@dataclass(frozen=True)
class View:
    """A release as its kind shows it: `what` completes "This release is …", `keys` are its first numbers."""

    heading: str
    what: str
    keys: Sequence[tuple[str, str]]
    reading: Sequence[str]
    parts: Sequence[Part]


def figure(draw: Callable[[bool], str], caption: str, *, scrolls: bool = False) -> Figure:
    """Return a figure; `draw` is called with False, and for phones with True unless the figure scrolls there."""
    return Figure(caption, inline_svg(draw(False), caption), None if scrolls else inline_svg(draw(True), caption))


def view_of(folder: PublishedRelease, figures: bool) -> View:
    """Return the view of a release by its kind: what `view(folder, figures)` in the kind's module `view` returns."""
    view: View = part(folder.kind, "view").view(folder, figures)
    return view


def page(folder: PublishedRelease, view: View, figures: bool) -> str:
    """Return the whole report, as one HTML document that loads nothing."""
    about = folder.about
    said = [view.heading] if about.get("title") else []
    said += [about[name] for name in ("publisher", "period", "licence", "contact", "date") if about.get(name)]
    assumptions = {assumed.assumption for assumed in folder.certificate.assumptions()}
    contents = [*((part.name, part.heading) for part in view.parts if part.listed), *AFTER.items()]
    template = environment().get_template("report.html")
    return template.render(
        title=about.get("title") or view.heading,
        about=said,
        lead=lead(folder.guarantees, folder.facts.planned_releases),
        assumed=None if folder.facts.assumption is None else folder.facts.assumption.value,
        keys=[*view.keys, *_keys(folder)],
        contents=contents,
        headings=AFTER,
        hashes=_hashes(folder),
        certificate=folder.certificate,
        explanation=explanation(folder.certificate),
        secret_sample=Assumption.SECRET_SAMPLE in assumptions and not folder.facts.counts_everybody,
        view=view,
        columns=_columns(folder),
        details=_details(folder),
        figures=figures,
    )


def make_environment(*folders: Path) -> jinja2.Environment:
    """Return the templates of these folders and those of reports: all is escaped, and a misspelt name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=without_controls,
        bytecode_cache=_bytecode_cache(),
    )
    made.filters |= {"fact": fact, "shorten": shorten}
    checker = CHECKER.read_text(encoding="utf-8")
    made.globals["look"] = Markup(LOOK.read_text(encoding="utf-8"))
    # The page runs this script and no other: its hash stands in the page's own security policy.
    made.globals["checker"] = Markup(checker)
    made.globals["checker_hash"] = base64.b64encode(hashlib.sha256(checker.encode()).digest()).decode()
    return made


@cache
def environment() -> jinja2.Environment:
    """Return the templates of reports."""
    return make_environment()


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Return the folder in which Python keeps the bytecode of this module, where it may be written to."""
    folder = Path(cache_from_source(__file__)).parent
    writable = not sys.dont_write_bytecode and os.access(folder, os.W_OK)
    return jinja2.FileSystemBytecodeCache(str(folder), "template-%s.cache") if writable else None


def _keys(folder: PublishedRelease) -> list[tuple[str, str]]:
    """Return the parameters that every kind of release has."""
    keys = []
    crowds, rate, guarantee = folder.facts.crowds.values(), folder.facts.rate, folder.certificate.differential()
    if len(set(crowds)) > 1:
        keys.append(("k, the smallest crowd, by table", f"{min(crowds):,} – {max(crowds):,}"))
    elif crowds:
        keys.append(("k, the smallest crowd", f"{max(crowds):,}"))
    sample = folder.facts.sample
    inclusion = None if sample is None else sample.inclusion
    if inclusion is not None and inclusion.least < inclusion.most:
        shares = f"{100 * inclusion.least:.4g} – {100 * inclusion.most:.4g} %"
        keys.append(("share of people sampled", shares))
    elif rate is not None:
        keys.append(("share of people sampled", f"{100 * rate:.4g} %"))
    if guarantee is not None:
        keys += [("ε, privacy loss", round_up(guarantee.epsilon)), ("δ, added probability", round_up(guarantee.delta))]
    return keys


def _columns(folder: PublishedRelease) -> list[Table]:
    declared = folder.facts.declared_domains.items()
    rows = [
        [label(name), shorten("; averaged as ".join(map(describe_column, domains)), 400)] for name, domains in declared
    ]
    return [Table(["column", "how values became labels"], rows, "The columns")] if rows else []


def _hashes(folder: PublishedRelease) -> dict[str, str]:
    """Return the certified hashes of files; the page cannot show its own."""
    return {name: value for name, value in folder.facts.files.items() if name != REPORT}


def _details(folder: PublishedRelease) -> list[Table]:
    def cells(statement: Mapping[str, object]) -> list[list[str]]:
        return [[shorten(str(name), 400), shorten(fact(value), 400)] for name, value in statement.items()]

    facts = folder.facts
    release = {"kind": facts.kind, **facts.whole_parameters}
    hashes = [[shorten(name, 400), Markup("<code>{}</code>").format(value)] for name, value in _hashes(folder).items()]
    tables = [
        Table(["parameter", "value"], cells(release), "Parameters, as the release states them"),
        Table(["file", "SHA-256"], hashes, "Files, as certified"),
        Table(["software", "version"], cells(facts.software), "Software that made the release"),
    ]
    return [table for table in tables if table.rows]


def chosen_recoding(facts: RecodingFacts | None) -> list[Block]:
    """Return what was chosen and what each column lost; nothing where nothing was chosen."""
    if facts is None or not facts.chosen:
        return []
    rows = [
        [label(name), f"{level.step + 1} of {level.steps}", fact(level.classes), f"{100 * level.loss:.3g} %"]
        for name, level in facts.chosen.items()
    ]
    steps = f", in {facts.choice.choices} steps with some columns each" if facts.choice.choices > 1 else ""
    intro = (
        f"How coarse the labels are was chosen among {fact(facts.recodings)} combinations of levels, at random, "
        f"favouring those that keep more{steps}. {_EVERYBODY if facts.share is None else _SPLIT} The guarantee covers "
        f"the choice, which costs ε = {fact(facts.choice.epsilon)}."
    )
    caption = "The chosen levels: step 1 is the finest; lost is 0 % where all values are kept, 100 % where none is"
    levels = Table(["column", "step", "labels", "lost"], rows, caption, {1, 2, 3})
    return [intro, levels]

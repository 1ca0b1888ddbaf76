"""A programme as readers see it: what is true of all publications, and then a chapter for each."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from crowdblend.policies.registry import kind_of
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.page import Block, Heading, Part, Table, View
from crowdblend.reports.text import label
from crowdblend.reports.views import view_of

_KEYS = ("rate", "k", "noise_epsilon")


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the publications one after the other, each as its kind shows it."""
    facts = folder.facts
    chapters: list[Part] = [Part("publications", "What is published", [*facts.together, _overview(folder)])]
    for name, one in folder.publications.items():
        shown = view_of(one, figures)
        keys = Table(
            ["what", "value"],
            [[label(key), value] for key, value in shown.keys],
            Markup("Key numbers of {}").format(label(name)),
        )
        blocks: list[Block] = [f"This publication is {shown.what}.", keys, Heading("How to read it"), *shown.reading]
        chapters.append(Part(f"of-{name}", label(name), blocks))
        chapters += [
            replace(
                part,
                name=f"{name}-{part.name}",
                heading=Markup("{}: {}").format(label(name), part.heading),
                listed=False,
            )
            for part in shown.parts
        ]
    return View(
        heading=f"{len(folder.publications)} publications",
        what=f"a programme of {len(folder.publications)} publications under one guarantee",
        keys=(("publications", f"{len(folder.publications):,}"),),
        reading=list(facts.together),
        parts=tuple(chapters),
    )


def _overview(folder: PublishedRelease) -> Table:
    """Every publication with its kind, its rate, and its k or noise."""
    rows = []
    for name, one in folder.publications.items():
        said = one.facts.own_parameters
        rows.append([label(name), kind_of(one.kind).name, *(_short(said.get(key)) for key in _KEYS)])
    return Table(["publication", "kind", *_KEYS], rows, "Every publication and its parameters", {2, 3, 4})


def _short(value: object) -> str:
    """A parameter to four digits; nothing where there is none."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else f"{value:,}"

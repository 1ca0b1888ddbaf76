"""A programme as readers see it: what is true of all publications, and then a chapter for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from crowdblend.kinds.shared.facts import DATA
from crowdblend.policies.registry import kind_of
from crowdblend.reading.consistent import consistent_estimates
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Heading, Table
from crowdblend.reading.reports.text import label
from crowdblend.reading.reports.view import Part, View, view_of

_HEADS = {"rate": "rate", "k": "k", "noise_epsilon": "privacy loss of the noise"}
_MOST_LABELS = 40
_SHARED = (
    "Some numbers follow from several publications. Each has an interval of its own, and an estimate where no cell is "
    "missing. The mean of these estimates, in which the surer one counts more, is given where none of them is missing. "
    "It follows from what is published, and costs no privacy."
)


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the publications one after the other, each as its kind shows it."""
    facts = folder.facts
    chapters: list[Part] = [Part("publications", "What is published", [*facts.together, _overview(folder)])]
    if shared := list(_shared_columns(folder)):
        chapters.append(Part("shared", "What several publications say", [_SHARED, *shared]))
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
    heading, what = f"{len(folder.publications)} publications", "a programme"
    if any(one.facts.rows_are_synthetic for one in folder.publications.values()):
        heading, what = "Synthetic rows and their tables", "synthetic rows and their tables: a programme"
    return View(
        heading=heading,
        what=f"{what} of {len(folder.publications)} publications under one guarantee",
        keys=(("publications", f"{len(folder.publications):,}"),),
        reading=list(facts.together),
        parts=tuple(chapters),
    )


def _shared_columns(folder: PublishedRelease) -> Iterator[Table]:
    """Yield every column that several publications count people by, with the numbers of each and with their mean."""
    many = folder.facts.counted.many
    domains = {name: one.tables[DATA].columns for name, one in folder.counted_publications.items()}
    for column in dict.fromkeys(column for columns in domains.values() for column in columns):
        named = [name for name, columns in domains.items() if column in columns]
        if len(named) < 2 or any(len(domains[name][column].labels or ()) > _MOST_LABELS for name in named):
            continue
        if any(domains[name][column] != domains[named[0]][column] for name in named):  # recoded apart
            continue
        each = {name: folder.publications[name].margin([column]) for name in named}
        labels = [text for margin in each.values() for (text,) in margin.rows]
        tables = [margin.table().to_pylist() for margin in each.values()]
        numbers = [{row[column]: _interval(row) for row in table} for table in tables]
        means = next(iter(consistent_estimates(each, domains).values())).to_pylist()
        # Where cells are missing there is no estimate, and the middle of what they may hold is none.
        known = [{row[column] for row in table if row["estimate"] is not None} for table in tables]
        estimated = set.intersection(*known)
        together = {row[column]: f"{max(row['estimate'], 0):,.0f}" for row in means if row[column] in estimated}
        columns = [*numbers, *([together] if together else [])]
        rows = [[label(text), *(found.get(text, "") for found in columns)] for text in dict.fromkeys(labels)]
        caption = Markup("By {}: {} of the population, with 95 % intervals").format(label(column), many)
        heads = [label(column), *map(label, each), *(["their mean"] if together else [])]
        yield Table(heads, rows, caption, set(range(1, len(heads))))


def _interval(row: Mapping[str, Any]) -> str:
    """Return an estimate with the ends of its interval, as far as there are any."""
    estimate = "" if row["estimate"] is None else f"{row['estimate']:,.0f}"
    ends = "" if row["low"] is None or row["high"] is None else f"{row['low']:,} to {row['high']:,}"
    return f"{estimate} ({ends})" if estimate and ends else estimate or ends or "not known"


def _overview(folder: PublishedRelease) -> Table:
    """Return every publication with its kind, its rate, and its k or noise."""
    said = {name: one.facts.own_parameters for name, one in folder.publications.items()}
    keys = [key for key in _HEADS if any(own.get(key) is not None for own in said.values())]
    rows = [
        [label(name), kind_of(folder.publications[name].kind).name, *(_short(own.get(key)) for key in keys)]
        for name, own in said.items()
    ]
    heads = ["publication", "kind", *map(_HEADS.__getitem__, keys)]
    return Table(heads, rows, "Every publication and its parameters", set(range(2, len(heads))))


def _short(value: object) -> str:
    """Return a parameter to four digits; nothing where there is none."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else f"{value:,}"

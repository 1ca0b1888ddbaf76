"""A synopsis: what the synthetic rows answer and how well, how they fit the noisy answers, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from crowdblend.figures.bars import interval_chart
from crowdblend.guarantees.wording import at_least
from crowdblend.reading.cells import open_cells
from crowdblend.reading.release import PublishedRelease
from crowdblend.reports.page import Block, Heading, Part, Table, View, figure
from crowdblend.reports.summary import MOST_LABELS, ColumnTotals, summarize
from crowdblend.reports.text import distinct_labels, enumeration, label, round_up, shorten
from crowdblend.reports.views.table import LONGEST, bars

_PUBLISHED = "What the synthetic rows add up to"
_ACCURACY = "What they answer, and how well"


def view(folder: PublishedRelease, figures: bool) -> View:
    """Everything here comes from the certificate and the synthetic rows."""
    summary = summarize(open_cells(next(iter(folder.files.values())), counted=False))
    everybody = folder.fact("accuracy", dict).get("about_everybody")
    keys = [("synthetic rows", f"{summary.people:,}"), ("queries answered", f"{folder.fact('queries', int):,}")]
    if isinstance(everybody, float):
        keys.append(("largest error, as planned", round_up(everybody)))
    totals = [block for column in summary.totals for block in _column(column, summary.people, _error(folder), figures)]
    return View(
        heading=f"Synthetic records: {enumeration(summary.columns[:5]) if summary.columns else 'no columns'}",
        what="synthetic records that answer a class of questions about people",
        keys=keys,
        reading=_reading(folder),
        parts=[Part("accuracy", _ACCURACY, _accuracy(folder)), Part("data", _PUBLISHED, totals)],
    )


def _reading(folder: PublishedRelease) -> tuple[str, ...]:
    return (
        "No row is a person. The rows are made up so that shares among them are close to shares among the people.",
        f"They answer these questions: {describe_queries(folder.facts.get('class'))}. Other shares may be far off.",
        "To estimate how many people something is true of, multiply the share of rows by the number of people.",
        "The number of rows and their order mean nothing.",
    )


def _accuracy(folder: PublishedRelease) -> list[Block]:
    """Return errors: planned ones hold for every table of people, the misfit is measured against published numbers."""
    stated = folder.fact("accuracy", dict)
    known = {name: value for name, value in stated.items() if isinstance(value, float)}
    rows = [
        [what, round_up(known[name])]
        for name, what in (
            ("about_everybody", "a share among everybody, planned, by at most"),
            ("about_sample", "a share among the people drawn, planned, by at most"),
        )
        if name in known
    ]
    misfit = folder.facts.get("misfit")
    if isinstance(misfit, float):
        rows.append(["the noisy answer that the rows were fitted to, measured, by at most", round_up(misfit)])
    sure = known.get("confidence")
    text = (
        "The planned errors were proved before anybody looked at the data. They hold for all queries at once"
        + (f" with a probability of at least {at_least(sure)}" if sure is not None else "")
        + " and are usually far larger than the errors made. The errors made are not published: they would say "
        "something about the people."
    )
    headers = ["a share among the rows differs from", "largest error"]
    return [text, Table(headers, rows, "Errors, as shares between 0 and 1")]


def _error(folder: PublishedRelease) -> float | None:
    """Return how far the share of a single label may be off, where such shares are among the questions."""
    asked = folder.fact("class", dict).get("queries")
    error = folder.fact("accuracy", dict).get("about_everybody")
    return error if asked == "conjunctions" and isinstance(error, float) else None


def _column(column: ColumnTotals, rows: int, error: float | None, drawn: bool) -> list[Block]:
    """Return the share of every label among the rows, with the range in which that among everybody lies."""
    names = distinct_labels((text for text, _ in column.totals), LONGEST)
    which = "Drawn" if drawn else "Listed"
    few = f" {which} are the {MOST_LABELS} largest of {column.distinct:,} labels."
    few = few if column.distinct > MOST_LABELS else ""
    listed = [[label(text), f"{count:,}", f"{count / rows:.4f}"] for text, count in column.totals]
    blocks: list[Block] = [Heading(Markup("By {}").format(label(column.name)))]
    caption = f"Synthetic rows by {shorten(column.name)}"
    if error is None:
        caption = f"{caption}. How far their shares are off is not known.{few}"
        blocks += bars([(names[text], count) for text, count in column.totals], caption, drawn)
    elif drawn:
        caption = (
            f"{caption}: the share of each label in percent. The line is where the share among everybody lies, by the "
            f"planned error.{few}"
        )
        shares = [(names[text], count / rows) for text, count in column.totals]
        ranges = [
            (name, 100 * share, 100 * max(0.0, share - error), 100 * min(1.0, share + error)) for name, share in shares
        ]
        blocks.append(figure(lambda narrow: interval_chart(ranges, narrow=narrow), caption))
    else:
        caption = f"{caption}. The share among everybody differs by at most the planned error, {round_up(error)}.{few}"
    return [*blocks, Table(["label", "rows", "share"], listed, caption, {1, 2}, drawn)]


def describe_queries(stated: Any) -> str:
    """Return which queries synthetic rows answer, from the facts about their class."""
    if not isinstance(stated, Mapping):
        return str(stated or "a class of queries")
    shape = stated.get("shape")
    sizes = [str(size) for size in shape] if isinstance(shape, list) else []
    if stated.get("queries") == "conjunctions":
        return f"all conjunctions of up to {stated.get('order')} of {len(sizes)} columns"
    if stated.get("queries") == "ranges":
        return f"all ranges of one column of {' '.join(sizes)} values"
    if stated.get("queries") == "half-planes":
        return f"all half-planes on a grid of {' by '.join(sizes)} cells"
    return f"{stated.get('size')} listed conjunctions"

"""A synopsis: what the synthetic rows answer and how well, how they fit the noisy answers, and what they add up to."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from crowdblend.kinds.synopsis.facts import SynopsisFacts
from crowdblend.kinds.table.view import bars
from crowdblend.reading.figures.bars import interval_chart
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Heading, Table, figure
from crowdblend.reading.reports.margins import LONGEST
from crowdblend.reading.reports.summary import MOST_LABELS, ColumnTotals, summarize
from crowdblend.reading.reports.text import distinct_labels, enumeration, label, shorten
from crowdblend.reading.reports.view import Part, View
from crowdblend.trusted.guarantees.wording import at_least, round_up

_PUBLISHED = "What the synthetic rows add up to"
_ACCURACY = "What they answer, and how well"

_TO_ALL = "To estimate how many {many} something is true of, multiply the share of rows by the number of {many}."


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the page, from the certificate and the synthetic rows alone."""
    facts = folder.facts
    assert isinstance(facts, SynopsisFacts)
    summary = summarize(folder.open(next(iter(folder.files))))
    keys = [
        ("synthetic rows", f"{summary.people:,}"),
        ("queries answered", f"{facts.query_class.size:,}"),
        ("largest error, as planned", round_up(facts.errors[0])),
    ]
    # How far the share of a single label may be off is known where such shares are among the questions.
    error = None if facts.queries.conjunctions is None else facts.errors[0]
    named = [replace(column, totals=_spoken(facts, column)) for column in summary.totals]
    totals = [block for column in named for block in _column(column, summary.people, error, figures)]
    return View(
        heading=f"Synthetic records: {enumeration(summary.columns[:5]) if summary.columns else 'no columns'}",
        what=f"synthetic records that answer a class of questions about {facts.counted.many}",
        keys=keys,
        reading=_reading(facts),
        parts=[Part("accuracy", _ACCURACY, _accuracy(facts)), Part("data", _PUBLISHED, totals)],
    )


def _spoken(facts: SynopsisFacts, column: ColumnTotals) -> tuple[tuple[str, int], ...]:
    """Return the totals of a column by what people say for its labels."""
    spoken = facts.columns[column.name].spoken_labels if column.name in facts.columns else {}
    return tuple((spoken.get(text, text), count) for text, count in column.totals)


def _reading(facts: SynopsisFacts) -> tuple[str, ...]:
    many = facts.counted.many
    whose = f"{many} of people that count" if facts.unit.several else many
    return (
        f"No row is a person. The rows are made up so that shares among them are close to shares among the {whose}.",
        *facts.notes,
        f"They answer these questions: {facts.queries.words(facts.sizes)}. Other shares may be far off.",
        *([] if facts.unit.several else [_TO_ALL.format(many=many)]),
        "The number of rows and their order mean nothing.",
    )


def _accuracy(facts: SynopsisFacts) -> list[Block]:
    """Return errors: planned ones hold for every table of people, the misfit is measured against published numbers."""
    everybody, sample, failure = facts.errors
    rows = [["a share among everybody, planned, by at most", round_up(everybody)]]
    if not facts.counts_everybody:
        rows.append([f"a share among the {facts.counted.many} drawn, planned, by at most", round_up(sample)])
    if facts.misfit is not None:
        rows.append(["the noisy answer that the rows were fitted to, measured, by at most", round_up(facts.misfit)])
    text = (
        "The planned errors were proved before anybody looked at the data. They hold for all queries at once with a "
        f"probability of at least {at_least(1 - failure)} and are usually far larger than the "
        "errors made. The errors made are not published: they would say something about the people."
    )
    headers = ["a share among the rows differs from", "largest error"]
    return [text, Table(headers, rows, "Errors, as shares between 0 and 1")]


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

"""A synopsis: what the synthetic rows answer and how well, how they fit the noisy answers, and what they add up to."""

from __future__ import annotations

from functools import partial

from crowdblend.guarantees.wording import at_least
from crowdblend.reading.cells import open_cells
from crowdblend.reports.charts import LONGEST, bars, distinct_labels, figure, numbers
from crowdblend.reports.facts import describe_queries
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, shorten, table
from crowdblend.reports.numbers import enumeration, round_up
from crowdblend.reports.summarize import summarize
from crowdblend.reports.summary import MOST_LABELS, ColumnTotals, Summary
from crowdblend.reports.view import Part, View

_PUBLISHED = "What the synthetic rows add up to"
_ACCURACY = "What they answer, and how well"


def view(folder: Folder) -> View:
    """Everything here comes from the certificate and the synthetic rows."""
    summary = summarize(open_cells(next(iter(folder.files.values())), counted=False))
    everybody = folder.fact("accuracy", dict).get("about_everybody")
    keys = [("synthetic rows", f"{summary.people:,}"), ("queries answered", f"{folder.fact('queries', int):,}")]
    if isinstance(everybody, float):
        keys.append(("largest error, as planned", round_up(everybody)))
    return View(
        heading=f"Synthetic records: {enumeration(summary.columns[:5]) if summary.columns else 'no columns'}",
        what="synthetic records that answer a class of questions about people",
        keys=tuple(keys),
        reading=_reading(folder),
        parts=(Part("accuracy", _ACCURACY, _accuracy(folder)), Part("data", _PUBLISHED, _totals(folder, summary))),
    )


def _reading(folder: Folder) -> tuple[str, ...]:
    return (
        "No row is a person. The rows are made up so that shares among them are close to shares among the people.",
        f"They answer these questions: {describe_queries(folder.facts.get('class'))}. Other shares may be far off.",
        "To estimate how many people something is true of, multiply the share of rows by the number of people.",
        "The number of rows and their order mean nothing.",
    )


def _accuracy(folder: Folder) -> Html:
    """Planned errors hold for every table of people; the misfit is measured, against published numbers only."""
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
    return join(
        element("p", text),
        table(
            ["a share among the rows differs from", "largest error"], rows, caption="Errors, as shares between 0 and 1"
        ),
    )


def _totals(folder: Folder, summary: Summary) -> Html:
    return join(*(_column(column, summary.people, _error(folder), drawn=folder.figures) for column in summary.totals))


def _error(folder: Folder) -> float | None:
    """How far the share of a single label may be off, where such shares are among the questions."""
    asked = folder.fact("class", dict).get("queries")
    error = folder.fact("accuracy", dict).get("about_everybody")
    return error if asked == "conjunctions" and isinstance(error, float) else None


def _column(column: ColumnTotals, rows: int, error: float | None, *, drawn: bool) -> Html:
    """The share of every label among the rows, with the range in which that among everybody lies."""
    names = distinct_labels((text for text, _ in column.totals), LONGEST)
    which = "Drawn" if drawn else "Listed"
    few = f" {which} are the {MOST_LABELS} largest of {column.distinct:,} labels."
    few = few if column.distinct > MOST_LABELS else ""
    listed: list[list[str]] = [[label(text), f"{count:,}", f"{count / rows:.4f}"] for text, count in column.totals]
    if error is None:
        caption = f"Synthetic rows by {shorten(column.name)}. How far their shares are off is not known.{few}"
        picture = bars([(names[text], count) for text, count in column.totals], caption, drawn=drawn)
    else:
        caption = (
            f"Synthetic rows by {shorten(column.name)}: the share of each label in percent. The line is where the "
            f"share among everybody lies, by the planned error.{few}"
            if drawn
            else f"Synthetic rows by {shorten(column.name)}. The share among everybody differs by at most the planned "
            f"error, {round_up(error)}.{few}"
        )
        shares = [(names[text], count / rows) for text, count in column.totals]
        ranges = [
            (name, 100 * share, 100 * max(0.0, share - error), 100 * min(1.0, share + error)) for name, share in shares
        ]
        picture = figure(partial(_intervals, ranges), caption, drawn=drawn)
    return join(
        element("h3", "By ", label(column.name)),
        picture,
        numbers(["label", "rows", "share"], listed, caption, frozenset([1, 2]), folded=drawn),
    )


def _intervals(ranges: list[tuple[str, float, float, float]], narrow: bool) -> str:
    from crowdblend.figures import interval_chart  # noqa: PLC0415  only where figures are drawn

    return interval_chart(ranges, narrow=narrow)

"""A synopsis: what the synthetic rows answer and how well, how they fit the noisy answers, and what they add up to."""

from __future__ import annotations

from crowdblend.report import words
from crowdblend.report.cells import open_cells
from crowdblend.report.charts import figures
from crowdblend.report.folder import Folder
from crowdblend.report.html import Html, element, join, table
from crowdblend.report.summarize import summarize
from crowdblend.report.view import Part, View

_PUBLISHED = "What the synthetic rows add up to"
_ACCURACY = "What they answer, and how well"


def view(folder: Folder) -> View:
    """Everything here comes from the certificate and the synthetic rows."""
    summary = summarize(open_cells(next(iter(folder.files.values())), counted=False))
    everybody = folder.fact("accuracy", dict).get("about_everybody")
    keys = [("synthetic rows", f"{summary.people:,}"), ("queries answered", f"{folder.fact('queries', int):,}")]
    if isinstance(everybody, float):
        keys.append(("largest error, as planned", words.short(everybody)))
    return View(
        heading=f"Synthetic records: {words.listed(summary.columns[:5]) if summary.columns else 'no columns'}",
        what="synthetic records that answer a class of questions about people",
        keys=tuple(keys),
        reading=_reading(folder),
        parts=(Part("accuracy", _ACCURACY, _accuracy(folder)), Part("data", _PUBLISHED, figures(summary))),
    )


def _reading(folder: Folder) -> tuple[str, ...]:
    return (
        "No row is a person. The rows are made up so that shares among them are close to shares among the people.",
        f"They are made for these questions: {folder.fact('class', str) or 'a class of queries'}. Other shares may be "
        "far off.",
        "To estimate how many people something is true of, multiply the share of rows by the number of people.",
        "The number of rows and their order mean nothing.",
    )


def _accuracy(folder: Folder) -> Html:
    """Planned errors hold for every table of people; the misfit is measured, against published numbers only."""
    stated = folder.fact("accuracy", dict)
    numbers = {name: value for name, value in stated.items() if isinstance(value, float)}
    rows = [
        [label, words.short(numbers[name])]
        for name, label in (
            ("about_everybody", "a share among everybody, at most"),
            ("about_sample", "a share among the people drawn, at most"),
        )
        if name in numbers
    ]
    misfit = folder.facts.get("misfit")
    if isinstance(misfit, float):
        rows.append(["a share of rows differs from its noisy answer, measured, by at most", words.short(misfit)])
    sure = numbers.get("confidence")
    text = (
        "The planned errors were proved before anybody looked at the data. They hold for all queries at once"
        + (f" with a probability of at least {sure:.4g}" if sure is not None else "")
        + " and are usually far larger than the errors made. The errors made are not published: they would say "
        "something about the people."
    )
    return join(
        element("p", text),
        table(["how far it is off", "largest error"], rows, caption="Errors, as shares between 0 and 1"),
    )

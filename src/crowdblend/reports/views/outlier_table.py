"""Outlier-private tables: shown like any table, with the error to expect at each size."""

from __future__ import annotations

from dataclasses import replace

from crowdblend.reports import words
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, table
from crowdblend.reports.view import Part, View
from crowdblend.reports.views import crowd_classes


def view(folder: Folder) -> View:
    """The view of a table, read as what it is: every count is noisy."""
    shown = crowd_classes.view(folder)
    rate = words.sampling_rate(folder)
    people = "Counts are people in the table that was read."
    if rate is not None:
        people = f"Counts are people in a random sample that kept each person with probability {rate:g}."
    reading = (
        people,
        "Every count is noisy, those of small bins more: the fewer people share a bin, the better they are hidden.",
        f"Only bins whose noisy count reached {folder.facts.get('show_from', 1)} are listed. A bin that is not listed "
        "need not be empty, and one that is listed may be.",
    )
    return replace(
        shown, reading=reading, parts=(*shown.parts, Part("error", "How exact the counts are", _errors(folder)))
    )


def _errors(folder: Folder) -> Html:
    curve, errors = folder.fact("parameters", dict).get("curve", {}), folder.fact("errors", dict)
    rows = [[size, f"{error:.3g}", words.short(curve[size])] for size, error in errors.items() if size in curve]
    return join(
        element("p", "How far a count is off on average, and what is promised to people who share a bin of that size."),
        table(
            ["people in the bin", "expected error", "their ε"],
            rows,
            caption="Error and promise by the size of the bin",
            numbers=frozenset([0, 1, 2]),
        ),
    )

"""Outlier-private tables: shown like any table, with the error to expect at each size."""

from __future__ import annotations

from dataclasses import replace

from crowdblend.kinds.outlier_table.facts import OutlierTableFacts
from crowdblend.kinds.table import view as table
from crowdblend.methods.planning.outliers import curve_sizes
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Table
from crowdblend.reading.reports.view import Part, View
from crowdblend.trusted.guarantees.wording import round_up


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the view of a table, read as what it is: every count is noisy."""
    table_view = table.view(folder, figures)
    facts = folder.facts
    assert isinstance(facts, OutlierTableFacts)
    (listed,) = folder.tables.values()
    reading = (*sentences(facts, listed), "The smaller the bin the noisier: people in small bins are hidden best.")
    alone = folder.publication is None
    said = "How far a count is off on average, and what is guaranteed to people who share a bin of that size."
    if not alone:
        said = f"How far a count is off on average, by how many {facts.counted.many} share the bin."
    errors = Part("error", "How exact the counts are", [said, _errors(facts, guaranteed=alone)])
    return replace(table_view, reading=reading, parts=(*table_view.parts, errors))


def _errors(facts: OutlierTableFacts, *, guaranteed: bool) -> Table:
    """The error at some sizes, and what is guaranteed there; one of several publications guarantees nothing alone."""
    noise = facts.mechanism
    rows = [
        [str(size), f"{noise.expected_error(size):.3g}", round_up(noise.factor * float(noise.loss(size)))]
        for size in curve_sizes(noise.limit, noise.transition)
    ]
    headers = [f"{facts.counted.many} in the bin", "expected error", "their ε"]
    if not guaranteed:
        return Table(headers[:2], [row[:2] for row in rows], "Error by the size of the bin", {0, 1})
    return Table(headers, rows, "Error and guarantee by the size of the bin", {0, 1, 2})

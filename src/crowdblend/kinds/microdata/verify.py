"""Microdata: every combination of labels is shared by at least k rows."""

from __future__ import annotations

from crowdblend.kinds.microdata.facts import MicrodataFacts
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import check_cells, check_order
from crowdblend.reading.verification.shown_people import ShownPeople


def check(release: PublishedRelease) -> tuple[ShownPeople]:
    """Refuse rows of a class with fewer than k; return the people who are shown."""
    facts = release.facts
    assert isinstance(facts, MicrodataFacts)
    ((name, table),) = release.tables.items()
    (file,) = require_files(release, name)
    cells = require_cells(file, list(table.columns))
    counts = check_cells(table, cells).column(N).to_numpy()
    check_order(table, cells)
    rows = facts.unit.most
    return (ShownPeople(table.shown_by[0], facts.published_sample, counts, each=rows),)

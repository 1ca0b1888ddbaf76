"""Tables: every cell from k on, or noisy and shown from a threshold."""

from __future__ import annotations

from crowdblend.kinds.shared.facts import contradiction
from crowdblend.kinds.table.facts import TOTALS, CountsFacts
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import check_cells, check_estimates, check_totals, flags_of
from crowdblend.reading.verification.shown_people import ShownPeople, number_of_cells


def check(release: PublishedRelease) -> tuple[ShownPeople]:
    """Refuse a table with a cell that is not shown, or without one that is, and totals that were not planned.

    Return the people who are shown.
    """
    facts = release.facts
    assert isinstance(facts, CountsFacts)
    ((name, table),) = release.tables.items()
    file, *totals = require_files(release, name, *([TOTALS] if facts.totals else []))
    cells = require_cells(file, list(table.columns), counter=table.laws.counter, flagged=table.flagged)
    counts = check_cells(table, cells).column(N).to_numpy()
    check_estimates(table.laws, cells)
    for other in totals:
        stated, losses = require_cells(other, ["total"], counter="count"), [one.noise_epsilon for one in facts.totals]
        names = [name for piece in stated.rows() for name in piece.column(stated.keys[0]).to_pylist()]
        if names != [one.name for one in facts.totals]:
            raise contradiction(f"{other.name} has other totals than were planned")
        check_totals(stated, losses)
    counts, exact = flags_of(cells) if table.flagged else (counts, None)
    rows, every = facts.unit.most, number_of_cells(table.columns.values())
    in_one = rows if facts.unit.counts == "rows" else 1
    return (ShownPeople(table.shown_by[0], facts.published_sample, counts, exact, every, rows, in_one),)

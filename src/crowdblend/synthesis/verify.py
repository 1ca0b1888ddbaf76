"""Synthetic rows checked against their facts: as many as stated, with declared labels, and what their sources state."""

from __future__ import annotations

from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_labels
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import DATA, contradiction
from crowdblend.synthesis.facts import STEM, SyntheticFacts


def check(release: PublishedRelease) -> None:
    """Refuse other rows than the facts say, a file that is not called synthetic, and assumptions that are left out."""
    facts = release.facts
    assert isinstance(facts, SyntheticFacts)
    if set(release.certificate.stated) != set(facts.stated_assumptions):
        raise contradiction("it does not state what its sources take on trust")
    (path,) = require_files(release, DATA)
    if path.stem != STEM:
        raise contradiction("the file of its rows is not called synthetic")
    cells, rows = require_cells(path, list(facts.columns)), 0
    for piece in cells.rows():
        rows += piece.num_rows
        check_labels(facts.columns, cells, piece)
    if rows != facts.rows:
        raise contradiction("it has another number of rows than it states")

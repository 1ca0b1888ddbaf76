"""Synthetic rows: as many as were certified, with declared labels."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from crowdblend.kinds.shared.facts import CellTable, contradiction
from crowdblend.kinds.synopsis.facts import SynopsisFacts
from crowdblend.methods.estimates.cells import CellLaws
from crowdblend.methods.estimates.laws import NoiseOnEveryCell
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import check_cells
from crowdblend.reading.verification.shown_people import ShownPeople


def check(release: PublishedRelease) -> tuple[ShownPeople, ...]:
    """Refuse another number of rows than the facts say; return the noisy number of people of a sample by coins."""
    facts = release.facts
    assert isinstance(facts, SynopsisFacts)
    (file,) = require_files(release, "data")
    table = CellTable(facts.columns, CellLaws(None))
    found = check_cells(table, require_cells(file, list(facts.columns)), least=1)
    if (pc.sum(found.column(N)).as_py() or 0) != facts.mechanism.rows:
        raise contradiction(f"{file.name} has another number of rows")
    if facts.design.counts_exactly or facts.size is None:
        return ()
    ran = facts.counted_synopsis
    each, size = max(ran.copies) * facts.unit.most, np.array([facts.size])
    return (ShownPeople(NoiseOnEveryCell(ran.noise_epsilon), facts.design, size, None, 1, each, each),)

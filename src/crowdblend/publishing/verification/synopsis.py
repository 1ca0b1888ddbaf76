"""Synthetic rows: as many as were certified, with declared labels, of as many people and with as much noise."""

from __future__ import annotations

import pyarrow.compute as pc

from crowdblend.publishing.verification.consistency import mechanisms, require_cells, require_files, require_stated
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease, contradiction


def check(published: PublishedRelease) -> None:
    """Refuse another number of rows than the derivation is about."""
    names = ("synopsis.counts", "synopsis.exponential")
    rows = dict(mechanisms(published, *names)[-1].details)["rows"]
    drawn = dict(published.certificate.description.details)
    noise = {step.conclusion.epsilon for step in published.certificate.steps() if step.rule.id in names}
    if noise != {published.parameter("sanitizer_epsilon")}:
        raise contradiction("sanitizer_epsilon is not the one of its derivation")
    require_stated(published, rows=rows, sample=drawn.get("samples"), people=drawn.get("population"))
    (path,) = require_files(published, "data")
    found = check_cells(published, require_cells(path, published.columns, counted=False), least=1)
    if (pc.sum(found.column(N)).as_py() or 0) != rows:
        raise contradiction(f"{path.name} has another number of rows")

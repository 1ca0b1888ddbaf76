"""Synthetic rows: as many as were certified, with declared labels."""

from __future__ import annotations

import pyarrow.compute as pc

from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.published import PublishedFolder, contradiction
from crowdblend.reading.cells import N


def check(published: PublishedFolder) -> None:
    """Refuse another number of rows than the derivation is about."""
    names = ("synopsis.counts", "synopsis.exponential")
    rows = dict(published.mechanisms(*names)[-1].details)["rows"]
    published.require_stated(rows=rows)
    (path,) = published.files("data")
    found = check_cells(published, published.cells(path, published.columns, counted=False), least=1)
    if (pc.sum(found.column(N)).as_py() or 0) != rows:
        raise contradiction(f"{path.name} has another number of rows")

"""Outlier tables: every shown bin reaches the threshold from which bins are shown."""

from __future__ import annotations

from crowdblend.publishing.verification.consistency import (
    mechanisms,
    require_cells,
    require_files,
    require_stated,
    show_from,
)
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates, check_sampling
from crowdblend.reading.release import PublishedRelease


def check(published: PublishedRelease) -> None:
    """Refuse a bin below the threshold."""
    details = dict(mechanisms(published, "outlier.histogram")[-1].details)
    require_stated(published, **{name: details[name] for name in ("limit", "transition", "epsilon")})
    check_sampling(published)
    (path,) = require_files(published, "data")
    cells = require_cells(path, published.columns, counted=True)
    check_cells(published, cells, least=show_from(published))
    check_estimates(published, cells)

"""Outlier tables: every shown bin reaches the threshold from which bins are shown."""

from __future__ import annotations

from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates, check_sampling
from crowdblend.publishing.verification.published import PublishedFolder


def check(published: PublishedFolder) -> None:
    """Refuse a bin below the threshold."""
    details = dict(published.mechanisms("outlier.histogram")[-1].details)
    published.require_stated(**{name: details[name] for name in ("limit", "transition", "epsilon")})
    check_sampling(published)
    (path,) = published.files("data")
    cells = published.cells(path, published.columns, counted=True)
    check_cells(published, cells, least=published.threshold())
    check_estimates(published, cells)

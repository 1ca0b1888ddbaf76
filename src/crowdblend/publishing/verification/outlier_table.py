"""Outlier tables: every shown bin reaches the threshold from which bins are shown."""

from __future__ import annotations

from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.published import PublishedFolder


def check(published: PublishedFolder) -> None:
    """Refuse a bin below the threshold."""
    details = dict(published.mechanisms("outlier.histogram")[-1].details)
    published.require_stated(**{name: details[name] for name in ("limit", "transition", "epsilon")})
    (path,) = published.files("data")
    check_cells(published, published.cells(path, published.columns, counted=True), least=published.threshold())

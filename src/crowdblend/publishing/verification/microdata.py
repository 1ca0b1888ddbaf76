"""Microdata: every combination of labels is shared by at least k rows."""

from __future__ import annotations

from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_sampling
from crowdblend.publishing.verification.published import PublishedFolder


def check(published: PublishedFolder) -> None:
    """Refuse rows of a class with fewer than k."""
    k = dict(published.mechanisms("generalization.suppressed")[-1].details)["k"]
    published.require_stated(k=k)
    check_sampling(published)
    (path,) = published.files("data")
    check_cells(published, published.cells(path, published.columns, counted=False), least=k)

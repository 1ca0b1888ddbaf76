"""Microdata: every combination of labels is shared by at least k rows."""

from __future__ import annotations

from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_sampling
from crowdblend.publishing.verification.published import PublishedFolder
from crowdblend.publishing.verification.strata import check_least, is_stratified, stated_strata


def check(published: PublishedFolder) -> None:
    """Refuse rows of a class with fewer than k."""
    if is_stratified(published):
        column, thresholds = stated_strata(published, "generalization.suppressed")
        (path,) = published.files("data")
        cells = published.cells(path, published.columns, counted=False)
        check_cells(published, cells, least=min(thresholds.values()))
        check_least(cells, column, thresholds)
        return
    k = dict(published.mechanisms("generalization.suppressed")[-1].details)["k"]
    published.require_stated(k=k)
    check_sampling(published)
    (path,) = published.files("data")
    check_cells(published, published.cells(path, published.columns, counted=False), least=k)

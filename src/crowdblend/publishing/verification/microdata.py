"""Microdata: every combination of labels is shared by at least k rows."""

from __future__ import annotations

from crowdblend.publishing.verification.consistency import mechanisms, require_cells, require_files, require_stated
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_sampling
from crowdblend.publishing.verification.strata import check_least, is_stratified, stated_strata
from crowdblend.reading.release import PublishedRelease


def check(published: PublishedRelease) -> None:
    """Refuse rows of a class with fewer than k."""
    if is_stratified(published):
        column, thresholds = stated_strata(published, "generalization.suppressed")
        (path,) = require_files(published, "data")
        cells = require_cells(path, published.columns, counted=False)
        check_cells(published, cells, least=min(thresholds.values()))
        check_least(cells, column, thresholds)
        return
    k = dict(mechanisms(published, "generalization.suppressed")[-1].details)["k"]
    require_stated(published, k=k)
    check_sampling(published)
    (path,) = require_files(published, "data")
    check_cells(published, require_cells(path, published.columns, counted=False), least=k)

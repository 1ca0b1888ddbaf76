"""Tables: every cell from k on, or noisy and shown from a threshold; several are sums of one, or of parts."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa

from crowdblend.calculus.forms import RELEASES, UNDER_SAMPLING
from crowdblend.publishing.verification.consistency import (
    mechanisms,
    require_cells,
    require_files,
    require_stated,
    show_from,
)
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates, check_sampling
from crowdblend.publishing.verification.register import check_register
from crowdblend.publishing.verification.strata import check_strata_of_table, is_stratified
from crowdblend.reading.cells import Cells, N
from crowdblend.reading.release import PublishedRelease, contradiction

NOISY = "histogram.noisy"


def check(published: PublishedRelease) -> None:
    """Refuse a table with a cell below what its certificate says, or tables that are not sums of one."""
    facts, described = published.facts, published.certificate.description
    parts = facts.get("parts") or "part" in (part.name for part in described.parts)
    if not (facts.get("everybody") or parts) and is_stratified(published):
        check_strata_of_table(published)
        return
    check_sampling(published)
    if facts.get("everybody"):
        check_register(published)
    elif parts:
        _check_each(published, "parts", "share", "part")
    elif facts.get("fresh_samples") or described.name == RELEASES.name:
        _check_each(published, "fresh_samples", "rate", UNDER_SAMPLING.name)
    else:
        _check_sums(published)


def _check_sums(published: PublishedRelease) -> None:
    """Refuse tables that are not sums of one, or a cell below what the derivation says."""
    details = dict(mechanisms(published, "histogram.suppressed", NOISY)[-1].details)
    noisy = "noise_epsilon" in details
    flag = bool(details.get("flag"))
    require_stated(published, k=details["k"])
    if published.require("below_k", str) != ("noise" if noisy else "suppress"):
        raise contradiction("what happens below k is not what its derivation says")
    least = show_from(published) if noisy else details["k"]
    tables = published.tables
    opened: list[Cells] = []
    found: list[pa.Table] = []
    for path, (_, columns) in zip(require_files(published, *tables), tables.items(), strict=True):
        opened.append(require_cells(path, list(columns), counted=True, flagged=flag))
        found.append(check_cells(published, opened[-1], least=least, exact_from=details["k"] if flag else None))
        check_estimates(published, opened[-1])
    for one, other in combinations(range(len(found)), 2):
        shared = [name for name in opened[one].columns if name in opened[other].columns]
        if _margin(opened[one], found[one], shared) != _margin(opened[other], found[other], shared):
            raise contradiction(f"{opened[one].path.name} and {opened[other].path.name} are not sums of one table")


def _check_each(published: PublishedRelease, fact: str, share: str, mechanism: str) -> None:
    """Refuse tables that are not those of the parts or samples that the derivation is about, in their order."""
    tables, stated = published.tables, published.require(fact, dict)
    derived = [
        {share: dict(part.details)[share], "k": dict(part.parts[0].details)["k"]}
        for part in mechanisms(published, mechanism)
    ]
    if list(stated) != list(tables) or list(stated.values()) != derived:
        raise contradiction("its tables are not those of its derivation")
    if published.require("below_k", str) != "suppress":
        raise contradiction("what happens below k is not what its derivation says")
    require_stated(published, k=max(own["k"] for own in derived))
    for path, columns, own in zip(require_files(published, *tables), tables.values(), derived, strict=True):
        cells = require_cells(path, list(columns), counted=True)
        check_cells(published, cells, least=own["k"])
        check_estimates(published, cells)


def _margin(cells: Cells, found: pa.Table, names: list[str]) -> dict[tuple[str, ...], int]:
    """The counts by some of the columns, or their total."""
    keys = [cells.keys[cells.columns.index(name)] for name in names]
    if not keys:
        return {(): sum(found.column(N).to_pylist())}
    summed = found.group_by(keys, use_threads=False).aggregate([(N, "sum")])
    labels = zip(*(summed.column(key).to_pylist() for key in keys), strict=True)
    return dict(zip(labels, summed.column(f"{N}_sum").to_pylist(), strict=True))

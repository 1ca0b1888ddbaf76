"""Synthetic rows checked against their facts: as many as stated, with declared labels, and what their sources state."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_labels
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import DATA, contradiction
from crowdblend.synthesis.facts import STEM, SyntheticFacts
from crowdblend.synthesis.tables import Codes, PublishedTables, published_tables


def check(release: PublishedRelease) -> None:
    """Refuse other rows than the facts say, a file that is not called synthetic, and assumptions that are left out."""
    facts = release.facts
    assert isinstance(facts, SyntheticFacts)
    if facts.sources and set(release.certificate.stated) != set(facts.stated_assumptions):
        raise contradiction("it does not state what its sources take on trust")
    whole = replace(release, publication=None)
    if not facts.sources:
        _check_beside(whole, facts)
    (path,) = require_files(release, DATA)
    if path.stem != STEM:
        raise contradiction("the file of its rows is not called synthetic")
    cells, codes = require_cells(path, list(facts.columns)), [np.empty((0, len(facts.columns)), np.int32)]
    for piece in cells.rows():
        check_labels(facts.columns, cells, piece)
        codes.append(_codes(facts, piece.select(cells.keys)))
    made = np.concatenate(codes)
    if len(made) != facts.rows:
        raise contradiction("it has another number of rows than it states")
    if not facts.sources:
        _check_fit(published_tables([whole]), facts, made)


def _codes(facts: SyntheticFacts, piece: pa.Table) -> Codes:
    labels = (pa.array(domain.labels or (), pa.large_string()) for domain in facts.columns.values())
    each = zip(piece.columns, labels, strict=True)
    return np.stack([pc.index_in(column.cast(pa.large_string()), known).to_numpy() for column, known in each], axis=1)


def _check_fit(tables: PublishedTables, facts: SyntheticFacts, codes: Codes) -> None:
    """Refuse a stated distance from a table that is not that of the rows; the fourth digit may be another."""
    order = [list(facts.columns).index(name) for name in tables.columns]
    for one, found in zip(facts.met, tables.met_by(codes[:, order]), strict=True):
        close = all(math.isclose(a, b, rel_tol=2e-3) for a, b in ((one.apart, found.apart), (one.noise, found.noise)))
        if not close or one.cells != found.cells:
            raise contradiction(f"its rows are not as far from {one.name} as it states")


def _check_beside(whole: PublishedRelease, facts: SyntheticFacts) -> None:
    """Refuse rows with columns that the tables beside them do not have, and tables that are not beside them."""
    counted = {name: one.tables[DATA].columns for name, one in whole.counted_publications.items()}
    known = [(name, domain) for columns in counted.values() for name, domain in columns.items()]
    if not all(any(one == column for one in known) for column in facts.columns.items()):
        raise contradiction("its rows have a column that no table beside them has")
    if [(one.source, one.name, set(one.columns)) for one in facts.met] != [
        (0, name, set(columns)) for name, columns in counted.items()
    ]:
        raise contradiction("it says how rows meet other tables than those beside them")

"""Synthetic rows checked against their facts: as many as stated, with declared labels, and what their sources state."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdblend.kinds.shared.facts import DATA, contradiction
from crowdblend.publishing.synthesis.facts import STEM, SyntheticFacts
from crowdblend.publishing.synthesis.tables import published_tables
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import check_labels


def check(release: PublishedRelease) -> None:
    """Refuse other rows than the facts say, a file that is not called synthetic, and assumptions that are left out."""
    facts = release.facts
    assert isinstance(facts, SyntheticFacts)
    if facts.sources and set(release.certificate.stated) != set(facts.stated_assumptions):
        raise contradiction("it does not state what its sources take on trust")
    whole = release.whole or release
    if not facts.sources:
        _check_beside(whole, facts)
    (file,) = require_files(release, DATA)
    if file.stem != STEM:
        raise contradiction("the file of its rows is not called synthetic")
    cells, codes = require_cells(file, list(facts.columns)), [np.empty((0, len(facts.columns)), np.int32)]
    labels = [pa.array(domain.labels or (), pa.large_string()) for domain in facts.columns.values()]
    for piece in cells.rows():
        check_labels(facts.columns, cells, piece)
        texts = (column.cast(pa.large_string()) for column in piece.select(cells.keys).columns)
        each = zip(texts, labels, strict=True)
        codes.append(np.stack([pc.index_in(text, known).to_numpy() for text, known in each], axis=1))
    made = np.concatenate(codes)
    if len(made) != facts.rows:
        raise contradiction("it has another number of rows than it states")
    if not facts.sources:
        tables = published_tables([whole])
        order = [list(facts.columns).index(name) for name in tables.columns]
        for one, found in zip(facts.met, tables.met_by(made[:, order]), strict=True):
            pairs = ((one.apart, found.apart), (one.noise, found.noise))
            # The fourth digit may be another.
            if one.cells != found.cells or not all(math.isclose(*pair, rel_tol=2e-3) for pair in pairs):
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

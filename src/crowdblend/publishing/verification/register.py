"""Tables of a register: every cell of the declared domain once, and the noisy totals where people have several rows."""

from __future__ import annotations

import math

from crowdblend.publishing.verification.consistency import mechanisms, require_cells, require_files, require_stated
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates, check_totals
from crowdblend.reading.release import PublishedRelease, contradiction

# No count of people or rows comes near it, with any noise.
_LEAST = -(2**62)


def check_register(published: PublishedRelease) -> None:
    """Refuse other noise than the derivation is about, and tables that lack a cell."""
    details = [dict(part.details) for part in mechanisms(published, "histogram.laplace", "register.rows")]
    totals = published.parameter("totals") or {}
    if len(details) != 1 or not isinstance(totals, dict):
        raise contradiction("its derivation is about another table")
    rows = details[0].get("rows_per_person")
    require_stated(published, noise_epsilon=details[0]["noise_epsilon"], rows_per_person=rows)
    if rows is not None:
        derived = [dict(part.details) for part in mechanisms(published, "register.total")]
        # Everybody adds one to the number of people, and up to as many as are kept to the number of rows.
        stated = [(noise, rows if name == "rows" else 1) for name, noise in totals.items()]
        if [(one["noise_epsilon"], one["rows_per_person"]) for one in derived] != stated:
            raise contradiction("its totals are not those of its derivation")
    tables = published.tables
    paths = require_files(published, *tables, *(["totals"] if totals else []))
    for path, columns in zip(paths, tables.values(), strict=False):
        cells = require_cells(path, list(columns), counted=True)
        found = check_cells(published, cells, least=_LEAST)
        check_estimates(published, cells)
        if found.num_rows != math.prod(len(_labels(published, name)) for name in columns):
            raise contradiction(f"{path.name} lacks a cell of its domain")
    if totals:
        cells = require_cells(paths[-1], ["total"], counted=True)
        check_cells(published, cells, least=_LEAST)
        (names,) = (piece.column(cells.keys[0]).to_pylist() for piece in cells.rows())
        if sorted(names) != sorted(totals):
            raise contradiction(f"{paths[-1].name} has other totals than were planned")
        check_totals(cells, [totals[name] for name in names])


def _labels(published: PublishedRelease, name: str) -> list[str]:
    """The declared labels of a column; a register has no open one."""
    domain = published.require("columns", dict).get(name)
    labels = domain.get("labels") if isinstance(domain, dict) else None
    if not isinstance(labels, list):
        raise contradiction(f"column {name!r} has no declared labels")
    return labels

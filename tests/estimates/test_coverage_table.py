"""The table of docs/measured.md: complete, nowhere below 95 %, and in a sample what is computed now."""

from __future__ import annotations

from tests.estimates.coverage import KINDS, PAGE, PLACE, cell_rows
from tests.estimates.release_coverage import (
    STATISTIC_DESIGNS,
    STATISTICS,
    SYNOPSIS_DESIGNS,
    graph_rows,
    graph_shares,
    statistic_rows,
    synopsis_rows,
)


def rows_of_the_page() -> list[list[str]]:
    found = PLACE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    lines = [line.strip("| ").split(" | ") for line in found[0].splitlines() if line.startswith("| ")]
    return lines[2:]


def test_every_kind_and_design_is_on_the_page_and_holds() -> None:
    rows = rows_of_the_page()
    assert all(float(row[-1].removesuffix(" %")) >= 95 for row in rows)
    expected = {(what, design) for what, (_, _, designs) in KINDS.items() for design in designs}
    expected |= {(f"statistics: {what}", design) for what in STATISTICS.values() for design in STATISTIC_DESIGNS}
    expected |= {("synopsis, fitted", design) for design in SYNOPSIS_DESIGNS} | {("graph: connectivity", "everybody")}
    assert expected <= {(row[0], row[1]) for row in rows}


def test_a_sample_of_the_page_is_what_is_computed() -> None:
    """Enumerations, and draws with a fixed seed."""
    rows = rows_of_the_page()
    chosen = ("table, noise and flag", "points with blocks", "points", "table, noise on every cell")
    for row in (*cell_rows(chosen, ("poisson", "coins", "everybody")), *graph_rows()):
        assert row.cells in rows


def test_numbers_of_few_releases_are_within_their_errors() -> None:
    """P[fewer than 15 of 30 are, where 95 % should be] < 1e-12."""
    made = [*statistic_rows(30, ("survey", "strata", "weights")), *synopsis_rows(30)]
    assert len(made) == 3 * len(STATISTICS) + 2 * len(SYNOPSIS_DESIGNS)
    for row in made:
        assert row.coverage >= 15 / 30, row
    assert min(graph_shares(30).values()) >= 15 / 30

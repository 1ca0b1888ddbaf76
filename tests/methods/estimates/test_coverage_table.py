"""The table of docs/reading.md: complete, nowhere below 95 %, and in a sample what is computed now."""

from __future__ import annotations

import pytest

from tests import cases
from tests.cases import for_each
from tests.methods.estimates.coverage import KINDS, PAGE, cell_rows, numbers_of_the_page
from tests.methods.estimates.outputs import ASKED, OF, THIN
from tests.methods.estimates.range_coverage import RATES, range_coverage, range_rows
from tests.methods.estimates.release_coverage import (
    STATISTIC_DESIGNS,
    STATISTICS,
    SYNOPSIS_DESIGNS,
    graph_rows,
    graph_shares,
    statistic_rows,
    synopsis_rows,
)


def test_every_kind_and_design_is_on_the_page_and_holds() -> None:
    numbers = numbers_of_the_page()
    assert all(float(number.rstrip("*")) >= 95 for number in numbers.values())
    expected = {(what, design) for what, (_, _, designs) in KINDS.items() for design in designs}
    expected |= {(f"statistics: {what}", design) for what in STATISTICS.values() for design in STATISTIC_DESIGNS}
    expected |= {("synopsis, fitted", design) for design in SYNOPSIS_DESIGNS} | {("graph: connectivity", "everybody")}
    expected |= {("ranges", design) for design in RATES}
    assert expected <= {(what, design) for what, _, design in numbers}


def test_every_combination_that_works_alone_is_on_the_page() -> None:
    """Kinds and designs of docs/combinations.md."""
    shown = {
        (what.partition(",")[0].partition(":")[0].partition(" with")[0], on) for what, _, on in numbers_of_the_page()
    }
    page = (PAGE.parent / "combinations.md").read_text(encoding="utf-8")
    working = {
        (kind.partition("\n")[0].replace("-", " "), line.split("`")[1])
        for kind in page.partition("## Reasons")[0].split("\n## ")[1:]
        for line in kind.splitlines()
        if line.startswith("| `") and "✓" in line
    }
    assert working
    assert working <= shown


def test_a_sample_of_the_page_is_what_is_computed() -> None:
    """Enumerations, and draws with a fixed seed."""
    numbers = numbers_of_the_page()
    chosen = ("table, noise and flag", "table, threshold", "few tables, Laplace noise")
    designs = ("coins", "biased") if cases.THOROUGH else ("biased",)
    for row in (*cell_rows(chosen, designs), *graph_rows()):
        assert numbers[row.what, row.intervals, row.design] == row.words


@for_each(
    ("design", "rate", "loss", "sizes"),
    [
        ("coins", 0.001, 1 / 3, (3.0,)),
        ("coins", 0.01, 5 / 3, (2.0,)),
        ("poisson", 0.02, 2 / 3, (4.0,)),
        ("survey", ASKED / OF * THIN, 5 / 3, (2.0, 5.0)),
        ("everybody", 1.0, 1 / 3, (0.0, 100.0)),
    ],
)
def test_ranges_of_few_people_hold_as_often_as_others(
    design: str, rate: float, loss: float, sizes: tuple[float, ...]
) -> None:
    """With a width that follows from the estimate, those of two sampled people held 85 to 88 times in 100."""
    assert range_coverage(design, rate, loss, 3, 4, sizes) >= 0.95


@pytest.mark.slow  # some are drawn every day
def test_ranges_on_the_page_are_what_is_drawn() -> None:
    for row in range_rows(("everybody", "survey")):
        assert numbers_of_the_page()[row.what, row.intervals, row.design] == row.words


@pytest.mark.slow  # test_coverage.py enumerates what cells cover
def test_numbers_of_few_releases_are_within_their_errors() -> None:
    """P[fewer than 15 of 30 are, where 95 % should be] < 1e-12."""
    made = [*statistic_rows(30, ("survey", "strata", "weights")), *synopsis_rows(30)]
    # The exponential mechanism draws the synopses of two designs as well.
    assert len(made) == 3 * len(STATISTICS) + len(SYNOPSIS_DESIGNS) + 2
    for row in made:
        assert row.coverage >= 15 / 30, row
    assert min(graph_shares(30).values()) >= 15 / 30

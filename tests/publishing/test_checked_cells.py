"""Which cells and which intervals `verify` takes: tables of examples on both sides of every comparison."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import CellTable
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.cells import CellLaws
from crowdblend.methods.estimates.estimator import Estimator, Intervals
from crowdblend.methods.estimates.laws import ExactCounts, Law, NoiseBelowK, NoiseFromThreshold, NoiseOnEveryCell
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.cells import Cells, Estimates, open_cells
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.verification.counts import check_cells, check_point_estimates
from tests.cases import for_each

SEX, REGION = Domain(recoding="values", labels=("f", "m")), Domain(recoding="values", labels=("a", "b", "c"))
EVERY_CELL = [(sex, region, 40) for sex in "fm" for region in "abc"]


def table_by(*shown_by: Law, flagged: bool = False) -> CellTable:
    """A table by sex and region, whose regions are strata where there are several laws."""
    sizes = {"sex": 2, "region": 3}
    each = [Estimator(law, Stratum.at_rate(0.5)) for law in shown_by]
    laws = CellLaws(each[0], sizes)
    if len(each) > 1:
        laws = CellLaws(None, sizes, "region", dict(zip("abc", each, strict=True)))
    return CellTable({"sex": SEX, "region": REGION}, laws, shown_by, flagged)


def written(rows: list[tuple[object, ...]], folder: Path, *more: str) -> Cells:
    """The rows as a data file."""
    names = ["sex", "region", "sampled", *more]
    texts = [[f'"{one}"' if isinstance(one, str) else str(one).lower() for one in row] for row in (names, *rows)]
    path = folder / "data.csv"
    path.write_text("\n".join([*map(",".join, texts), ""]), encoding="utf-8")
    return open_cells(DataFile(path), counted=True)


def accepts(table: CellTable, cells: Cells) -> bool:
    try:
        check_cells(table, cells)
    except DoesNotVerify:
        return False
    return True


NOISY, CROWDS = NoiseOnEveryCell(0.5), ExactCounts(20)


@for_each(
    ("shown_by", "may_miss"),
    [
        ((NOISY,), False),
        ((NOISY, NOISY, NOISY), False),
        ((NOISY, CROWDS, CROWDS), False),
        ((CROWDS,), True),
        ((CROWDS, CROWDS, CROWDS), True),
        ((NoiseFromThreshold(1.0, shown_from=20),), True),
        ((NoiseBelowK(50, 0.5),), False),
    ],
)
def test_a_cell_may_miss_where_every_law_leaves_some_out(
    shown_by: tuple[Law, ...], may_miss: bool, tmp_path: Path
) -> None:
    table = table_by(*shown_by)
    assert accepts(table, written(EVERY_CELL, tmp_path))
    assert accepts(table, written(EVERY_CELL[:-1], tmp_path)) is may_miss


def test_each_stratum_has_the_smallest_count_of_its_own_law(tmp_path: Path) -> None:
    table = table_by(ExactCounts(20), ExactCounts(30), ExactCounts(40))
    for region, least in zip("abc", (20, 30, 40), strict=True):
        for count in (least, least - 1):
            assert accepts(table, written([("f", region, count)], tmp_path)) is (count == least)


def test_a_cell_is_exact_from_k_on(tmp_path: Path) -> None:
    table = table_by(NoiseBelowK(50, 0.5, flag=True), flagged=True)
    for count, says, right in ((50, True, True), (49, True, False), (49, False, True), (50, False, True)):
        rows = [(*row, False) for row in EVERY_CELL[:-1]] + [("m", "c", count, says)]
        assert accepts(table, written(rows, tmp_path, "exact")) is right, (count, says)


def test_no_cell_comes_twice_in_whatever_order(tmp_path: Path) -> None:
    for place in range(len(EVERY_CELL)):
        twice = [*EVERY_CELL[: place + 1], *EVERY_CELL[place:]]
        assert not accepts(table_by(CROWDS), written(twice, tmp_path)), place


NAN = float("nan")
# What follows from a count, and what is said of it: an estimate, a lower and an upper end, −1 where there is none.
SAID = [
    ((80.0, 60, 100), (80.0, 60, 100), True),
    ((80.0, 60, 100), (80.1, 60, 100), False),
    ((80.0, 60, 100), (NAN, 60, 100), False),
    ((NAN, 60, 100), (80.0, 60, 100), False),
    ((80.0, 60, 100), (80.0, 61, 100), False),
    ((80.0, 60, 100), (80.0, 60, 99), False),
    ((80.0, 60, 100), (80.0, 60, -1), False),
    ((80.0, 60, 100), (NAN, -1, -1), True),
    ((80.0, 60, -1), (80.0, 60, -1), True),
    # No end where there is none.
    ((80.0, 60, -1), (80.0, 60, 10**9), False),
    ((80.0, 60, -1), (80.0, 60, 61), False),
    # Wider by their own width and one, and not by more.
    ((80.0, 60, 100), (80.0, 19, 141), True),
    ((80.0, 60, 100), (80.0, 18, 100), False),
    ((80.0, 60, 100), (80.0, 60, 142), False),
    ((800.0, 600, -1), (800.0, 0, -1), True),
]


@pytest.mark.parametrize(("right", "said", "accepted"), SAID)
def test_an_interval_is_neither_narrower_nor_much_wider_than_its_count_gives(
    right: tuple[float, int, int], said: tuple[float, int, int], accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def columns(row: tuple[float, int, int]) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        estimate, low, high = row
        return np.array([estimate]), np.array([low], np.int64), np.array([high], np.int64)

    monkeypatch.setattr(CellLaws, "intervals", lambda *_: Intervals(*columns(right)))
    found = Estimates(*columns(said), np.array([40]), None)
    cells = Cells(DataFile(Path("data.csv")), ("sex",), counted=True, flagged=False)
    if accepted:
        check_point_estimates(CellLaws(None), cells, found)
    else:
        with pytest.raises(DoesNotVerify):
            check_point_estimates(CellLaws(None), cells, found)

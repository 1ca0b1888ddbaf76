"""The page of combinations says what planning says: some of the cells every day, all of them in the slow suite."""

import json

import pytest

from docs.combinations import DESIGNS, FOUND, KINDS, LONG, WAYS, WORKS, cells, outcome
from tests.cases import for_each

RECORDED: dict[str, str] = json.loads(FOUND.read_text(encoding="utf-8"))
# Points, and noise that fades under a budget, take long to plan.
LONGER = ("points", "outlier-table")
QUICK = [cell for cell in cells() if cell[0] not in LONGER][5::17]


def test_every_combination_is_recorded_and_a_refusal_says_what_to_do() -> None:
    assert set(RECORDED) == {"/".join(cell) for cell in cells()}
    assert len(RECORDED) == len(KINDS) * len(DESIGNS) * len(WAYS)
    for cell, said in RECORDED.items():
        assert said == WORKS or said.count(". ") >= 1, cell
    assert sum(said == WORKS for said in RECORDED.values()) >= 196


@for_each("cell", QUICK, daily=8)
def test_some_combinations_come_to_what_is_recorded(cell: tuple[str, str, str]) -> None:
    assert outcome(*cell) == RECORDED["/".join(cell)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_combinations_come_to_what_is_recorded(kind: str) -> None:
    for cell in cells():
        if cell[0] == kind and RECORDED["/".join(cell)] != LONG:
            assert outcome(*cell) == RECORDED["/".join(cell)]

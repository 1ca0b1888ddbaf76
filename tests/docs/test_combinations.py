"""The page of combinations says what planning says: some of the cells every day, all of them in the slow suite."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from docs.combinations import DESIGNS, FOUND, KINDS, LONG, WAYS, WORKS, cells, outcome, policy
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


@lru_cache
def town(people: int, *, several: bool) -> pd.DataFrame:
    """People of two regions with everything that some kind publishes; half of them with a second row, if several."""
    chance = np.random.default_rng(5)
    numbers = {"age": chance.integers(0, 100, people), "income": chance.integers(0, 101, people)}
    places = {name: chance.uniform(-9.9, 9.9, people).round(1) for name in ("east", "north")}
    drawn = {"region": chance.choice(["north", "south"], people), "weight": chance.uniform(5, 10.4, people).round(3)}
    one = pd.DataFrame({"id": np.arange(people), **numbers, **places, **drawn})
    return pd.concat(
        [one, one.head(people // 2).assign(age=one["age"][::-1].to_numpy()[: people // 2])] if several else [one]
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "graph"])
def test_all_combinations_that_work_are_released_and_verified(kind: str, tmp_path: Path) -> None:
    for number, (_, design, way) in enumerate(cell for cell in cells() if cell[0] == kind):
        if RECORDED["/".join((kind, design, way))] != WORKS:
            continue
        people = 4_000 if design in ("survey", "weights") else 80_000
        rows, out = town(people, several=way == "several rows"), tmp_path / str(number)
        cb.release(rows, policy(kind, design, way), out=out, ledger=None, figures=False)
        assert cb.verify(out)
        published = cb.read(out)
        if kind != "synopsis":
            split = way in ("people", "fresh", "budget")
            assert len(published.estimates(table="a") if split else published.estimates()), (kind, design, way)

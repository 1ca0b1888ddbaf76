"""Totals and draws of exactly k people: the same from every engine, and as pandas adds them up."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from crowdblend.methods.designs.draw import Coin, Draw, Everybody, Exactly, parts_of
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.engine import Engine
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.randomness import DrawKey, marks
from tests.cases import for_each
from tests.refusals import refuses
from tests.sources.engines.test_engine import COLUMNS, KEY, counted, many, policy, table

PEOPLE = 3_000
MEASURES = {"income": BoundedRecoding(0, 50_000, 100, outside="clamp", blank=0), "age": BoundedRecoding(0, 120, 1)}
SEX = {"sex": COLUMNS["sex"]}
UNIT = {"ids": 'person = "id"', "texts": 'person = "id"', "rows": "rows_are_people = true"}
SOURCES = ("people.parquet", "people.csv")


@pytest.fixture(scope="module")
def frame() -> Any:
    """People called 1, 2, 3, … as those in memory are."""
    return many(PEOPLE, seed=4).assign(id=range(1, PEOPLE + 1))


@pytest.fixture(scope="module")
def in_memory(frame: Any) -> MemoryEngine:
    return MemoryEngine(list(frame), [(tuple(row), 1) for row in frame.astype(str).itertuples(index=False)])


def made(folder: Path, frame: Any, unit: str, source: str) -> Any:
    """The policy of a file of these people, who have numbers, texts or nothing for names."""
    written = frame.assign(id="p" + frame["id"].astype(str)) if unit == "texts" else frame
    if source.endswith("csv"):
        written.to_csv(folder / source, index=False)
    else:
        parquet.write_table(table(written), folder / source)
    return policy(folder, SEX, source, person=UNIT[unit])


def totals(engine: Engine, given: Any, draw: Draw, measures: Any = MEASURES) -> Any:
    with engine.open(given.data, ["sex", *measures], given.resources) as source:
        return source.class_counts(given.columns, draw, measures)


@for_each("source", SOURCES)
@for_each("unit", ["ids", "rows"])
@for_each("draw", [Everybody(), Exactly(DrawKey(KEY), 700, PEOPLE)])
def test_engines_agree(tmp_path: Path, frame: Any, in_memory: MemoryEngine, unit: str, source: str, draw: Draw) -> None:
    given = made(tmp_path, frame, unit, source)
    one, other = (totals(engine, given, draw) for engine in (default_engine(), in_memory))
    assert one.people == other.people == (700 if isinstance(draw, Exactly) else PEOPLE)
    assert one.sums == other.sums
    assert counted(one.classes) == counted(other.classes)


def test_the_totals_are_those_of_the_people_with_the_smallest_marks(tmp_path: Path, frame: Any) -> None:
    given = made(tmp_path, frame, "ids", "people.parquet")
    low, high = marks(KEY, frame["id"].to_numpy()).T
    drawn = frame.iloc[np.lexsort((low, high))[:700]]
    found = totals(default_engine(), given, Exactly(DrawKey(KEY), 700, PEOPLE))
    assert found.sums["age"] == int(drawn["age"].sum())
    labels = [given.columns[0].recoding.label(value) for value in drawn["sex"]]
    assert counted(found.classes) == {(label,): labels.count(label) for label in set(labels)}


@for_each("draw", [Everybody(), Exactly(DrawKey(KEY), 700, PEOPLE + 1)])
@for_each("unit", UNIT, daily=2)
def test_another_number_of_people_is_refused(tmp_path: Path, frame: Any, draw: Draw, unit: str) -> None:
    given = made(tmp_path, frame, unit, "people.parquet")
    given.__dict__["data"] = replace(given.data, people=PEOPLE + 1)
    with refuses("data.people", "[sampling] of" if isinstance(draw, Exactly) else "[data] people"):
        totals(default_engine(), given, draw, {})


def test_values_outside_their_bounds_are_refused(tmp_path: Path, frame: Any) -> None:
    given = made(tmp_path, frame, "ids", "people.parquet")
    with refuses("data.outside-bounds", "column 'age'"):
        totals(default_engine(), given, Everybody(), {"age": BoundedRecoding(0, 50, 1)})


@for_each("draw", [Everybody(), Exactly(DrawKey(KEY), 10, PEOPLE)])
def test_somebody_with_two_rows_is_refused_drawn_or_not(tmp_path: Path, frame: Any, draw: Draw) -> None:
    twice = pd.concat([frame[:-1], frame[:1]])
    given = made(tmp_path, twice, "ids", "people.parquet")
    with refuses("data.repeated-person", "column 'id'"):
        totals(default_engine(), given, draw)


@for_each("shares", [(0.25, 0.75), (0.2, 0.3, 0.5)])
@for_each("unit", ["ids", "rows"])
@for_each("draw", [Everybody(), Coin(DrawKey(KEY), 0.3)])
def test_engines_agree_on_parts(
    tmp_path: Path, frame: Any, in_memory: MemoryEngine, unit: str, draw: Any, shares: tuple[float, ...]
) -> None:
    """The parts of a sample, by every engine; they add up to the sample, class by class."""
    if unit == "rows" and len(shares) > 2:
        return  # Rows without names are divided in two: one part chooses a recoding.
    given = made(tmp_path, frame, unit, "people.parquet")
    draws = [draw, *(replace(draw, part=part) for part in parts_of(DrawKey(bytes(32)), shares))]
    here, there = (
        [counted(totals(engine, given, one, {}).classes) for one in draws] for engine in (default_engine(), in_memory)
    )
    assert here == there
    whole, *parts = here
    assert {label: sum(part.get(label, 0) for part in parts) for label in whole} == whole

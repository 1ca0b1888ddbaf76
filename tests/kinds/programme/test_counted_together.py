"""Publications about the same people are counted in one reading, and it gives what their own readings give."""

from typing import Any

import numpy as np
import pytest

import crowdblend as cb
from crowdblend.kinds.programme import programme
from crowdblend.kinds.programme.programme import ProgrammeReading
from crowdblend.lab.demo import town
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.duckdb.engine import DuckDBSource
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.kinds.programme.programmes import planned, two

COLUMN_SETS = (("sex", "age"), ("district",), ("age", "district"), ("sex",))
TABLES = [cb.Table(*names, name="_".join(names)) for names in COLUMN_SETS]
NOISY = [cb.Table(*names, name="_".join(names), below_k="noise") for names in COLUMN_SETS]
REGISTER: dict[str, Any] = {"sampling": cb.Everybody(), "delta": None, "split": "budget"}


def reading(policy: Any) -> ProgrammeReading:
    """Read a programme of a made-up town with a fixed key."""
    with opened_frame(town(3_000)) as held:
        here = planned(policy.with_source(DataSource(source="people", format="frame", frame=held)))
        return here.read(default_engine(), ReleaseKey(bytes(32)))


def readings_of(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Note the columns of every reading from now on."""
    noted: list[list[str]] = []
    usual = DuckDBSource.class_counts

    def noting(self: Any, columns: Any, *rest: Any) -> Any:
        noted.append([column.name for column in columns])
        return usual(self, columns, *rest)

    monkeypatch.setattr(DuckDBSource, "class_counts", noting)
    return noted


@for_each("policy", [two(*TABLES, **REGISTER), two(*NOISY, split="budget")])
def test_one_reading_gives_what_readings_of_their_own_give(policy: Any, monkeypatch: pytest.MonkeyPatch):
    noted = readings_of(monkeypatch)
    together = reading(policy).readings
    assert noted == [["sex", "age", "district"]]
    monkeypatch.setattr(programme, "MOST_CLASSES", 0)
    alone = reading(policy).readings
    assert noted[1:] == [list(names) for names in COLUMN_SETS]
    for name, one in alone.items():
        ours, theirs = together[name].sample, one.sample  # type: ignore[attr-defined]
        assert (ours.columns, ours.labels) == (theirs.columns, theirs.labels)
        assert np.array_equal(ours.codes, theirs.codes)
        assert np.array_equal(ours.counts, theirs.counts)
        assert together[name].internal == one.internal


def test_classes_beyond_the_limit_are_counted_in_further_readings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(programme, "MOST_CLASSES", 20)
    noted = readings_of(monkeypatch)
    reading(two(*TABLES, **REGISTER))
    assert noted == [["sex", "age"], ["district"], ["age", "district"]]


APART: dict[str, Any] = {
    "a random row of several": two(*TABLES, **REGISTER, duplicates="one"),
    "samples of their own": two(*TABLES, split="fresh"),
}


@for_each(("what", "policy"), APART.items())
def test_what_would_be_drawn_differently_is_read_alone(what: str, policy: Any, monkeypatch: pytest.MonkeyPatch):
    noted = readings_of(monkeypatch)
    reading(policy)
    assert noted == [list(names) for names in COLUMN_SETS]

"""A rehearsal publishes what the policy would publish, about people who do not exist, and records nothing."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.front_door.choices import policy_of
from crowdblend.front_door.expectations import expectations
from crowdblend.front_door.rehearse import rehearse
from crowdblend.rehearsal.domain_people import TITLE, write_people
from tests.front_door.kinds_of_choices import CASES


@pytest.mark.parametrize("case", CASES)
def test_every_kind_is_rehearsed_without_its_data(case: str, tmp_path: Path) -> None:
    policy = policy_of(CASES[case][0], tmp_path)
    done = rehearse(policy, tmp_path / "out", people=3_000)
    assert cb.verify(done.folder).facts["about"]["title"] == TITLE
    assert (done.suppressed is None) == (
        case in ("register", "outlier-table", "statistics", "synopsis", "graph", "several tables")
    )
    assert not list(tmp_path.glob("*.parquet"))


def test_people_lie_in_the_declared_domain_and_fill_it(tmp_path: Path) -> None:
    policy = cb.Table(
        source="none.csv",
        person="id",
        sampling=cb.Sampling(rate=0.5),
        columns={
            "sex": cb.values("f", "m", other="x", missing="?"),
            "age": cb.intervals(0, 200, width=1, top=True),
            "born": cb.date("month", "2000-01-01", "2001-01-01"),
            "income": cb.breaks(0, 10, 100, bottom=True),
            "code": cb.prefix(2),
        },
        epsilon=1,
        delta=1e-6,
    )
    here = write_people(policy, tmp_path, 20_000)
    with open(here.source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == 20_000
    for column in policy.columns:
        labels = {column.recoding.label(row[column.name] or None) for row in rows}
        assert None not in labels
        if column.recoding.labels:
            assert labels == set(column.recoding.labels)


def test_skewed_people_prefer_the_first_class(tmp_path: Path) -> None:
    policy = policy_of(CASES["table"][0], tmp_path)
    here = write_people(policy, tmp_path, 6_000, "skewed")
    with open(here.source, encoding="utf-8", newline="") as file:
        women = sum(row["sex"] == "female" for row in csv.DictReader(file))
    # Two thirds of them; the seed is fixed, so that this cannot fail by chance.
    assert 3_900 < women < 4_100


def test_of_a_sample_that_was_taken_only_the_sample_is_made_up(tmp_path: Path) -> None:
    policy = policy_of(CASES["a sample that was taken"][0], tmp_path)
    here = write_people(policy, tmp_path, 10_000)
    with open(here.source, encoding="utf-8") as file:
        assert 2_300 < sum(1 for _ in file) - 1 < 2_700


def test_a_public_file_can_be_rehearsed_with(tmp_path: Path) -> None:
    policy = replace(policy_of(CASES["table"][0], tmp_path))
    public = write_people(policy, tmp_path, 2_000).source
    done = rehearse(policy, tmp_path / "out", data=public)
    assert cb.verify(done.folder).facts["about"]["title"] == "Rehearsal on a public file"


def test_too_many_people_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="makes up between"):
        rehearse(policy_of(CASES["table"][0], tmp_path), tmp_path / "out", people=10**9)


def test_what_readers_will_see_follows_from_the_plan(tmp_path: Path) -> None:
    plan = policy_of(CASES["table"][0], tmp_path).plan()
    small, large = expectations(plan, (10, 10_000))
    assert small.shown < 0.05
    assert large.shown > 0.999
    assert large.off is not None
    # Sampling at a tenth moves a count of 10,000 by about two standard deviations of 300.
    assert 500 < large.off < 700
    noisy = expectations(policy_of(CASES["register"][0], tmp_path).plan(), (100,))[0]
    assert noisy.shown == 1
    assert noisy.off is not None
    assert noisy.off < 10
    assert noisy.words() == f"A group of 100 people will be shown, as 100 ± {noisy.off}."
    assert expectations(policy_of(CASES["statistics"][0], tmp_path).plan()) == ()

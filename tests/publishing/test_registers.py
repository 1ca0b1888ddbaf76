"""Tables of registers, from policy to folder."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.kinds import plan
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.release import read
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import Assumption, verify_file
from tests.cases import for_each
from tests.golden.releases import KEY, PEOPLE, POLICIES

SAMPLING = {
    Assumption.ASSUMED_RATE,
    Assumption.INDEPENDENT_SAMPLING,
    Assumption.SECRET_SAMPLE,
    Assumption.SINGLE_RELEASE,
}


def test_everybody_is_counted_with_noise_on_every_cell(sources: Path, tmp_path: Path) -> None:
    done = release(parse_policy(POLICIES["table-register"], sources), tmp_path / "out", key=KEY, ledger=None)
    cells = pd.read_parquet(done.folder / "data.parquet")
    assert len(cells) == 2 * 10 * 8
    assert abs(cells["count"].sum() - PEOPLE) < 150
    people = pd.read_parquet(sources / "town.parquet").groupby("district").size()
    assert (cells.groupby("district")["count"].sum() - people).abs().max() < 60
    certificate = verify_file(done.folder)
    found = certificate.differential()
    assert found is not None
    assert (found.epsilon, found.delta, found.samplings) == (1.0, 0.0, 0)
    assert not SAMPLING & {assumed.assumption for assumed in certificate.assumptions()}
    assert verify_release(done.folder).uncovered == ()
    page = (done.folder / "report.html").read_text()
    assert "No sample was drawn: everybody is counted." in page


def test_people_with_several_rows(sources: Path, tmp_path: Path) -> None:
    policy = parse_policy(POLICIES["table-visits"], sources)
    done = release(policy, tmp_path / "out", key=KEY, ledger=None)
    totals = pd.read_parquet(done.folder / "totals.parquet").set_index("total")["count"]
    assert abs(totals["rows"] - PEOPLE - 500) < 900
    assert abs(totals["people"] - PEOPLE) < 400
    found = verify_file(done.folder).differential()
    assert found is not None
    assert found.epsilon <= 1.0
    mechanisms: Any = plan(policy).mechanisms
    cells, rows, people = mechanisms
    spent = 2 * cells.noise_epsilon + 2 * rows.noise_epsilon + people.noise_epsilon
    assert spent == pytest.approx(1.0)
    assert cells.noise_epsilon == pytest.approx(0.45)


@for_each(("epsilon", "rows"), [(1.0, 3), (0.1, 7), (0.3, 3), (0.7, 11), (3.3, 2)])
def test_rounding_takes_no_more_than_the_policy_allows(sources: Path, epsilon: float, rows: int) -> None:
    text = POLICIES["table-visits"].replace("rows_per_person = 2", f"rows_per_person = {rows}")
    planned = plan(parse_policy(text.replace("epsilon = 1.0", f"epsilon = {epsilon}"), sources))
    found = planned.certificate().differential()
    assert found is not None
    assert 0.999999 * epsilon < found.epsilon <= epsilon


@pytest.mark.parametrize("name", ["table-register", "table-visits"])
def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent(sources: Path, name: str) -> None:
    with pytest.raises(Infeasible) as refused:
        plan(parse_policy(POLICIES[name].replace("epsilon = 1.0", "epsilon = 1e-12"), sources))
    assert refused.value.code == "plan.epsilon-too-small"


def test_without_rows_per_person_several_rows_are_refused(sources: Path, tmp_path: Path) -> None:
    text = POLICIES["table-visits"].replace("rows_per_person = 2\n", "")
    with pytest.raises(InvalidInput):
        release(parse_policy(text, sources), tmp_path / "out", ledger=None)


def test_a_register_is_rehearsed(sources: Path) -> None:
    policy = parse_policy(
        POLICIES["table-visits"].replace("[privacy]", '[release]\nformat = "csv"\n[privacy]'), sources
    )
    subject = subject_of(policy.only, lambda *_: {}, name="register", people=50)
    assert subject.guarantee.delta == 0.0
    pair = subject.pairs()[0]
    assert sum(next(iter(subject.observe(pair.fewer, 3).values())).values()) == 3


def test_a_dry_run_says_how_far_off_a_cell_is(sources: Path) -> None:
    text = " ".join(line for _, line in plan(parse_policy(POLICIES["table-register"], sources)).describe())
    assert "no sample is drawn" in text
    assert "off by up to 4 (95 %)" in text


@for_each(("people", "thin"), [(100, True), (8_000, False), (None, False)])
def test_a_plan_says_where_the_average_cell_has_fewer_people_than_its_error(
    people: int | None, thin: bool, sources: Path
) -> None:
    """160 cells that are off by up to 4."""
    policy = parse_policy(POLICIES["table-register"], sources).replace(people=people)
    told = " ".join(line for _, line in plan(policy).describe())
    assert ("the average cell has 0.625 people, fewer than its error" in told) == thin
    assert ("fewer than its error" in told) == thin


def test_readers_get_the_totals_apart_from_the_cells(sources: Path, tmp_path: Path) -> None:
    done = release(parse_policy(POLICIES["table-visits"], sources), tmp_path / "out", key=KEY, ledger=None)
    found = read(done.folder)
    (whole,) = found.estimates(margin=[]).to_pylist()
    cells = pd.read_parquet(done.folder / "data.parquet")
    assert whole["count"] == cells["count"].sum()
    totals = {row["total"]: row for row in found.estimates(table="totals").to_pylist()}
    assert set(totals) == {"rows", "people"}
    for row in totals.values():
        assert row["low"] < row["estimate"] == row["count"] < row["high"]
    # The noise of a total is e^-0.025 and e^-0.05 per step: 95 % lie within about 3 scales.
    assert totals["people"]["high"] - totals["people"]["count"] == pytest.approx(3 / 0.05, abs=4)
    assert "at most 2 random ones" in " ".join(found.notes())


def test_readers_get_intervals_for_every_cell(sources: Path, tmp_path: Path) -> None:
    done = release(parse_policy(POLICIES["table-register"], sources), tmp_path / "out", key=KEY, ledger=None)
    rows = read(done.folder).estimates().to_pylist()
    assert all(row["low"] <= max(row["count"], 0) <= row["high"] <= max(row["count"], 0) + 4 for row in rows)

"""A rehearsal publishes what the policy would publish, about people who do not exist, and records nothing."""

from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.programme.expected_errors import group_expectations
from crowdblend.studio.model.choices import policy_of
from crowdblend.studio.model.rehearsed_folder import MADE_UP, rehearse_into
from tests.cases import for_each
from tests.studio.model.kinds_of_choices import CASES


@for_each("case", CASES, daily=5)
def test_every_kind_is_rehearsed_without_its_data(case: str, tmp_path: Path) -> None:
    policy = policy_of(CASES[case][0], tmp_path)
    suppressed = rehearse_into(policy, tmp_path / "out", people=3_000)
    assert cb.verify(tmp_path / "out").facts["about"]["title"] == MADE_UP
    assert (suppressed is None) == (
        case in ("register", "outlier-table", "statistics", "synopsis", "synthetic", "graph") or "programme" in case
    )
    assert not list(tmp_path.glob("*.parquet"))


def test_a_public_file_can_be_rehearsed_with(tmp_path: Path) -> None:
    policy = policy_of(CASES["table"][0], tmp_path)
    public = tmp_path / "public.csv"
    rows = "".join(f"{number},{('female', 'male')[number % 2]},{number % 90}\n" for number in range(2_000))
    public.write_text("person_id,sex,age\n" + rows, encoding="utf-8")
    rehearse_into(policy, tmp_path / "out", data=public)
    assert cb.verify(tmp_path / "out").facts["about"]["title"] == "Rehearsal on a public file"


def test_too_many_people_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can be made up"):
        rehearse_into(policy_of(CASES["table"][0], tmp_path), tmp_path / "out", people=10**9)


def test_what_readers_will_see_follows_from_the_plan(tmp_path: Path) -> None:
    facts = {name: plan(policy_of(CASES[name][0], tmp_path)).facts() for name in ("table", "register", "statistics")}
    small, large = group_expectations(facts["table"], (10, 10_000))
    assert small.shown < 0.05
    assert large.shown > 0.999
    assert large.off is not None
    # Sampling at a half moves a count of 10,000 by about two standard deviations of 100.
    assert 180 < large.off < 220
    noisy = group_expectations(facts["register"], (100,))[0]
    assert noisy.shown == 1
    assert noisy.off is not None
    assert noisy.off < 10
    assert noisy.words() == f"A group of 100 people will be shown, as 100 ± {noisy.off}."
    assert group_expectations(facts["statistics"]) == ()

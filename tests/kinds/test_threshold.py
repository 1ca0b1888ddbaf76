"""Tables with a threshold: what is planned, refused, published and said of labels that nobody listed."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.kinds.programme.expected_errors import group_expectations
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.table.threshold import ThresholdPlan
from crowdblend.methods.mechanisms.everywhere import ThresholdHistogram
from crowdblend.reading.cells import open_cells
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.verification.counts import check_cells
from tests.cases import for_each

COLUMNS = {"town": cb.prefix(50), "sex": cb.values("female", "male")}


def policy(sampling: Any, publish: Any = None, **terms: Any) -> cb.Policy:
    given = {"epsilon": 1.0, "delta": 1e-6, **terms}
    table = cb.Table("town", "sex", below_k="threshold")
    return cb.Policy(person="person", sampling=sampling, columns=COLUMNS, publish=publish or table, **given)


def plan_of(made: cb.Policy) -> Any:
    return made.plan()


def planned(sampling: Any, **terms: Any) -> ThresholdHistogram:
    made = policy(sampling, **terms).plan()
    assert isinstance(made, ThresholdPlan)
    return made.mechanism


@for_each(
    ("sampling", "noise_epsilon", "show_from"),
    [
        (cb.Everybody(), 1.0, 15),
        (cb.Poisson(0.5), 1.4899, 10),
        (cb.Poisson(0.1), 2.9005, 5),
        (cb.Coins(0.1), 2.9005, 5),
    ],
)
def test_the_noise_is_as_small_as_epsilon_allows_and_the_threshold_as_delta_does(
    sampling: Any, noise_epsilon: float, show_from: int
) -> None:
    made = planned(sampling)
    assert (round(made.noise_epsilon, 4), made.show_from) == (noise_epsilon, show_from)
    smaller = policy(sampling, cb.Table("town", "sex", below_k="threshold", show_from=show_from - 1))
    with pytest.raises(CrowdblendError) as refused:
        smaller.plan()
    assert refused.value.code == "plan.threshold-out-of-reach"


def test_a_survey_of_a_fixed_number_of_people_may_keep_all_of_them() -> None:
    """Noise needs no coins; the guarantee is then for data replaced."""
    kept, thinned = (planned(cb.Survey(5_000, of=100_000, thin=thin)) for thin in (1.0, 0.8))
    assert 0.9 < kept.noise_epsilon < 2.0
    assert kept.show_from <= 15
    assert thinned.noise_epsilon > kept.noise_epsilon
    alone = policy(cb.Survey(5_000, of=100_000, thin=0.8)).plan()
    assert [said for said in alone.describe() if "k = " in said[1]] == []


@for_each(
    ("sampling", "keys", "terms", "code"),
    [
        (cb.Everybody(), {"k": 5}, {}, "policy.threshold"),
        (cb.Poisson(0.5), {"flag": True}, {}, "policy.threshold"),
        (cb.Everybody(), {}, {"delta": None}, "policy.planned"),
        (cb.Poisson(0.5), {}, {"epsilon": None}, "policy.planned"),
        (cb.Everybody(), {}, {"delta": 0.1}, "plan.delta"),
    ],
)
def test_what_is_not_certified_is_refused(sampling: Any, keys: Any, terms: Any, code: str) -> None:
    with pytest.raises(CrowdblendError) as refused:
        policy(sampling, cb.Table("town", "sex", below_k="threshold", **keys), **terms).plan()
    assert refused.value.code == code


def test_open_columns_of_a_register_are_answered_with_the_threshold() -> None:
    with pytest.raises(CrowdblendError, match="threshold"):
        policy(cb.Everybody(), cb.Table("town"), delta=None).plan()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A register of 3,000 people in three towns, and forty who are alone in theirs."""
    folder = tmp_path_factory.mktemp("threshold")
    people = duckdb.sql(
        "SELECT i AS person, CASE WHEN i >= 3000 THEN 'Hamlet ' || i ELSE 'Town ' || (i % 3) END AS town, "
        "CASE WHEN i % 2 = 0 THEN 'female' ELSE 'male' END AS sex FROM range(3040) t(i)"
    )
    cb.release(people, policy(cb.Everybody()), out=folder / "out", ledger=None)
    return folder / "out"


def test_labels_of_few_people_do_not_appear_anywhere(published: Path) -> None:
    """The chance that one of forty people makes a hamlet appear is below 4e-5 at this key, and fixed by it."""
    read = cb.read(published)
    frame = read.data.to_pandas()
    assert sorted(frame["town"].unique()) == ["Town 0", "Town 1", "Town 2"]
    assert list(frame.columns) == ["town", "sex", "count", "estimate", "low", "high"]
    assert read.estimates().column_names == list(frame.columns)  # how many cells are not published is not known
    assert not any(b"Hamlet" in file.read_bytes() for file in published.iterdir())


def test_it_is_verified_and_says_how_it_is_read(published: Path) -> None:
    cb.verify(published)
    readme, report = ((published / name).read_text() for name in ("README.md", "report.html"))
    for said in ("with noise, of the classes that enough people have", "a label that is missing may well be somebody"):
        assert said in readme
    assert "labels are those that are published" in readme
    assert not any(said in readme for said in ("whole domain", "all that were declared", "pip install crowdblend"))
    assert "Which labels appear here is protected as their numbers are" in report
    assert "No totals are shown" in report
    with pytest.raises(CrowdblendError) as refused:
        cb.read(published).margin(["sex"])
    assert refused.value.code == "reading.cut-cells"


def test_a_cell_below_the_threshold_does_not_verify(published: Path, tmp_path: Path) -> None:
    facts = read_facts(cb.read(published).certificate.facts)
    (table,) = facts.tables.values()
    text = "town,sex,count,estimate,low,high\nTown 0,female,14,14.0,11,17\n"
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(CrowdblendError, match="below 15"):
        check_cells(table, open_cells(DataFile(tmp_path / "data.csv"), counted=True))


def test_groups_are_shown_as_often_as_is_said() -> None:
    made = plan_of(policy(cb.Everybody()))
    expected = {one.people: one for one in group_expectations(made.facts(), (1, 14, 15, 30, 1_000))}
    assert expected[1].shown == pytest.approx(6.079e-7, rel=1e-3)
    assert expected[15].shown == pytest.approx(1 / (1 + 2.718281828**-1), rel=1e-6)
    assert expected[30].shown > 0.9999
    assert expected[1_000].low == 996
    assert expected[14].low is None


@for_each(
    ("split", "sampling"),
    [("budget", cb.Everybody()), ("budget", cb.Poisson(0.5)), ("people", cb.Poisson(0.5)), ("fresh", cb.Poisson(0.5))],
    daily=2,
)
def test_it_is_one_of_several_publications(split: Any, sampling: Any) -> None:
    others: dict[str, Any] = {} if isinstance(sampling, type(cb.Everybody())) else {"below_k": "noise"}
    tables = [cb.Table("town", "sex", name="open", below_k="threshold"), cb.Table("sex", name="closed", **others)]
    made = plan_of(policy(sampling, tables, split=split))
    (own,) = [one for one in made.mechanisms if isinstance(one, ThresholdHistogram)]
    assert own.show_from > 5
    differential = next(one for one in made.derived_guarantees if type(one.conclusion).__name__ == "Differential")
    assert differential.conclusion.epsilon <= 1.0
    assert differential.conclusion.delta <= 1e-6

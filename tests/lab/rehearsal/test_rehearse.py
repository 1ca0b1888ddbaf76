"""Rehearsals: every kind on made-up people, nothing spent, and numbers that follow from the made-up people."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import crowdblend as cb
from crowdblend.cli.main import cli
from crowdblend.lab.rehearsal.rehearse import NOT_REAL, side_by_side
from crowdblend.policies.load import parse_policy
from crowdblend.trusted.randomness import new_key
from tests.cases import for_each
from tests.golden.releases import POLICIES
from tests.kinds.grouped import policy_text
from tests.lab.rehearsal.releases import subject_of_text
from tests.refusals import refuses

FILES = ("table", "table-visits", "microdata", "points", "outlier-table", "synopsis")
SMALL = {"people": 2_000, "times": 1}


def expected(name: str, **named):
    """A rehearsal. Statistics state the error that they exceed once in ten million times, not in twenty."""
    exact = name.startswith(("statistics", "synopsis", "graph"))
    text = POLICIES[name]
    if name == "statistics":
        text = text.replace('kind = "statistics"', 'kind = "statistics"\nconfidence = 0.9999999')
    return cb.rehearse(parse_policy(text), **({"times": 1} if exact else SMALL) | named)


@for_each("name", FILES)
def test_files_are_described(name: str) -> None:
    found = expected(name)
    assert found.note == NOT_REAL
    assert found.seconds > 0
    for file in found.files:
        assert 0 <= file.shown <= (file.cells or 10**6)
        assert file.hidden is None or 0 <= file.hidden <= 1
        assert file.margin_error is None or 0 <= file.margin_error <= 1
    assert {file.file.split(".")[0] for file in found.files} >= {"data"}


def test_numbers_are_held_against_the_truth() -> None:
    found = expected("statistics")
    assert found.numbers
    for number in found.numbers:
        assert 0 <= number.error <= number.stated
        assert number.kept == 1.0


def test_numbers_of_a_network_are_held_against_the_truth() -> None:
    """Each is within its error in 95 of 100 releases: in fewer than 5 of 12 with probability 2e-8."""
    found = expected("graph", times=12)
    assert found.numbers
    for number in found.numbers:
        assert number.error >= 0
        assert 5 / 12 <= number.kept <= 1


def test_releases_that_take_long_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three at least; whoever says how many gets as many."""
    monkeypatch.setattr("crowdblend.lab.rehearsal.rehearse._SECONDS", 0.0)
    policy = parse_policy(POLICIES["table"])
    assert cb.rehearse(policy, people=500).times == 3
    assert cb.rehearse(policy, people=500, times=4).times == 4


def test_a_table_without_noise_or_loss_has_no_error() -> None:
    """A register at a huge epsilon: what is measured is the release, and the truth is that of the made-up people."""
    policy = cb.Policy(
        person="id",
        columns={"sex": cb.values("f", "m"), "age": cb.intervals(0, 90, width=30)},
        sampling=cb.Everybody(),
        epsilon=100.0,
        accept_epsilon=True,
        publish=cb.Table(),
    )
    (file,) = cb.rehearse(policy, people=500, times=2).files
    assert (file.cells, file.shown, file.margin_error) == (6, 6.0, 0.0)


@for_each(
    ("published", "sampling"),
    [
        (True, cb.Strata("region", {"n": 0.2, "s": 0.5})),
        (False, cb.Strata("region", {"n": 0.4, "s": 0.5}, already_drawn=True)),
        (False, cb.Weights("w", low=0.1, high=0.2)),
    ],
)
def test_strata_and_weights_are_made_up_too(published: bool, sampling: Any) -> None:
    columns = {"sex": cb.values("f", "m"), **({"region": cb.values("n", "s")} if published else {})}
    policy = cb.Policy(person="id", columns=columns, sampling=sampling, epsilon=2.0, delta=1e-4, publish=cb.Table())
    (file,) = cb.rehearse(policy, people=2_000, times=2).files
    assert file.shown == (4 if published else 2)
    assert (file.margin_error is None) or file.margin_error < 0.1


def test_k_hides_people_where_they_are_spread_thin() -> None:
    policy = parse_policy(POLICIES["table"])
    few, many = (cb.rehearse(policy, people=people, times=2).files[0] for people in (1_000, 20_000))
    assert few.hidden > many.hidden
    assert few.shown < many.shown
    dense = cb.rehearse(policy, people=1_000, times=2, sparsity=0.97).files[0]
    assert dense.hidden < few.hidden


def test_medians_are_held_against_ranks() -> None:
    asked = ('median = "income"\nby = ["group"]', 'average = "income"\nwhere = { sex = "f" }')
    text = policy_text(*asked, epsilon=9.0, more="confidence = 0.9999999")
    found = cb.rehearse(parse_policy(text), times=5)
    median, average = found.numbers
    assert median.unit == "rank error"
    assert 0 <= median.error <= median.stated < 1
    assert 0 < average.error <= average.stated


def test_the_command_compares_and_spends_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(POLICIES["table"])
    (tmp_path / "two.toml").write_text(POLICIES["table-noise"])
    public = pa.table({"sex": ["female", "male", "male"], "age": ["001", "30", "44"]})
    csv.write_csv(public, tmp_path / "public.csv")
    books = tmp_path / "ledger.sqlite"
    asked = ["rehearse", str(tmp_path / "one.toml"), "--compare", str(tmp_path / "two.toml"), "--people", "1500"]
    asked += ["--times", "1", "--like", str(tmp_path / "public.csv")]
    done = CliRunner().invoke(cli, asked, env={"CROWDBLEND_LEDGER": str(books)})
    assert done.exit_code == 0, done.output
    assert "Nothing here is about your data" in done.output
    assert "one.toml" in done.output
    assert "two.toml" in done.output
    assert not books.exists()
    found = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert found["note"] == NOT_REAL
    assert [other["policy"] for other in found["compared"]] == ["two.toml"]


def test_measures_of_several_policies_stand_side_by_side() -> None:
    rows = dict(side_by_side([expected("table"), expected("statistics")]))
    assert rows["women: stated error kept"] == [None, 1.0]
    assert rows["k"][1] is None


def test_a_survey_that_is_thinned_has_the_guarantee_of_its_own_plan() -> None:
    policy = cb.Policy(
        rows_are_people=True,
        columns={"sex": cb.values("female", "male")},
        sampling=cb.Survey(300, of=900, thin=0.5),
        epsilon=1.0,
        delta=1e-4,
        publish=cb.Table(),
    )
    found = cb.rehearse(policy, times=1)
    stated: Any = policy.plan().guarantees[0]
    assert (found.epsilon, found.delta) == (stated.epsilon, stated.delta)


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    policy = parse_policy(POLICIES["table"])
    with refuses("rehearsal.times", "times"):
        cb.rehearse(policy, times=0)
    with refuses("rehearsal.like", "like"):
        cb.rehearse(policy, like=tmp_path / "nowhere.csv")


def test_the_audit_knows_numbers_of_groups_and_quantiles() -> None:
    """The noise-free rows that the audit looks between are those of a release with hardly any noise."""
    every = ('median = "income"\nby = ["group"]', 'sum = "change"\nby = ["group"]', 'average = "income"\nby = ["sex"]')
    text = policy_text(*every, epsilon=2.0).replace("people = 4000", "people = 12")
    subject = subject_of_text(text)
    pairs = subject.pairs()
    assert [pair.name for pair in pairs] == [
        "others like the person",
        "others like who comes instead",
        "others half and half",
        "others with a share of 0.5 below",
    ]
    assert subject.observer(pairs[0].more).numbers, "the two persons move some number"
    loud = subject_of_text(text.replace("epsilon = 2.0", "epsilon = 500\naccept_epsilon = true"))
    people = pairs[0].more
    exact = [
        value for place in range(3) for value in loud._exact_rows(place, [(c.values, c.size) for c in people.people])
    ]
    (shown,) = loud.publish(people, new_key())[0].values()
    seen = [float(row[shown.header.index("value")]) for row in shown.rows]
    # All are in the first groups; with so little noise each is off by more less than once in 10^9 tests.
    assert seen[0] == exact[0]
    assert abs(seen[3] - exact[3]) < 60
    assert abs(seen[6] - exact[6]) < 5_000
    views = subject.observe(people, 3)
    assert sum(views["all numbers"].values()) == 3

"""Averages, sums and counts of groups, and quantiles: within their stated errors, certified and verified."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, Infeasible
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.statistics.values import values_of
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import check_data, verify_release
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from tests.cases import for_each
from tests.kinds.grouped import GROUPS, PEOPLE, Town, as_csv, group_of, people, policy_text, rank_holds
from tests.plans import plan

AVERAGE, MEDIAN = 'average = "income"\nby = ["group"]', 'median = "income"\nby = ["group"]'
WHOLE, UPPER = 'median = "income"', 'quantile = "income"\nat = 0.9\nwhere = { sex = "f" }'
SUMS, SIGNED = 'sum = "income"\nby = ["group", "sex"]', 'sum = "change"\nby = ["group"]'
TOTAL, SIZES = 'sum = "income"', 'count = { sex = "f" }\nby = ["group"]'
EVERY = (AVERAGE, MEDIAN, WHOLE, UPPER, SUMS, SIGNED, TOTAL, SIZES)
SURVEY = 'design = "survey"\npeople = {}\nof = 4000'
AT = {1: 0.5, 2: 0.5, 3: 0.9}


def truth(town: Town, place: int, label: str | None) -> float | np.ndarray:
    """What is true of one published row; of a quantile, the values that it is of."""
    by = dict(zip(("group", "sex"), label.split(" / "), strict=False)) if label else {}
    if place == 0:
        return town.of("income", **by).mean()
    if place in AT:
        return town.of("income", **(by if place == 1 else {"sex": "f"} if place == 3 else {}))
    if place in (4, 6):
        return town.of("income", **by).sum()
    return town.of("change", **by).sum() if place == 5 else len(town.of("sex", **by, sex="f"))


def kept(town: Town, rows: list[dict], places: dict[str, int], known: dict) -> dict[str, bool]:
    """Whether each statistic of one release is within its error, all groups at once."""
    holds: dict[str, bool] = {}
    for row in rows:
        name, place = row["statistic"], places[row["statistic"]]
        if (of := (name, group_of(row))) not in known:
            known[of] = truth(town, place, group_of(row))
        true = known[of]
        if place in AT:
            assert row["error"] is None
            fine = rank_holds(true, AT[place], row["value"], row["rank_error"])
        else:
            fine = abs(row["value"] - true) <= row["error"]
        holds[name] = holds.get(name, True) and fine
    return holds


def coverage(runs: int, chosen: tuple[int, ...], **named) -> dict[str, int]:
    """How often each of the chosen statistics was within its error."""
    town = Town(*(EVERY[place] for place in chosen), **named)
    places = {f"s{at}": place for at, place in enumerate(chosen)}
    known: dict[Any, Any] = {}
    counted = dict.fromkeys(places, 0)
    for _ in range(runs):
        for name, fine in kept(town, town.publish().to_pylist(), places, known).items():
            counted[name] += fine
    return {name: counted[name] for name in places}


def enough(runs: int) -> int:
    """As many as a coverage of exactly 95 % falls short of with probability 5e-8 only: 11 of 20."""
    return int(binom.ppf(5e-8, runs, 0.95))


@pytest.mark.parametrize(("chosen", "named"), [(range(8), {"epsilon": 20.0}), ((0, 1, 2, 5), {"epsilon": 12.0})])
def test_every_statistic_is_within_its_error(chosen, named) -> None:
    """Everybody counted, and half of the people drawn; a false alarm has probability below 12·5e-8."""
    sampling = {} if len(chosen) == 8 else {"sampling": SURVEY.format(2000)}
    found = coverage(20, tuple(chosen), **named, **sampling)
    assert all(count >= enough(20) for count in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ['design = "everybody"', SURVEY.format(2000), SURVEY.format(400)])
def test_stated_errors_are_kept_in_2000_runs_of_every_statistic(sampling: str) -> None:
    """Some errors are kept in exactly 95 of 100; a false alarm has probability below 24·5e-8."""
    found = coverage(2_000, tuple(range(8)), epsilon=8.0, sampling=sampling)
    assert all(count >= enough(2_000) for count in found.values()), found


def test_errors_of_groups_follow_from_their_noisy_sizes_and_say_something() -> None:
    """The smaller the group, the larger its error; and none of them is empty talk at this ε."""
    rows = {(row["statistic"], group_of(row)): row for row in Town(AVERAGE, MEDIAN, epsilon=20.0).publish().to_pylist()}
    errors = [rows["s0", group]["error"] for group in GROUPS]
    ranks = [rows["s1", group]["rank_error"] for group in GROUPS]
    assert errors == sorted(errors)
    assert ranks == sorted(ranks)
    assert errors[-1] < 5_000
    assert ranks[-1] < 0.1


def test_an_empty_group_claims_nothing_beyond_its_bounds() -> None:
    """At a confidence of 95 % a noisy size would promise more in one release of two hundred."""
    text = policy_text(AVERAGE, MEDIAN, epsilon=1.0, more="confidence = 0.99999999")
    text = text.replace('["a", "b", "c"]', '["a", "b", "c", "nobody"]')
    town = Town(AVERAGE, epsilon=1.0)
    planned = plan(parse_policy(text).only)
    town.plan = planned
    rows = [row for row in town.publish().to_pylist() if row["group"] == "nobody"]
    assert rows[0]["error"] >= max(rows[0]["value"], 100_000 - rows[0]["value"]) * 0.999
    assert rows[1]["rank_error"] == 1.0


@for_each("statistics", [(AVERAGE, MEDIAN), (AVERAGE,), (WHOLE, TOTAL), (SIZES,)])
def test_plain_differential_privacy_has_no_sample(statistics: tuple[str, ...]) -> None:
    """Its ε is that of the policy, with one person's data replaced and not only concealed."""
    guarantees = plan(parse_policy(policy_text(*statistics)).only).certificate().guarantees
    known, plain = guarantees
    assert isinstance(known, ZeroKnowledge)
    assert isinstance(known.aggregate, RandomSamples)
    assert known.aggregate.samples == known.aggregate.population == PEOPLE
    assert isinstance(plain, Differential)
    assert (plain.relation, plain.delta) == (Relation.REPLACE, 0.0)
    assert 0.999 < plain.epsilon <= 1.0


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    (folder / "people.csv").write_bytes(as_csv(people()))
    release(parse_policy(policy_text(*EVERY, epsilon=8.0), folder), folder / "out", ledger=None, key=bytes(32))
    return folder


def test_a_release_verifies_and_says_what_it_is(published: Path) -> None:
    verify_release(published / "out")
    facts = read_facts(json.loads((published / "out" / "certificate.json").read_text())["facts"])
    assert isinstance(facts, StatisticsFacts)
    assert facts.statistics_["s0"].by == facts.statistics_["s1"].by == ("group",)
    # The rank error of a quantile of groups is that of groups of equal size; those of the others are as published.
    assert facts.statistics[1].is_quantile
    assert facts.statistics[1].depends_on_groups
    assert 0 < values_of(facts, 1).error < 1
    page = (published / "out" / "report.html").read_text()
    assert "median of income, by group" in page
    assert "rank ±" in page
    found = cb.read(published / "out").estimates()
    rows = {(row["statistic"], group_of(row)): row for row in found.to_pylist()}
    assert rows["s2", None]["low"] is None
    stated = {row["statistic"]: row for row in cb.read(published / "out").data.to_pylist()}
    assert stated["s2"]["rank_error"] == values_of(facts, 2).error
    assert stated["s5"]["error"] == values_of(facts, 5).error
    assert rows["s0", "a"]["low"] < rows["s0", "a"]["estimate"] < rows["s0", "a"]["high"]


def test_both_engines_and_formats_give_the_same_bytes(published: Path, tmp_path: Path) -> None:
    """DuckDB reads the file, the engine of rehearsals holds the people in memory."""
    from crowdblend.publishing.policy_digest import plan_secret
    from crowdblend.trusted.randomness import ReleaseKey

    town = Town(*EVERY, epsilon=8.0)
    key = ReleaseKey(plan_secret(town.plan.policy, bytes(32)))
    (output,) = town.plan.publish(town.plan.read(town._engine, key), key).outputs
    output.write(tmp_path)
    assert (tmp_path / "data.csv").read_bytes() == (published / "out" / "data.csv").read_bytes()


@pytest.mark.parametrize("who", ['person = "id"', "rows_are_people = true"])
def test_every_reading_of_a_release_sees_the_same_sample(published: Path, who: str) -> None:
    """What is counted by steps is read once more; another sample would be a second release."""
    from crowdblend.sources.engines.choice import default_engine
    from crowdblend.trusted.randomness import ReleaseKey

    text = policy_text(MEDIAN, WHOLE, 'count = { group = "a" }', sampling=SURVEY.format(500)).replace(
        'person = "id"', who
    )
    planned = plan(parse_policy(text, published).only)
    reading = planned.read(default_engine(), ReleaseKey(bytes(32)))
    by_group, all_people = sorted((planned.exact(place, "sample", reading) for place in (0, 1)), key=len, reverse=True)
    assert (by_group.sum(axis=0) == all_people[0]).all()
    assert by_group[0].sum() == planned.exact(2, "sample", reading)[0]
    assert by_group.sum() == 500


@for_each(
    ("name", "column", "to"),
    [("s2", "rank_error", 0.0), ("s0", "error", 1e9), ("s1", "value", -1.0), ("s4", "error", 1)],
)
def test_other_numbers_do_not_verify(published: Path, tmp_path: Path, name: str, column: str, to: float) -> None:
    import shutil

    import pyarrow as pa
    from pyarrow import csv

    certificate = verify_release(published / "out").certificate
    shutil.copytree(published / "out", tmp_path / "out")
    path = tmp_path / "out" / "data.csv"
    rows = csv.read_csv(path).to_pylist()
    next(row for row in rows if row["statistic"] == name)[column] = to
    csv.write_csv(pa.Table.from_pylist(rows), path)
    with pytest.raises(DoesNotVerify, match="an error that was not planned, or an impossible number"):
        check_data(PublishedRelease(tmp_path / "out", certificate))


def test_the_sample_is_planned_from_the_error() -> None:
    wanted = policy_text(WHOLE + "\nerror = 0.05", sampling='design = "survey"\nof = 4000\nkey = "seal"', epsilon=2.0)
    planned = plan(parse_policy(wanted).only)
    k = planned.policy.samples
    assert 0.05 * 0.9 < planned.values(0).error <= 0.05
    assert 1 < k < PEOPLE
    fewer = plan(parse_policy(wanted.replace('key = "seal"', f"people = {k}")).only)
    assert fewer.values(0).error == planned.values(0).error
    with pytest.raises(Infeasible, match="errs by"):
        plan(parse_policy(wanted.replace('key = "seal"', f"people = {k - 1}")).only)
    with pytest.raises(Infeasible, match="With everybody"):
        plan(parse_policy(wanted.replace("0.05", "0.0001")).only)


def test_a_policy_of_medians_alone_is_released(tmp_path: Path) -> None:
    """Nothing is added up beside them: only counts by steps are read."""
    (tmp_path / "people.csv").write_bytes(as_csv(people()))
    release(parse_policy(policy_text(WHOLE), tmp_path), tmp_path / "out", ledger=None)
    verify_release(tmp_path / "out")
    assert cb.read(tmp_path / "out").data.num_rows == 1

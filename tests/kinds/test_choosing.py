"""Choosing the recoding: how the budget is shared, who decides, what is refused, and what a release shows of it."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from crowdblend.cli.main import cli
from crowdblend.errors import CrowdblendError, Infeasible, InvalidInput
from crowdblend.kinds.shared.class_counts import ChoiceReading
from crowdblend.kinds.shared.recoding_choice import choose_recoding, read_choice, recode
from crowdblend.ledger import Ledger
from crowdblend.methods.selection import search as search_module
from crowdblend.methods.selection.scoring import score_nodes
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.load import parse_policy
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.publishing.policy_digest import plan_secret
from crowdblend.publishing.release import release
from crowdblend.sources.engines.duckdb.engine import DuckDBEngine, DuckDBSource
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.randomness import ReleaseKey, coins
from tests.cases import for_each
from tests.plans import plan
from tests.refusals import is_refusal
from tests.trusted.randomness.goodness import fits_share

from .towns import CHOOSING, DISTRICTS, DRAWN, KEY, POLICY, SPLIT, write_town


def read(planned: Any, key: bytes) -> ChoiceReading:
    """Who decides and who is published, from the source of the policy."""
    policy = planned.policy
    with DuckDBEngine().open(policy.data, [column.name for column in policy.columns], policy.resources) as source:
        rate = None if planned.sample.already_drawn else planned.rate
        return read_choice(policy, rate, source, ReleaseKey(key))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_town(tmp_path_factory.mktemp("town"))


def test_the_lattice_of_a_policy(town: Path) -> None:
    lattice = lattice_of(parse_policy(POLICY, town).columns)
    assert lattice.shape == (1, 4, 3)
    age, district = lattice.ladders[1], lattice.ladders[2]
    assert age.maps[1].tolist() == [i // 2 for i in range(20)] + [10]  # the open end stays a class of its own
    assert age.maps[3].tolist() == [0] * 20 + [1]
    assert district.maps[1].tolist() == [0, 1, 0, 2, 1, 2, 1, 0]


def test_levels_may_skip_and_weigh(town: Path) -> None:
    text = POLICY.replace('level = "choose"', 'levels = [1, 2], other = "elsewhere", weight = 3')
    policy = parse_policy(text, town)
    district = lattice_of(policy.columns).ladders[2]
    assert [each.tolist() for each in district.maps] == [[0, 1, 2, 3], [0, 0, 0, 1]]
    assert (district.leaves.tolist(), district.weight) == ([3, 3, 2, 1], 3.0)


@for_each("epsilon", [0.3, 1.0, 2.0, 7.7])
@for_each("cost", [0.1, 0.01, 1 / 3])
@for_each("share", [None, 0.2, 0.7])
def test_the_budget_is_used_up_and_never_exceeded(epsilon: float, cost: float, share: float | None) -> None:
    choosing = Choosing(cost, "population" if share is None else "split", share)
    try:
        left = choosing.epsilon_left(epsilon, 0.5)
    except Infeasible:
        assert cost > epsilon
        return
    assert choosing.total(left, 0.5) <= epsilon
    assert choosing.total(math.nextafter(left * (1 + 1e-14), math.inf), 0.5) > epsilon


@pytest.mark.parametrize("stated", ["k = 60", "epsilon = 1.0"])
def test_epsilon_and_delta_can_be_planned(town: Path, stated: str) -> None:
    text = POLICY.replace("delta = 1e-6" if stated.startswith("eps") else "epsilon = 1.0", "")
    text = text.replace('kind = "table"', 'kind = "table"\nk = 60')
    planned = plan(parse_policy(text, town).only)
    assert planned.parameters.k == 60
    assert planned.certificate().derivations[0].conclusion.epsilon > 0.1


@pytest.mark.parametrize("text", [POLICY, SPLIT, DRAWN], ids=["population", "split", "drawn"])
@pytest.mark.parametrize("kind", ["table", "microdata"])
def test_a_release_end_to_end(town: Path, tmp_path: Path, text: str, kind: str) -> None:
    policy = parse_policy(text.replace('"table"', f'"{kind}"'), town)
    ledger = Ledger.create(f"sqlite:///{tmp_path / 'ledger.db'}")
    done = release(policy, tmp_path / "out", key=KEY, ledger=ledger)
    certificate = verify_file(done.folder)
    differential = certificate.derivations[0].conclusion
    assert 1.0 - 1e-12 < differential.epsilon <= 1.0
    assert differential.delta <= 1e-6
    steps = {step.rule.id for step in certificate.steps()}
    assert {"selection.exponential", f"recoding.{policy.terms.recoding.using}"} <= steps
    facts = json.loads((done.folder / "certificate.json").read_text())["facts"]
    chosen = facts["recoding"]["chosen"]
    assert set(chosen) == {"age", "district"}
    data = pd.read_parquet(done.folder / "data.parquet")
    assert data["district"].nunique() <= chosen["district"]["classes"]
    assert "Which recoding was chosen" in (done.folder / "report.html").read_text()


def test_the_published_table_is_the_sample_at_the_chosen_node(town: Path, tmp_path: Path) -> None:
    done = release(parse_policy(POLICY, town), tmp_path / "out", key=KEY)
    facts = json.loads((done.folder / "certificate.json").read_text())["facts"]["recoding"]["chosen"]
    people = pd.read_parquet(town / "town.parquet")
    people = people[coins(plan_secret(parse_policy(POLICY, town), KEY), people["person_id"].to_numpy(), 0.5)]
    width = int(facts["age"]["width"])
    lines = [line.split(";") for line in DISTRICTS.splitlines()]
    group = {line[0]: line[facts["district"]["level"]] for line in lines}
    start = (people["age"] // width * width).where(people["age"] < 100, 100)
    counts = people.groupby([people["sex"], start, people["district"].map(group)]).size()
    wanted = sorted(int(count) for count in counts if count >= done.certificate.facts["mechanism"]["k"])
    assert sorted(pd.read_parquet(done.folder / "data.parquet")["sampled"]) == wanted


def test_the_choice_never_sees_whom_it_publishes(town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split: the parts are disjoint and together the sample. Population: the draw is not the choice's."""
    planned = plan(parse_policy(SPLIT, town).only)
    reading = read(planned, KEY)
    people = pd.read_parquet(town / "town.parquet")
    sampled = int(coins(KEY, people["person_id"].to_numpy(), 0.5).sum())
    assert reading.deciding.people + reading.released.people == sampled
    assert fits_share(reading.deciding.people, sampled, 0.25)
    whole = read(plan(parse_policy(POLICY, town).only), KEY)
    assert (whole.deciding.people, whole.released.people) == (20_000, sampled)
    scored = []
    monkeypatch.setattr(search_module, "score_nodes", lambda *given: scored.append(given[2]) or score_nodes(*given))
    choose_recoding(planned.choice, planned.policy.columns, reading.deciding, ReleaseKey(KEY))
    assert scored[0] is reading.deciding.counts


@pytest.mark.parametrize("drawn", [False, True])
def test_rows_as_people_split_too(town: Path, drawn: bool) -> None:
    text = (DRAWN if drawn else SPLIT).replace('person = "person_id"', "rows_are_people = true")
    reading = read(plan(parse_policy(text, town).only), KEY)
    sampled = reading.deciding.people + reading.released.people
    assert sampled == 20_000 if drawn else fits_share(sampled, 20_000, 0.5)
    assert fits_share(reading.deciding.people, sampled, 0.25)


@pytest.mark.parametrize("design", ["poisson", "coins"])
def test_rows_that_change_meanwhile_are_in_one_part_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, design: str
) -> None:
    """Two hundred ages of one person each, to which somebody is added as soon as they have been read."""
    table = tmp_path / "town.csv"
    table.write_text("age\n" + "".join(f"{age}\n" for age in range(200)))

    counts = DuckDBSource.class_counts

    def count_and_add(*given: Any) -> Any:
        found = counts(*given)
        with table.open("a") as rows:
            rows.write("0\n0\n0\n")
        return found

    monkeypatch.setattr(DuckDBSource, "class_counts", count_and_add)
    text = f"""
        [data]
        source = "town.csv"
        rows_are_people = true
        [sampling]
        design = "{design}"
        rate = 0.9
        [columns]
        age = {{ from = 0, to = 200, width = [1, 2] }}
        [recoding]
        epsilon = 0.1
        using = "split"
        share = 0.5
        [privacy]
        accept_delta = true
        epsilon = 1.0
        [[publish]]
        kind = "table"
        k = 20
        """
    reading = read(plan(parse_policy(text, tmp_path).only), KEY)
    ages = [classes.codes[:, 0].tolist() for classes in (reading.deciding, reading.released)]
    assert not set(ages[0]) & set(ages[1]) - {0}
    assert reading.internal["people_deciding"] == reading.deciding.people
    assert reading.internal["people_sampled"] == reading.released.people


def test_the_report_knows_that_those_who_decide_are_not_counted(town: Path, tmp_path: Path) -> None:
    """At rate 0.5 a quarter of the sample decides, so one of 2.67 people may be counted."""
    for name, text, says in (
        ("split", SPLIT, "A part of the sample chose the labels, and is in none of the numbers."),
        ("rows", SPLIT.replace('"table"', '"microdata"'), "one row stands for about 2.67 people"),
        ("whole", POLICY, "with probability 0.5: one counted person stands for about 2 people"),
    ):
        done = release(parse_policy(text, town), tmp_path / name, key=KEY)
        assert says in (done.folder / "report.html").read_text()


def test_recoding_adds_up(town: Path) -> None:
    planned = plan(parse_policy(POLICY, town).only)
    released = read(planned, KEY).released
    coarsest = recode(planned.policy.columns, released, (0, 3, 2))
    assert coarsest.people == released.people
    assert len(coarsest.counts) <= 4
    finest = recode(planned.policy.columns, released, (0, 0, 0))
    assert np.array_equal(finest.codes, released.codes)


@pytest.mark.parametrize(("text", "who"), [(POLICY, "everybody"), (SPLIT, "a share of 0.25 of its sample")])
def test_the_dry_run_says_what_would_be_chosen(town: Path, text: str, who: str) -> None:
    (town / "policy.toml").write_text(text)
    told = CliRunner().invoke(cli, ["release", str(town / "policy.toml"), "--dry-run"])
    assert f"would choose   one of 12 recodings, decided by {who}, with epsilon = 0.1" in told.output
    assert "e^1 times" in told.output


def test_a_rate_can_be_planned(town: Path) -> None:
    text = POLICY.replace("rate = 0.5\n", "").replace('kind = "table"', 'kind = "table"\nk = 40')
    planned = plan(parse_policy(text, town).only)
    assert 0.3 < planned.rate < 0.7
    assert planned.certificate().derivations[0].conclusion.epsilon <= 1.0


WRONG = {
    "choose without recoding": (POLICY.replace(CHOOSING, ""), "nothing says how to choose"),
    "recoding without choose": (
        POLICY.replace("[5, 10, 20, 100]", "5").replace('level = "choose"', "level = 0"),
        "policy.recoding",
    ),
    "budget of 0": (POLICY.replace("epsilon = 0.1", "epsilon = 0"), "policy.recoding"),
    "share of 0": (SPLIT.replace("0.25", "0"), "policy.range"),
    "share of 1": (SPLIT.replace("0.25", "1"), "policy.range"),
    "share in population": (POLICY.replace('"population"', '"population"\nshare = 0.2'), "exclude each other"),
    "same sample": (POLICY.replace('"population"', '"sample"'), "policy.choice"),
    "population of a sample": (POLICY.replace("poisson", "coins"), 'using ?= ?"split"'),
    "widths across": (POLICY.replace("[5, 10, 20, 100]", "[20, 50]"), "must nest"),
    "widths falling": (POLICY.replace("[5, 10, 20, 100]", "[20, 10]"), "finest first"),
    "one width": (POLICY.replace("[5, 10, 20, 100]", "[20]"), "policy.offer"),
    "no levels": (POLICY.replace('level = "choose"', "levels = []"), "policy.offer"),
    "level twice": (POLICY.replace('level = "choose"', "levels = [1, 1]"), "finest first"),
    "no such level": (POLICY.replace('level = "choose"', "levels = [1, 7]"), "level must be between"),
    "level and levels": (
        POLICY.replace('level = "choose"', "level = 1, levels = [0, 1]"),
        "level and levels exclude each other",
    ),
    "torn": (POLICY.replace("districts.csv", "torn.csv").replace('level = "choose"', "levels = [1, 2]"), "must nest"),
    "noise": (SPLIT.replace('kind = "table"', 'kind = "table"\nbelow_k = "noise"'), "policy.recoding"),
    "no steps": (POLICY.replace("using", "steps = 0\nusing"), "policy.range"),
    "too many steps": (POLICY.replace("using", "steps = 101\nusing"), "policy.range"),
    "steps of a whole": (POLICY.replace("using", 'steps = 2\nsearch = "whole"\nusing'), "policy.recoding"),
    "too few steps": (
        POLICY.replace("using", "steps = 1\nusing").replace(
            "[recoding]",
            "".join(f"d{n} = {{ hierarchy = 'districts.csv', level = 'choose' }}\n" for n in range(9)) + "[recoding]",
        ),
        "policy.recoding",
    ),
    "biased": (POLICY.replace('"poisson"', '"biased"\nlow = 0.4\nhigh = 0.6'), "needs one rate"),
    "score": (POLICY.replace("epsilon = 0.1", 'epsilon = 0.1\nscore = "taste"'), "policy.choice"),
    "stdin": (POLICY.replace('"town.parquet"', '"-"\nformat = "parquet"'), "policy.recoding"),
    "nothing left": (POLICY.replace("epsilon = 0.1", "epsilon = 1.0"), "plan.choice-costs-all"),
    "split without rate": (SPLIT.replace("rate = 0.5", "").replace('kind = "table"', 'kind = "table"\nk = 50'), "rate"),
}


@for_each("name", sorted(WRONG))
def test_refusals(town: Path, name: str) -> None:
    text, says = WRONG[name]
    with pytest.raises(CrowdblendError) as refused:
        plan(parse_policy(text, town).only)
    assert is_refusal(refused.value, says), refused.value
    assert isinstance(refused.value, InvalidInput | Infeasible)
    assert "\n" not in str(refused.value)

"""Releases of several tables, each from a fresh sample of its own, from policy to folder."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdblend.calculus import Certificate, verify, verify_file
from crowdblend.calculus.loss_curves import delta_of
from crowdblend.designs import Poisson
from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.guarantees import CrowdCurve, Profile, Uses
from crowdblend.kinds.facts import read_facts
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.plan import plan
from crowdblend.kinds.table.policy import NamedTable, Table
from crowdblend.ledger import Ledger
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.parts import draw_each
from crowdblend.planning import plan as plan_numbers
from crowdblend.policies import Sampling, load_policy, parse_policy
from crowdblend.policies.domains import ValueDomain
from crowdblend.publishing.release import release
from crowdblend.publishing.verification import verify_release
from crowdblend.randomness import ReleaseKey
from crowdblend.reading.release import read
from crowdblend.rehearsal.subject import subject_of
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES, write_sources

FRESH = (
    POLICIES["table-parts"]
    .replace("rate = 0.5\n", "rate = 0.5\nfresh = true\n")
    .replace("share = 0.7\n", "")
    .replace("share = 0.1\n", "")
)
NAMES = ("fine", "by_district", "by_sex")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    write_sources(folder)
    return folder


@pytest.fixture(scope="module")
def folder(town: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "out"
    release(parse_policy(FRESH, town), out, key=KEY, ledger=None)
    return out


def test_every_table_is_of_a_sample_of_everybody_and_all_have_one_guarantee(town: Path, folder: Path) -> None:
    """8,000 people at rate 0.5; each total is off by more than 7 standard deviations once in 4e11 releases."""
    found = {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}
    planned = plan(parse_policy(FRESH, town)).parameters
    assert set(found) == set(NAMES)
    assert planned.k == plan_numbers(rate=0.5, epsilon=1.0, delta=1e-6, releases=3).k
    assert all(table["count"].min() >= planned.k for table in found.values())
    totals = [int(found[name]["count"].sum()) for name in ("by_sex", "by_district")]
    assert all(3687 < total < 4313 for total in totals)
    assert totals[0] != totals[1]  # two samples; they are equal once in 110 keys, and this key is fixed
    certificate = verify_file(folder)
    guarantee = certificate.differential()
    assert guarantee is not None
    assert guarantee.epsilon == 1.0
    assert guarantee.delta <= 1e-6
    together = [step for step in certificate.steps() if step.rule.id == "composition.profiles"]
    assert {len(step.premises) for step in together} == {3}
    facts = read_facts(certificate.facts)
    assert isinstance(facts, TableFacts)
    assert facts.has_fresh_samples
    assert facts.design == Poisson(0.5)
    assert facts.crowds == dict.fromkeys(NAMES, planned.k)
    assert verify_release(folder).uncovered == ()


def test_readers_and_the_page_know_the_sample_of_every_table(town: Path, folder: Path) -> None:
    found = read(folder)
    rows = found.estimates(margin=["sex"]).to_pylist()
    assert [row["estimate"] for row in rows] == [row["count"] / 0.5 for row in rows]
    assert all(row["unpublished_cells"] == 0 for row in rows)
    truth = pd.read_parquet(town / "town.parquet").groupby("sex").size()
    assert all(row["low"] <= truth[row["sex"]] <= row["high"] for row in rows)
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    assert package["crowdblend"]["sampling"]["rate"] == 0.5  # that of every table
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Every table was counted in a random sample of its own" in page
    assert "Table by_sex: the sample kept each person with probability 0.5" in page


@for_each(
    "edit",
    [
        lambda facts: facts["named"]["by_sex"]["mechanism"].update(k=2),
        lambda facts: facts["design"].update(rate=0.9),
        lambda facts: facts["named"]["by_sex"].update(share=0.9),
        lambda facts: [table.update(share=0.3) for table in facts["named"].values()],
        lambda facts: facts["named"].pop("by_sex"),
        lambda facts: facts["named"]["by_sex"].pop("mechanism"),
        lambda facts: facts.update(mechanism={"mechanism": "suppressed", "k": 2}),
        lambda facts: facts["named"]["by_sex"]["mechanism"].update(mechanism="noisy-below-k"),
    ],
)
def test_facts_that_are_not_those_of_the_derivation_are_refused(
    folder: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], Any]
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    made = verify((copy / "certificate.json").read_text(encoding="utf-8"))
    facts = json.loads(json.dumps(made.facts))
    edit(facts)
    (copy / "certificate.json").write_text(
        Certificate(made.derivations, made.stated, facts).to_json(), encoding="utf-8"
    )
    with pytest.raises(DoesNotVerify):
        verify_release(copy)


def test_the_ledger_adds_it_up_by_the_profile_of_all_its_tables(town: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.db")
    policy = parse_policy(FRESH, town)
    for name in ("one", "two"):
        release(policy, tmp_path / name, ledger=ledger)
    k = plan(policy).parameters.k
    for entry in ledger.entries():
        assert entry.spending.fresh
        assert entry.spending.guarantees[-1] == Profile((Uses(CrowdCurve(k, 0.0, 0.5), 3),), samplings=1)
    total = ledger.total(ledger.entries()[0].spending.population)
    assert total.epsilon is not None
    assert total.epsilon < 1.5  # two releases of (1, 1e-6) each
    assert total.releases == 2


def test_it_is_written_in_python_too(tmp_path: Path) -> None:
    policy = Table(
        source="town.parquet",
        person="person_id",
        columns={"sex": ValueDomain(values=("female", "male"))},
        sampling=Sampling(rate=0.1, fresh=True),
        epsilon=1.0,
        delta=1e-6,
        tables=[NamedTable("a", ["sex"]), NamedTable("b", ["sex"])],
    )
    assert plan(policy).parameters.k == 8
    policy.to_toml(tmp_path / "policy.toml")
    assert load_policy(tmp_path / "policy.toml").sampling == policy.sampling
    many = policy.replace(releases=10)
    assert plan(many).parameters.k == 10  # twenty samples in all
    alone = plan(many).certificate().differential()
    assert alone is not None
    assert alone.epsilon == 1.0
    assert alone.delta < 1e-6


REFUSED = {
    "already_drawn = true\n": "from people who are all in the data",
    "everybody = true\n": "draws no sample",
    "low = 0.4\nhigh = 0.6\n": "at one rate",
}


@for_each("more", REFUSED)
def test_samples_that_cannot_be_fresh_are_refused(more: str) -> None:
    with pytest.raises(InvalidInput, match=REFUSED[more]):
        parse_policy(FRESH.replace("fresh = true\n", f"fresh = true\n{more}"))


def test_what_has_no_profile_of_tables_is_refused() -> None:
    policy = parse_policy(FRESH)
    assert isinstance(policy, Table)
    changes: list[dict[str, Any]] = [
        {"tables": policy.tables[:1]},
        {"tables": ()},
        {"tables": tuple(table.replace(share=0.3) for table in policy.tables)},
        {"below_k": "noise"},
    ]
    for change in changes:
        with pytest.raises(InvalidInput, match=r"(?i)fresh = true") as refused:
            policy.replace(**change)
        assert refused.value.code == "policy.fresh"
    with pytest.raises(InvalidInput, match="has none"):
        parse_policy(POLICIES["microdata"].replace("rate = 0.5\n", "rate = 0.5\nfresh = true\n"))


def test_the_coins_of_two_samples_are_independent() -> None:
    """Of 40,000 classes of one person, as many are in both samples as the product of the rates says.

    0.3·0.3·40,000 = 3,600 with a standard deviation of 57; seven of these are exceeded once in 4e11 runs.
    """
    people = np.ones(40_000, np.int64)
    everybody = SampledClasses(("x",), ((),), np.arange(40_000).reshape(-1, 1), people)
    one, other = draw_each(everybody, 0.3, 2, ReleaseKey(bytes(32)))
    both = np.intersect1d(one.codes, other.codes)
    assert abs(len(both) - 3600) < 400
    assert abs(one.people - 12_000) < 642


def test_a_dry_run_and_the_audit_know_the_samples(town: Path) -> None:
    policy = parse_policy(FRESH, town).replace(epsilon=2.0, delta=1e-3, format="csv")
    lines = [text for _, text in plan(policy).describe()]
    assert sum("of a fresh sample of its own at rate 0.5" in line for line in lines) == 3
    subject = subject_of(policy, lambda k, _rate, _epsilon: {"at k": k}, name="fresh", people=200)
    views = subject.observe(subject.pairs()[0].more, 3)
    assert sum(next(iter(views.values())).values()) == 3
    assert subject.guarantee.delta <= 1e-3


def suppressed(sampled: list[tuple[int, int]], columns: tuple[int, ...], k: int) -> tuple[Any, ...]:
    """What a table publishes of a sample, by its columns."""
    counts: dict[tuple[int, ...], int] = {}
    for person in sampled:
        cell = tuple(person[column] for column in columns)
        counts[cell] = counts.get(cell, 0) + 1
    return tuple(sorted((cell, count) for cell, count in counts.items() if count >= k))


def law(people: list[tuple[int, int]], columns: tuple[int, ...], k: int, rate: Fraction) -> dict[Any, Fraction]:
    """The law of one table of a fresh sample, by every possible sample."""
    found: dict[Any, Fraction] = {}
    for kept in itertools.product((False, True), repeat=len(people)):
        sample = [person for person, is_kept in zip(people, kept, strict=True) if is_kept]
        chance = rate ** len(sample) * (1 - rate) ** (len(people) - len(sample))
        shown = suppressed(sample, columns, k)
        found[shown] = found.get(shown, Fraction(0)) + chance
    return found


@for_each(("rate", "k"), [(0.5, 2), (0.25, 2), (0.5, 3)])
def test_tables_of_a_tiny_world_lose_no_more_than_their_profile(rate: float, k: int) -> None:
    """Every sample of every table of seven people, enumerated: two margins and the finest table."""
    others = [(0, 0), (0, 0), (0, 1), (1, 0), (0, 0), (1, 1)]
    tables = [(0,), (1,), (0, 1)]
    with_person = [law([*others, (0, 0)], columns, k, Fraction(rate)) for columns in tables]
    without = [law(others, columns, k, Fraction(rate)) for columns in tables]
    profile = Profile((Uses(CrowdCurve(k, 0.0, rate), 3),))
    for epsilon in (0.0, 0.3, 1.0):
        growth = Fraction(np.exp(epsilon))
        up = down = Fraction(0)
        for shown in itertools.product(*(set(p) | set(q) for p, q in zip(with_person, without, strict=True))):
            p = q = Fraction(1)
            for one, other, value in zip(with_person, without, shown, strict=True):
                p, q = p * one.get(value, Fraction(0)), q * other.get(value, Fraction(0))
            up, down = up + max(p - growth * q, Fraction(0)), down + max(q - growth * p, Fraction(0))
        assert float(max(up, down)) <= delta_of(profile, epsilon) * (1 + 1e-12)


def test_a_plan_without_enough_room_is_refused(town: Path) -> None:
    with pytest.raises(CrowdblendError):
        plan(parse_policy(FRESH, town).replace(k=5))

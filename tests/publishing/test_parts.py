"""Releases of several tables from parts of one sample, from policy to folder."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from crowdblend.calculus import verify_file
from crowdblend.errors import CrowdblendError
from crowdblend.kinds.facts import read_facts, to_json
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.plan import plan
from crowdblend.kinds.table.policy import NamedTable, Table
from crowdblend.ledger import Ledger
from crowdblend.policies import load_policy, parse_policy
from crowdblend.policies.domains import ValueDomain
from crowdblend.publishing.release import release
from crowdblend.publishing.verification import verify_release
from crowdblend.reading.release import read
from crowdblend.rehearsal.subject import subject_of
from tests.golden.releases import KEY, POLICIES, write_sources

PARTS = POLICIES["table-parts"]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    write_sources(folder)
    return folder


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    return {path.stem: pd.read_parquet(path) for path in folder.glob("*.parquet")}


def test_every_table_has_its_own_k_and_all_have_one_guarantee(town: Path, tmp_path: Path) -> None:
    planned = plan(parse_policy(PARTS, town))
    done = release(planned.policy, tmp_path / "out", key=KEY, ledger=None)
    found = tables(done.folder)
    assert set(found) == {"fine", "by_district", "by_sex"}
    ks = dict(zip(("fine", "by_district", "by_sex"), planned.parameters.thresholds, strict=True))
    assert ks["fine"] > ks["by_district"] == ks["by_sex"]
    assert all(table["count"].min() >= ks[name] for name, table in found.items())
    # A part is about as many people as its share of the sample: 8,000 people at rate 0.5.
    assert 300 < found["by_sex"]["count"].sum() < 500
    certificate = verify_file(done.folder)
    guarantee = certificate.differential()
    assert guarantee is not None
    assert (guarantee.epsilon, guarantee.samplings) == (1.0, 1)
    assert guarantee.delta <= 1e-6
    facts = read_facts(certificate.facts)
    assert isinstance(facts, TableFacts)
    assert facts.shares == (0.7, 0.1, 0.1)
    assert facts.crowds == ks
    assert verify_release(done.folder).uncovered == ()


def test_the_report_says_what_a_table_is_a_part_of(town: Path, tmp_path: Path) -> None:
    page = (release(parse_policy(PARTS, town), tmp_path / "out", key=KEY).folder / "report.html").read_text()
    assert "nobody is in two of them" in page
    assert "Table by_sex: a share of 0.1 of the sample" in page
    assert "20 people" in page


def test_the_bytes_follow_from_the_key_whatever_the_order_and_already_drawn_works(town: Path, tmp_path: Path) -> None:
    shuffled = tmp_path / "shuffled"
    shuffled.mkdir()
    people = pd.read_parquet(town / "town.parquet")
    people.sample(frac=1, random_state=1).to_parquet(shuffled / "town.parquet", row_group_size=777)
    one, other = (
        release(parse_policy(PARTS, source), tmp_path / name, key=KEY, ledger=None).folder
        for source, name in ((town, "one"), (shuffled, "other"))
    )
    assert all(path.read_bytes() == (other / path.name).read_bytes() for path in one.glob("*.parquet"))
    drawn = PARTS.replace("rate = 0.5\n", "rate = 0.5\nalready_drawn = true\n")
    done = release(parse_policy(drawn, town), tmp_path / "drawn", key=KEY, ledger=None)
    assert 700 < tables(done.folder)["by_sex"]["count"].sum() < 900


def test_the_ledger_knows_one_release_of_one_sample(town: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.db")
    drawn = parse_policy(PARTS.replace("rate = 0.5\n", "rate = 0.5\nalready_drawn = true\n"), town)
    release(drawn, tmp_path / "out", ledger=ledger)
    (entry,) = ledger.entries()
    assert entry.spending.kind == "table"
    with pytest.raises(CrowdblendError):
        release(drawn, tmp_path / "again", ledger=ledger)
    assert len(list(ledger.entries())) == 1


def test_tables_of_parts_are_made_in_python_too(tmp_path: Path) -> None:
    policy = Table(
        source="town.parquet",
        person="person_id",
        columns={"sex": ValueDomain(values=("female", "male"))},
        sampling=parse_policy(PARTS).sampling,
        epsilon=1.0,
        delta=1e-6,
        tables=[NamedTable("a", ["sex"], 0.5), NamedTable("b", ["sex"], 0.5)],
    )
    assert plan(policy).parameters.thresholds == (25, 25)
    policy.to_toml(tmp_path / "policy.toml")
    assert load_policy(tmp_path / "policy.toml").shares == (0.5, 0.5)


def test_a_k_for_all_tables_is_kept_and_what_it_cannot_guarantee_is_refused(town: Path) -> None:
    given = parse_policy(PARTS.replace("epsilon = 1.0\n", "epsilon = 1.0\nk = 40\n"), town)
    assert plan(given).parameters.thresholds == (40, 40, 40)
    with pytest.raises(CrowdblendError):
        plan(given.replace(k=5))


def test_parts_are_rehearsed_at_the_hardest_sizes_of_each(town: Path) -> None:
    policy = parse_policy(PARTS, town).replace(epsilon=2.0, delta=1e-3, format="csv")
    seen: list[tuple[int, float]] = []

    def hard(k: int, rate: float, epsilon: float) -> dict[str, int]:
        del epsilon
        seen.append((k, round(rate, 6)))
        return {"at k": k}

    subject = subject_of(policy, hard, name="parts", people=200)
    planned = plan(policy).parameters
    assert [k for k, _ in seen] == list(planned.thresholds)
    assert seen[0][1] == round(0.35 / (1 - 0.1), 6)
    pair = subject.pairs()[0]
    views = subject.observe(pair.more, 3)
    assert sum(next(iter(views.values())).values()) == 3
    assert subject.guarantee.delta <= 1e-3
    with pytest.raises(CrowdblendError):
        subject_of(policy, hard, name="parts", epsilon=0.5)


def test_a_dry_run_says_what_every_table_is(town: Path) -> None:
    lines = [text for _, text in plan(parse_policy(PARTS, town)).describe()]
    assert sum("of a share of 0.1 of the sample" in line for line in lines) == 2
    facts = plan(parse_policy(PARTS, town)).facts()
    assert read_facts(json.loads(json.dumps(to_json(facts)))) == facts


def test_readers_get_estimates_of_every_part(town: Path, tmp_path: Path) -> None:
    """Estimates divide by the rate of the part: 0.5 times its share; a margin comes from its own table."""
    found = read(release(parse_policy(PARTS, town), tmp_path / "out", key=KEY, ledger=None).folder)
    rows = found.estimates(margin=["sex"]).to_pylist()
    assert [row["estimate"] for row in rows] == [row["count"] / 0.05 for row in rows]
    assert all(row["unpublished_cells"] == 0 for row in rows)
    assert all(row["low"] < row["estimate"] < row["high"] for row in rows)
    truth = pd.read_parquet(town / "town.parquet").groupby("sex").size()
    assert all(row["low"] <= truth[row["sex"]] <= row["high"] for row in rows)

"""Synthetic rows as a publication: noisy tables and rows in one folder, under the certificate of the tables."""

import json
from itertools import combinations
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.lab.demo import town
from tests.publishing.synthesis.test_synthesize import COLUMNS, edited, policy
from tests.refusals import refuses

KEY = bytes(range(32))


def synthetic(*columns: str, rows=2_000, tables=None, **more) -> cb.Policy:
    terms = {"person": "person_id", "sampling": cb.Everybody(), "epsilon": 1.0, "columns": COLUMNS, **more}
    return cb.Policy(**terms, publish=cb.Synthetic(*columns, rows=rows, tables=tables))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "published"
    cb.release(town(20_000), synthetic(), out=folder, ledger=None, key=KEY, figures=False)
    return folder


def test_rows_and_tables_stand_in_one_folder_that_says_synthetic(folder):
    opened = cb.read(folder)
    assert list(opened.publications) == ["synthetic", "01-sex-age", "02-sex-education", "03-age-education"]
    assert opened.table("synthetic").num_rows == 2_000
    assert (folder / "synthetic.parquet").exists()
    assert (folder / "README.md").read_text().startswith("Synthetic rows: none of them is a person.")
    package = json.loads((folder / "datapackage.json").read_text())
    fields = {one["name"]: one["schema"]["fields"] for one in package["resources"]}
    assert all(field["description"].startswith("Synthetic") for field in fields["synthetic"])
    assert not any(field["description"].startswith("Synthetic") for field in fields["01-sex-age"])
    assert "<h1>Synthetic rows and their tables</h1>" in (folder / "report.html").read_text()
    with refuses("reading.no-counts"):
        opened.estimates(table="synthetic")


def test_the_guarantee_is_that_of_the_tables_alone(folder):
    alone = policy(*combinations(COLUMNS, 2)).plan()
    assert cb.verify(folder).guarantees == alone.guarantees
    assert synthetic().plan().guarantees == alone.guarantees


def test_rows_meet_the_tables_that_are_published_beside_them(folder):
    opened = cb.read(folder)
    found = opened.table("synthetic").group_by(["sex", "age"]).aggregate([([], "count_all")]).to_pylist()
    shares = {(row["sex"], row["age"]): row["count_all"] / 2_000 for row in found}
    estimates = opened.estimates(table="01-sex-age").to_pylist()
    people = sum(row["estimate"] for row in estimates)
    apart = sum(abs(shares.get((row["sex"], row["age"]), 0) - row["estimate"] / people) for row in estimates) / 2
    assert apart < 0.01
    stated = opened.certificate.facts["published"]["synthetic"]["facts"]["met"][0]
    assert (stated["name"], stated["apart"]) == ("01-sex-age", pytest.approx(apart, abs=1e-3))


def test_a_key_decides_the_rows_and_a_sample_has_a_delta(tmp_path):
    sampled = synthetic(rows=300, tables=["sex * age", "education"], sampling=cb.Poisson(0.5), delta=1e-6)
    made = [cb.release(town(5_000), sampled, ledger=None, key=KEY, figures=False) for _ in range(2)]
    assert made[0].tables["synthetic"].equals(made[1].tables["synthetic"])
    guarantee = cb.verify(made[0]).differential()
    assert 0.9 < guarantee.epsilon <= 1.0
    assert guarantee.delta <= 1e-6


def test_what_rows_are_said_to_meet_stands_beside_them(folder, tmp_path):
    def other_table(facts):
        facts["published"]["synthetic"]["facts"]["met"][0]["name"] = "04-none"

    def other_column(facts):
        facts["published"]["synthetic"]["facts"]["columns"]["sex"]["labels"] = ["female", "male", "x"]

    def rows_alone(facts):
        facts["published"] = dict.fromkeys(("synthetic", "other"), facts["published"]["synthetic"])

    def title_of_its_own(facts):
        facts["published"]["synthetic"]["facts"]["about"] = {"title": "Rows of people"}

    def one_table_less(facts):
        facts["published"]["synthetic"]["facts"]["met"].pop()

    for change in (other_table, other_column, rows_alone, title_of_its_own, one_table_less):
        with pytest.raises(DoesNotVerify):
            cb.verify(edited(folder, tmp_path / change.__name__, change))


@pytest.mark.parametrize("number", ["apart", "noise"])
def test_how_far_rows_are_from_their_tables_is_computed_again(folder, tmp_path, number):
    def closer(facts):
        facts["published"]["synthetic"]["facts"]["met"][1][number] *= 0.9

    with pytest.raises(DoesNotVerify, match="not as far from 02-"):
        cb.verify(edited(folder, tmp_path / number, closer))


@pytest.mark.parametrize(
    ("columns", "tables", "code"),
    [
        ((), ["sex * age", "age * town"], "policy.unknown-column"),
        ((), ["sex * sex", "age * education"], "policy.publication-columns"),
        ((), ["sex * age", "age * sex", "education"], "policy.tables"),
        ((), ["sex * age", "age"], "policy.tables"),
        ((), ["sex * age * education"], "policy.tables"),
    ],
)
def test_tables_that_do_not_go_together_are_refused(columns, tables, code):
    with refuses(code):
        synthetic(*columns, tables=tables)


def test_rows_with_their_tables_are_not_one_of_several_publications():
    terms = {"person": "person_id", "sampling": cb.Everybody(), "epsilon": 1.0, "columns": COLUMNS}
    with refuses("policy.publication-name"):
        cb.Policy(**terms, publish=[cb.Synthetic(rows=10), cb.Table(name="t")])

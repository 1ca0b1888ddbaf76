"""What a programme releases: parts that share nobody, one folder that verifies, and forgeries that do not."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.kinds import plan
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.lab.demo import town
from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.calculus.certificate import by_strength
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.kinds.programme.programmes import COLUMNS, PEOPLE, five, two

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programme") / "published"
    cb.release(town(PEOPLE), five(), out=folder, ledger=None, key=KEY)
    return folder


def test_a_programme_is_one_folder_that_verifies(published: Path):
    assert {file.stem for file in published.glob("*.parquet")} == {
        *("people", "by_age", "by_district", "outliers", "income")
    }
    stated = cb.verify(published).differential()
    assert read_facts(cb.verify(published).facts).parameters["rate"] == 0.5
    assert stated is not None
    assert stated.epsilon == 1.0
    assert stated.delta <= 1e-6


def test_every_publication_is_read_by_its_own_law(published: Path):
    read = cb.read(published)
    assert list(read.publications) == ["people", "by_age", "by_district", "outliers", "income"]
    assert read.table("by_age").column_names == ["age", "sex", "sampled", "estimate", "low", "high"]
    cells = read.estimates(table="by_age").to_pandas()
    shown = cells.dropna(subset=["sampled"])
    # A fifth of a sample of a half: one counted person stands for ten.
    assert np.allclose(shown["estimate"], shown["sampled"] * 10)
    assert read.estimates(table="income").num_rows == 2
    assert read.notes()[0] == (
        "This is the publication people; name another one as table: by_age, by_district, outliers, income."
    )
    assert read.notes(table="by_age") == read.publications["by_age"].notes()
    # The margin comes from the smallest publication that has the column.
    by_sex = read.estimates(margin=["sex"])
    assert by_sex.num_rows == 2


def test_readers_are_told_what_is_true_of_each_publication(published: Path):
    said = (published / "README.md").read_text()
    assert "nobody is in two of them" in said
    for name, rate in (("people", "0.25"), ("by_age", "0.1"), ("by_district", "0.05")):
        (line,) = (line for line in said.splitlines() if line.startswith("- ") and f"probability {rate}:" in line)
        assert name in line.removeprefix("- ").partition(": ")[0].split(", ")
    package = json.loads((published / "datapackage.json").read_text())
    own = package["crowdblend"]["publications"]
    assert own["by_age"]["k"] == 18
    assert own["people"]["kind"] == "microdata"
    assert {one["name"] for one in package["resources"]} == set(own)
    page = (published / "report.html").read_text()
    for name in own:
        assert f'id="of-{name}"' in page or f"of-{name}" in page


def _persons(policy: Any, ids: list[str]) -> dict[str, set[str]]:
    """Who is counted for every publication, where every person is a class of their own."""
    frame = {"who": ids, "who2": ids, "name": ids}
    import pandas as pd

    with opened_frame(pd.DataFrame(frame)) as held:
        here = policy.with_source(DataSource(source="people", format="frame", frame=held))
        planned = plan(here)
        assert isinstance(planned, ProgrammePlan)
        reading = planned.read(default_engine(), ReleaseKey(KEY))
    found = {}
    for name, one in reading.readings.items():
        sample = one.sample  # type: ignore[attr-defined]
        found[name] = {sample.labels[0][code] for code in sample.codes[:, 0]}
    return found


def _by_person(split: str, publications: list[Any], rate: float = 0.5) -> dict[str, set[str]]:
    ids = [f"p{number:04d}" for number in range(2_000)]
    policy = cb.Policy(
        person="name",
        sampling=cb.Poisson(rate),
        epsilon=1.0,
        delta=1e-6,
        split=split,  # type: ignore[arg-type]
        columns={"who": ids, "who2": ids},
        publish=publications,
    )
    return _persons(policy, ids)


def test_nobody_is_in_two_parts_of_a_sample():
    parts = [cb.Table("who", name="a", share=0.3), cb.Table("who2", name="b", share=0.6)]
    found = _by_person("people", parts)
    assert not found["a"] & found["b"]
    # 2,000 people: both numbers are binomial; five standard deviations are missed once in a million.
    for name, share in (("a", 0.15), ("b", 0.3)):
        assert abs(len(found[name]) - 2_000 * share) < 5 * (2_000 * share * (1 - share)) ** 0.5


def test_fresh_samples_are_drawn_independently():
    found = _by_person("fresh", [cb.Table("who", name="a"), cb.Table("who2", name="b")])
    both = len(found["a"] & found["b"])
    assert abs(both - 500) < 5 * (2_000 * 0.25 * 0.75) ** 0.5


def test_noisy_publications_of_one_sample_see_the_same_people():
    noisy = [cb.Table("who", name="a", below_k="noise"), cb.Table("who2", name="b", below_k="noise")]
    found = _by_person("budget", noisy)
    assert found["a"] == found["b"]


def test_the_noise_of_a_register_is_what_was_planned():
    ids = [str(number) for number in range(5_000)]
    tables = [cb.Table("who", name="a"), cb.Table("who2", name="b")]
    policy = cb.Policy(
        rows_are_people=True, sampling=cb.Everybody(), epsilon=1.0, columns={"who": ids, "who2": ids}, publish=tables
    )
    import pandas as pd

    done = cb.release(pd.DataFrame({"who": ids, "who2": ids}), policy, ledger=None)
    released = plan(policy)
    assert isinstance(released, ProgrammePlan)
    (noise,) = released.planned[0].plan.mechanisms
    assert isinstance(noise, NoiseEverywhere)
    expected = noise.expected_error()
    errors = np.concatenate([done.tables[name]["count"].to_numpy() - 1 for name in ("a", "b")])
    # The absolute value of such noise has about its mean as standard deviation: five of 10,000 are 5 %.
    assert abs(np.abs(errors).mean() / expected - 1) < 0.05


def test_a_register_publishes_tables_and_statistics_under_one_budget(tmp_path: Path):
    listed = [
        cb.Table("sex", name="sexes"),
        cb.Statistics(cb.median("income"), cb.count({"sex": "female"}, name="women"), name="numbers"),
    ]
    columns = {name: COLUMNS[name] for name in ("sex", "income")}
    policy = five(columns=columns, publish=listed, sampling=cb.Everybody(), delta=None)
    people = town(PEOPLE)
    done = cb.release(people, policy, out=tmp_path / "out", ledger=None, key=bytes(32))
    cb.verify(tmp_path / "out")
    numbers = done.tables["numbers"]
    women = people.column("sex").to_pylist().count("female")
    (row,) = [one for one in numbers.to_pylist() if one["statistic"] == "women"]
    # Everybody is counted, so that the error is that of the noise alone.
    assert abs(row["value"] - women) <= row["error"] < 25


def forged(folder: Path, target: Path, change: Callable[[Any], object]) -> Path:
    """The folder with other facts, and a certificate that was made anew from them."""
    shutil.copytree(folder, target)
    facts = json.loads((folder / "certificate.json").read_text())["facts"]
    change(facts)
    derived = tuple(by_strength(derive(read_facts(facts))))
    (target / "certificate.json").write_text(replace(verify_file(folder), derivations=derived, facts=facts).to_json())
    return target


def _share(facts: Any) -> None:
    facts["published"]["by_age"]["share"] = 0.05
    facts["published"]["by_age"]["facts"]["design"]["rate"] = 0.025


def _swapped(facts: Any) -> None:
    listed = facts["published"]
    listed["by_age"], listed["people"] = listed["people"], listed["by_age"]


@for_each(
    "change",
    [
        _share,
        _swapped,
        lambda facts: facts.update(split="fresh"),
        lambda facts: facts["published"]["by_age"]["facts"].update(epsilon=0.5),
        lambda facts: facts["published"]["by_age"]["facts"]["design"].update(rate=0.5),
        lambda facts: facts["published"].update(older=facts["published"].pop("by_age")),
        lambda facts: facts["published"].pop("outliers"),
        lambda facts: facts["published"]["by_age"]["facts"]["mechanism"].update(k=58),
    ],
)
def test_forged_programmes_do_not_verify(change: Callable[[Any], object], published: Path, tmp_path: Path):
    with pytest.raises(DoesNotVerify):
        cb.verify(forged(published, tmp_path / "forged", change))


def test_names_of_publications_differ_in_more_than_capitals(published: Path):
    """Files of such names are one file on some machines."""
    facts = json.loads((published / "certificate.json").read_text())["facts"]
    facts["published"]["BY_AGE"] = facts["published"]["by_age"]
    with pytest.raises(DoesNotVerify, match="one name"):
        _ = read_facts(facts).publications


def test_a_publication_is_rehearsed_with_what_the_plan_gives_it():
    policy = five()
    with pytest.raises(CrowdblendError, match="several publications"):
        cb.rehearse(policy)
    found = cb.rehearse(policy, publication="by_age", times=2)
    assert found.k == 18


def test_a_view_that_makes_ids_up_is_read_once(tmp_path: Path):
    """Its people have other ids in every reading, so that without a copy the same person would be in two parts."""
    import duckdb

    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'x' AS sex FROM range(20000)")
        connection.execute("CREATE VIEW people AS SELECT uuid()::varchar AS id, sex, sex AS sex2 FROM t")
    policy = cb.Policy(
        source=str(path),
        table="people",
        person="id",
        ids="table",
        sampling=cb.Coins(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": ["x"], "sex2": ["x"]},
        publish=[cb.Table("sex", name="a", share=0.5), cb.Table("sex2", name="b", share=0.5)],
    )
    done = cb.release(None, policy, ledger=None)
    assert sum(table.column("sampled").to_pylist()[0] for table in done.tables.values()) == 20_000


def test_readers_of_one_sample_are_not_told_of_everybody(tmp_path: Path):
    noisy = [cb.Table("age", name="a", below_k="noise"), cb.Table("district", name="b", below_k="noise")]
    cb.release(town(2_000), two(*noisy, split="budget"), out=tmp_path / "out", ledger=None)
    page, said = ((tmp_path / "out" / name).read_text() for name in ("report.html", "README.md"))
    assert "No sample was drawn" not in page
    assert "about everybody" not in page + said
    assert "one and the same random sample" in said


@pytest.mark.parametrize("labels", [40, 41])
def test_what_several_publications_say_is_set_side_by_side_for_few_labels(labels: int):
    tables = [cb.Table("age", name="a"), cb.Table("age", "sex", name="b"), cb.Table("sex", name="c")]
    columns = {"age": cb.intervals(0, 3 * labels, width=3), "sex": COLUMNS["sex"]}
    policy = two(*tables, columns=columns, sampling=cb.Everybody(), delta=None, split="budget")
    page = cb.release(town(500), policy, ledger=None).report.html
    assert "By sex: people of the population" in page
    assert ("By age: people of the population" in page) == (labels == 40)

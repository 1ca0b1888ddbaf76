"""A synopsis from policy to folder: what is published, what is not, what is planned, and what is refused."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.kinds.shared.facts import to_json
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import Useful
from tests.cases import for_each
from tests.plans import plan
from tests.policies.policies import policy_text, swapped
from tests.refusals import is_refusal

EXAMPLE = Path(__file__).parents[2] / "examples" / "census_synopsis.toml"
DATA = EXAMPLE.parents[2] / "shared" / "data"
PEOPLE = 600
POLICY = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "survey"\npeople = 400\nof = 600',
    columns=(
        'sex = { values = ["Female", "Male"] }\nage = { from = 0, to = 90, width = 30 }',
        'city = { values = ["North", "South"], other = "Other" }',
    ),
    privacy="epsilon = 4.0",
    publish='kind = "synopsis"\nconjunctions = 2',
)
bent = partial(swapped, POLICY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 600 people in whom everything hangs together."""
    random = np.random.default_rng(1)
    sex = random.integers(0, 2, PEOPLE)
    age = np.where(sex == 1, random.integers(0, 45, PEOPLE), random.integers(30, 90, PEOPLE))
    city = random.choice(["North", "South", "Elsewhere"], PEOPLE, p=[0.7, 0.2, 0.1])
    made = tmp_path_factory.mktemp("people")
    table = {"id": range(PEOPLE), "sex": np.where(sex == 1, "Male", "Female"), "age": age, "city": city}
    pd.DataFrame(table).to_csv(made / "people.csv", index=False)
    return made


def test_rows_certificate_and_report(folder: Path, tmp_path: Path) -> None:
    ledger = Ledger.create(str(tmp_path / "ledger.sqlite"))
    done = release(parse_policy(POLICY, folder), tmp_path / "out", ledger=ledger)
    rows = pd.read_parquet(done.folder / "data.parquet")
    assert list(rows.columns) == ["sex", "age", "city"]
    assert len(rows) == 400
    assert set(rows["sex"]) <= {"Female", "Male"}
    assert set(rows["city"]) <= {"North", "South", "Other"}
    certificate = verify_file(done.folder)
    zero_knowledge, differential, useful = certificate.guarantees
    assert isinstance(zero_knowledge, ZeroKnowledge)
    assert zero_knowledge.aggregate == RandomSamples(400, 600)
    assert 3.9999 < zero_knowledge.epsilon <= 4.0
    assert isinstance(differential, Differential)
    assert isinstance(useful, Useful)
    assert useful.failure == pytest.approx(0.05)
    page = (done.folder / "report.html").read_text()
    assert "No row is a person" in page
    assert "Synthetic rows by sex" in page
    assert "Published people" not in page
    assert "random people out of 600" in page


def test_true_errors_are_for_the_steward_alone(folder: Path, tmp_path: Path) -> None:
    policy = parse_policy(POLICY, folder)
    done = release(policy, tmp_path / "out", key=bytes(32))
    internal = done.internal
    published = (done.folder / "report.html").read_text() + (done.folder / "certificate.json").read_text()
    planned = plan(policy.only).parameters
    assert internal["error_about_sample"] <= planned.about_sample.accuracy
    assert internal["error_about_everybody"] <= planned.about_everybody.accuracy
    assert "error_about" not in published
    # All that the facts say beyond the policy: the day, the name of the release, the misfit, and hashes of files.
    facts = to_json(plan(policy.only).facts())
    said = {name: fact for name, fact in done.certificate.facts.items() if facts.get(name) != fact}
    assert set(said) == {"date", "run", "misfit", "files"}


def test_rows_are_published_in_a_random_order(folder: Path, tmp_path: Path) -> None:
    rows = pd.read_parquet(
        release(parse_policy(POLICY, folder), tmp_path / "out", key=bytes(32)).folder / "data.parquet"
    )
    assert not rows.equals(rows.sort_values(list(rows.columns)).reset_index(drop=True))


@for_each(
    "swaps",
    [
        [("conjunctions = 2", 'queries = [{ sex = "Male" }, { sex = "Female", city = "North" }]')],
        [("conjunctions = 2", "conjunctions = 3\nrows = 900")],
        [
            ("age = { from = 0, to = 90, width = 30 }\n", ""),
            ("conjunctions = 2", 'conjunctions = 1\nmechanism = "exponential"'),
        ],
        [
            ('sex = { values = ["Female", "Male"] }\n', ""),
            ('city = { values = ["North", "South"], other = "Other" }\n', ""),
            ("conjunctions = 2", 'ranges = "age"'),
        ],
    ],
)
def test_every_class_and_mechanism_publishes(folder: Path, tmp_path: Path, swaps: list[tuple[str, str]]) -> None:
    policy: Any = parse_policy(bent(*swaps), folder).only
    done = release(policy, tmp_path / "out")
    verify_file(done.folder)
    assert len(pd.read_parquet(done.folder / "data.parquet")) == plan(policy).parameters.mechanism.rows
    assert policy.publication.mechanism in (None, plan(policy).parameters.name)


@for_each(
    ("swaps", "words"),
    [
        ([("people = 400", "people = 601")], "policy.sample"),
        ([("people = 400", "rate = 0.1")], "policy.unknown-key"),
        ([("people = 400", "people = 400\nrate = 0.1")], "policy.unknown-key"),
        ([("of = 600\n", "")], "policy.missing-key"),
        ([("epsilon = 4.0\n", "")], "policy.missing-key"),
        ([("epsilon = 4.0", "epsilon = 0")], "above 0 and at most 100"),
        ([("conjunctions = 2", "conjunctions = 2\nk = 20")], "policy.unknown-key"),
        ([("conjunctions = 2", "conjunctions = 2\nconfidence = 1.0")], "confidence"),
        ([("epsilon = 4.0", "epsilon = 0.01")], "Raise epsilon or sample"),
        ([("conjunctions = 2", "conjunctions = 4")], "between 1 and 3 columns"),
        ([("conjunctions = 2", "")], "exactly one of"),
        ([("conjunctions = 2", 'conjunctions = 2\nranges = "age"')], "exactly one of"),
        ([("conjunctions = 2", 'ranges = "income"')], "income"),
        ([("conjunctions = 2", 'ranges = "age"')], "policy.query-class"),
        ([("conjunctions = 2", 'queries = [{ income = "high" }]')], "income"),
        ([("conjunctions = 2", 'queries = [{ sex = "Femal" }]')], "Female"),
        ([("conjunctions = 2", "queries = [{ sex = 1.5 }]")], "policy.type"),
        ([("conjunctions = 2", "queries = []")], "at least one"),
        ([("age = { from = 0, to = 90, width = 30 }", "age = { prefix = 1 }")], "policy.open-domain"),
        ([("width = 30", "width = [10, 30]")], "policy.recoding"),
        ([("age = { from = 0, to = 90, width = 30 }", "age = { from = 0, to = 900000, width = 1 }")], "4,000,000"),
        ([("conjunctions = 2\n", "")], "policy.query-class"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(swaps: list[tuple[str, str]], words: str) -> None:
    text = bent(*swaps)
    with pytest.raises(CrowdblendError) as caught:
        plan(parse_policy(text).only)
    assert is_refusal(caught.value, words), caught.value
    assert "\n" not in str(caught.value)


def test_a_wrong_number_of_people_is_refused_without_saying_the_right_one(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="another number of people") as caught:
        release(parse_policy(bent(("of = 600", "of = 601")), folder), tmp_path / "out")
    assert "600" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder with the real tables does not lie beside the checkout")
def test_the_census_example_is_planned() -> None:
    planned = plan(load_policy(EXAMPLE).only).parameters
    assert planned.mechanism.queries.size == 14_575
    assert planned.about_everybody.accuracy < 0.07


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the folder with the real tables does not lie beside the checkout")
def test_the_census_example_is_within_its_plan(tmp_path: Path) -> None:
    internal = release(load_policy(EXAMPLE), tmp_path / "out").internal
    assert internal["error_about_sample"] <= plan(load_policy(EXAMPLE).only).parameters.about_sample.accuracy

"""Releases of statistics: what is published is near the truth, certified, verified and the same for the same key."""

import csv
import json
import random
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.statistics.values import SampleValues
from crowdblend.methods.planning.statistics.ways import SAMPLE
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.calculus import Assumption, verify_file
from crowdblend.trusted.calculus.checker import MOST_STEPS
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.kinds.grouped import group_of
from tests.plans import plan
from tests.policies.policies import policy_text
from tests.refusals import refuses

N, K = 3000, 400
POLICY = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "survey"\npeople = 400\nof = 3000',
    columns=(
        'sex = { values = ["Female", "Male"] }\nage = { from = 0, to = 100, width = 10 }',
        'income = { from = 0, to = 90000, resolution = 100, outside = "clamp" }',
    ),
    privacy="epsilon = 1.0",
    release='format = "csv"',
    publish=(
        'kind = "statistics"',
        '[[publish.statistics]]\nname = "income"\naverage = "income"',
        '[[publish.statistics]]\nname = "age"\naverage = "age"',
        '[[publish.statistics]]\nname = "young women"\nfraction = { sex = "Female", age = ["[10, 20)", "[20, 30)"] }',
        '[[publish.statistics]]\nname = "men"\ncount = { sex = "Male" }',
        '[[publish.statistics]]\nname = "ages of men"\nhistogram = "age"\nwhere = { sex = "Male" }',
    ),
)


KIND = 'kind = "statistics"'


def sure(text: str) -> str:
    """The policy at a confidence of 1 − 1e-7."""
    return text.replace(KIND, f"{KIND}\nconfidence = 0.9999999")


SURE = sure(POLICY)


def asking(*statistics: str) -> str:
    """The policy of these statistics instead, with the columns that they are about."""
    head, _, _ = POLICY.partition("[[publish.statistics]]")
    asked = "".join(f"[[publish.statistics]]\n{one}\n" for one in statistics)
    for name in ("sex", "age", "income"):
        if not re.search(rf"\b{name}\b", asked):
            head = re.sub(rf"(?m)^{name} = .*\n", "", head)
    return head + asked


def people() -> list[tuple[str, str, int, float]]:
    rng = random.Random(5)
    return [(f"p{i}", rng.choice(["Female", "Male"]), rng.randrange(100), rng.uniform(-10, 120_000)) for i in range(N)]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "sex", "age", "income"])
        writer.writerows(people())
    duckdb.sql(f"COPY (FROM '{folder / 'people.csv'}') TO '{folder / 'people.parquet'}'")
    return folder


def truth() -> dict[tuple[str, str], float]:
    everybody = people()
    clamped = [min(max(income, 0), 90_000) for *_, income in everybody]
    found: dict[tuple[str, str], float] = {
        ("income", ""): sum(round(value / 100) * 100 for value in clamped) / N,
        ("age", ""): sum(age for _, _, age, _ in everybody) / N,
        ("young women", ""): sum(sex == "Female" and 10 <= age < 30 for _, sex, age, _ in everybody) / N,
        ("men", ""): sum(sex == "Male" for _, sex, *_ in everybody),
    }
    for low in range(0, 100, 10):
        inside = sum(sex == "Male" and low <= age < low + 10 for _, sex, age, _ in everybody)
        found["ages of men", f"[{low}, {low + 10})"] = inside
    return found


def published(folder: Path) -> dict[tuple[str, str], tuple[float, float]]:
    with (folder / "data.csv").open(newline="") as file:
        return {
            (row["statistic"], group_of(row) or ""): (float(row["value"]), float(row["error"]))
            for row in csv.DictReader(file)
        }


def made(town: Path, out: Path, text: str = POLICY, **named: Any) -> dict[tuple[str, str], tuple[float, float]]:
    release(parse_policy(text, town), out, **named)
    verify_file(out)
    return published(out)


@for_each("epsilon", [0.3, 1.0, 40.0], daily=2)
def test_every_number_is_within_its_error(town: Path, tmp_path: Path, epsilon: float) -> None:
    """At confidence 1 − 1e-7 for each of 5 statistics: a false alarm has probability below 1e-6."""
    text = SURE.replace("epsilon = 1.0", f"epsilon = {epsilon}\naccept_epsilon = true")
    found, true = made(town, tmp_path / "out", text), truth()
    assert found.keys() == true.keys()
    for name, (value, error) in found.items():
        assert abs(value - true[name]) <= error, name
        assert error > 0


def test_the_certificate_names_the_random_people(town: Path, tmp_path: Path) -> None:
    text = POLICY.replace(KIND, f"{KIND}\ngroup = 4")
    made(town, tmp_path / "out", text)
    guarantees = verify_file(tmp_path / "out").guarantees
    one, group, differential = guarantees
    assert isinstance(one, ZeroKnowledge)
    assert one.aggregate == RandomSamples(K, N)
    assert one.epsilon <= 1.0
    assert "times what it would be from the data of 400 random people out of 3,000" in one.words()
    assert isinstance(group, ZeroKnowledge)
    assert group.people == 4
    assert isinstance(differential, Differential)
    assert differential.relation is Relation.REPLACE
    facts = json.loads((tmp_path / "out" / "certificate.json").read_text())["facts"]
    assert read_facts(facts).parameters == {"epsilon": 1.0, "sample": K, "people": N, "confidence": 0.95}
    assert facts["design"] == {"design": "survey", "people": K, "of": N, "already_drawn": False}
    assert set(facts["statistics"]) == {"income", "age", "young women", "men", "ages of men"}


def test_rows_may_be_people(town: Path, tmp_path: Path) -> None:
    text = SURE.replace('person = "id"', "rows_are_people = true")
    found, true = made(town, tmp_path / "out", text), truth()
    assert all(abs(value - true[name]) <= error for name, (value, error) in found.items())
    assert Assumption.ROWS_ARE_PEOPLE in verify_file(tmp_path / "out").stated


def test_everybody_is_counted_where_that_errs_less(town: Path, tmp_path: Path) -> None:
    """With k = n nothing is drawn; with a large ε for one number the noise on everybody's total is smaller."""
    text = sure(asking('name = "men"\ncount = { sex = "Male" }')).replace("epsilon = 1.0", "epsilon = 8.0")
    planned = plan(parse_policy(text, town).only)
    assert planned.facts().statistics_["men"].way == "everybody"
    ((value, error),) = made(town, tmp_path / "out", text).values()
    from_a_sample = planned.parameters.error_if_all(SAMPLE, 0)
    assert from_a_sample is not None
    assert abs(value - truth()["men", ""]) <= error < from_a_sample * N


def test_the_dry_run_shows_both_ways(town: Path) -> None:
    told = plan(parse_policy(POLICY, town).only).describe()
    assert ("would compare", "with 400 random people of 3,000") in told
    published = [how for what, how in told if what == "would publish"]
    assert len(published) == 5
    assert all("±" in how and "from a sample, with noise" in how for how in published)
    assert sum("if all were computed from all people" in how for _, how in told) == 5


def test_the_largest_number_of_statistics_still_verifies(town: Path, tmp_path: Path) -> None:
    text = asking(*(f'name = "{at}"\ncount = {{ sex = "Male" }}' for at in range(150)))
    text = text.replace(KIND, f"{KIND}\ngroup = 3")
    assert len(made(town, tmp_path / "out", text)) == 150
    # A mixture of both ways would add at most five steps to each of the three promises.
    assert sum(1 for _ in verify_file(tmp_path / "out").steps()) + 15 <= MOST_STEPS


def test_a_mixture_of_both_ways(town: Path, tmp_path: Path) -> None:
    """A heavy statistic from everybody, a light one from a sample, each within its error."""
    asked = 'name = "men"\ncount = { sex = "Male" }\nweight = 98', 'name = "income"\naverage = "income"\nweight = 2'
    text = sure(asking(*asked)).replace("epsilon = 1.0", "epsilon = 10")
    ways = plan(parse_policy(text, town).only).parameters.ways
    assert [(places, way.mechanism, way.samples) for places, way in ways] == [
        ((0,), "everybody", 200),
        ((1,), "sample", 200),
    ]
    found, true = made(town, tmp_path / "out", text), truth()
    assert all(abs(value - true[name]) <= error for name, (value, error) in found.items())
    planned = verify_file(tmp_path / "out").derivations[0].conclusion
    assert (planned.aggregate, planned.epsilon <= 10) == (RandomSamples(K, N), True)


def replaced(old: str, new: str) -> str:
    assert old in POLICY
    return POLICY.replace(old, new)


REFUSED = {
    "no bounds": (replaced('average = "income"', 'average = "sex"'), "policy.no-bounds"),
    "more samples than people": (replaced("people = 400", "people = 3001"), "policy.sample"),
    "undeclared column": (
        replaced(
            '{ sex = "Male" }\n[[publish.statistics]]\nname = "ages',
            '{ gender = "Male" }\n[[publish.statistics]]\nname = "ages',
        ),
        "policy.unknown-column",
    ),
    "unknown label": (replaced('count = { sex = "Male" }', 'count = { sex = "male" }'), "policy.unknown-label"),
    "no people": (replaced("of = 3000\n", ""), "policy.missing-key"),
    "where beside a count": (
        replaced('count = { sex = "Male" }', 'count = { sex = "Male" }\nwhere = { sex = "Male" }'),
        "policy.statistic",
    ),
    "a quantile without a share": (replaced('average = "income"', 'quantile = "income"'), "policy.statistic"),
    "a median with a share": (replaced('average = "income"', 'median = "income"\nat = 0.5'), "policy.statistic"),
    "a share of 1": (replaced('average = "income"', 'quantile = "income"\nat = 1.0'), "policy.statistic"),
    "a share too fine": (replaced('average = "income"', 'quantile = "income"\nat = 0.12345'), "policy.statistic"),
    "groups of a histogram": (replaced('histogram = "age"', 'histogram = "age"\nby = ["sex"]'), "policy.statistic"),
    "groups of nothing": (replaced('average = "income"', 'average = "income"\nby = []'), "policy.statistic"),
    "groups twice": (replaced('average = "income"', 'average = "income"\nby = ["sex", "sex"]'), "policy.statistic"),
    "groups by labels": (
        replaced('average = "income"', 'average = "income"\nby = ["sex"]\nwhere = { sex = "Male" }'),
        "policy.statistic",
    ),
    "groups by numbers": (replaced('average = "income"', 'average = "income"\nby = ["income"]'), "policy.open-domain"),
    "a median of labels": (replaced('average = "income"', 'median = "sex"'), "policy.no-bounds"),
    "too many steps": (
        replaced("resolution = 100,", "resolution = 0.01,").replace('average = "income"', 'median = "income"'),
        "policy.steps",
    ),
    "an error of groups": (
        replaced('average = "income"', 'average = "income"\nby = ["sex"]\nerror = 9'),
        "policy.statistic",
    ),
    "no error at all": (replaced('average = "income"', 'average = "income"\nerror = 0'), "policy.statistic"),
    "sample and everybody": (replaced('"survey"', '"everybody"'), "policy.unknown-key"),
    "nothing says how many": (replaced("people = 400\n", 'key = "seal"\n'), "policy.missing-key"),
    "two in one": (replaced('average = "income"', 'average = "income"\nhistogram = "age"'), "policy.statistic"),
    "a rate": (replaced("people = 400", "people = 400\nrate = 0.1"), "policy.unknown-key"),
    "no loss": (replaced("epsilon = 1.0\n", ""), "policy.missing-key"),
    "a crowd size": (replaced(KIND, f"{KIND}\nk = 20"), "policy.unknown-key"),
    "an average of a label": (replaced('histogram = "age"', 'histogram = "income"'), "policy.open-domain"),
    "no steps": (replaced("resolution = 100", "resolution = 0"), "policy.domain"),
    "twice the same name": (replaced('name = "men"', 'name = "age"'), "policy.statistic-twice"),
    "a weight without end": (replaced('average = "income"', 'average = "income"\nweight = inf'), "policy.value"),
    "a weight that is no number": (replaced('average = "income"', 'average = "income"\nweight = nan'), "policy.value"),
    "nothing to publish": (POLICY.partition("[[publish.statistics]]")[0], "policy.statistics"),
    "statistics in a table": (replaced(KIND, 'kind = "table"'), "policy.unknown-key"),
}


@for_each("name", REFUSED)
def test_bad_policies_are_refused_in_a_sentence(name: str) -> None:
    text, code = REFUSED[name]
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text)
    assert caught.value.code == code


@for_each("kind", ["csv", "parquet"])
@for_each(
    ("old", "new", "code", "where"),
    [
        ("of = 3000", "of = 2999", "data.people", "[sampling] of"),
        (', outside = "clamp"', "", "data.outside-bounds", None),
        ('person = "id"', 'person = "sex"', "data.repeated-person", None),
    ],
)
def test_data_that_do_not_fit_are_refused_without_a_number(
    town: Path, tmp_path: Path, kind: str, old: str, new: str, code: str, where: str | None
) -> None:
    text = replaced(old, new).replace("people.csv", f"people.{kind}")
    if "sex" in new:
        text = text.replace('where = { sex = "Male" }', "").replace('{ sex = "Male" }', '{ age = "[0, 10)" }')
        text = text.replace('sex = "Female", ', "").replace('sex = { values = ["Female", "Male"] }\n', "")
    with refuses(code, where):
        release(parse_policy(text, town), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@for_each("kind", ["csv", "parquet"])
@for_each("spelled", ["p{}", "{}"])
def test_somebody_with_many_rows_is_noticed_also_when_not_drawn(tmp_path: Path, kind: str, spelled: str) -> None:
    """Half of 1,000 rows have one id, so 10 people are drawn of 501 and not of the 1,000 that would be certified.

    Five keys: by the draw alone that person would be met with a probability of about a tenth each time.
    """
    ids = [spelled.format(max(i, 500)) for i in range(1000)]
    (tmp_path / "people.csv").write_text("id,sex\n" + "".join(f"{one},Male\n" for one in ids))
    duckdb.sql(f"COPY (FROM '{tmp_path / 'people.csv'}') TO '{tmp_path / 'people.parquet'}'")
    text = asking('name = "men"\ncount = { sex = "Male" }').replace("people.csv", f"people.{kind}")
    policy = parse_policy(text.replace("people = 400\nof = 3000", "people = 10\nof = 1000"), tmp_path).only
    assert plan(policy).facts().statistics_["men"].way == "sample"
    for seed in range(5):
        with refuses("data.repeated-person"):
            plan(policy).read(default_engine(), ReleaseKey(bytes([seed]) * 32))


@pytest.mark.parametrize("bounds", ["from = 0, to = 1, resolution = 1", "from = 999999999, to = 1e9, resolution = 1"])
def test_an_error_covers_writing_the_value_as_a_double(bounds: str) -> None:
    """With hardly any noise a third is still no double."""
    text = asking('name = "income"\naverage = "income"').replace("people = 400", "people = 3000")
    text = text.replace("epsilon = 1.0", "epsilon = 500\naccept_epsilon = true")
    made = plan(parse_policy(text.replace("from = 0, to = 90000, resolution = 100", bounds)).only)
    grid, values = made.policy.measures["income"], made.values(0)
    assert isinstance(values, SampleValues)
    for total in range(1, 3000, 7):
        mean = Fraction(total, 3000)
        assert abs(Fraction(values.value(mean)) - grid.value(mean)) <= Fraction(values.error), total


@for_each("confidence", ["0.95", "0.999999999999", "0.999999999999999"])
def test_errors_are_planned_for_no_more_than_what_the_confidence_leaves(confidence: str) -> None:
    made = plan(parse_policy(POLICY.replace(KIND, f"{KIND}\nconfidence = {confidence}")).only)
    assert made.parameters.way_of(0).failure == float(1 - Decimal(confidence))


def test_what_is_told_is_rounded_against_us(town: Path, tmp_path: Path) -> None:
    """An error up, a confidence down: 0.9999999 is not 1."""
    text = SURE
    planned = plan(parse_policy(text, town).only)
    told = planned.describe()
    assert told[-1] == ("", "each within its ± with a probability of at least 0.999999")
    shown = [float(how.split("±")[1].split()[0].replace(",", "")) for what, how in told if what == "would publish"]
    for place, error in enumerate(shown):
        assert planned.values(place).error <= error < 1.001 * planned.values(place).error
    made(town, tmp_path / "out", text)
    assert "with a probability of at least 0.999999;" in (tmp_path / "out" / "report.html").read_text()

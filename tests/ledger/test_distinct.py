"""Ids that agree as small numbers do: said so, asked once, and answered by a statement that is recorded."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from crowdblend.errors import DoesNotCompose, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.finished_release import Release
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import Assumption
from tests.commands import crowdblend
from tests.ledger.sources import people, policy, shuffled, write
from tests.ledger.test_overlap import spread_out

PATIENTS, FORCES, PUPILS = (f'population = "{name}"' for name in ("patients", "forces", "pupils"))
AGREE = "as small numbers are by chance"
ARE_ALSO = "Some of these people are also in"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "ledger.sqlite")


@pytest.fixture
def publish(ledger: Ledger, tmp_path: Path) -> Callable[..., tuple[Release, list[str]]]:
    """A whole release, and what was said of it."""

    def run(source: str, **named) -> tuple[Release, list[str]]:
        parsed = parse_policy(policy(source, **named), tmp_path)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            done = release(parsed, tmp_path / f"out-{len(ledger.entries())}", ledger=ledger)
        return done, [str(one.message) for one in said]

    return run


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[DoesNotCompose]]:
    with pytest.raises(DoesNotCompose) as found:
        yield found
    assert found.value.code == code


def patients(folder: Path) -> None:
    """Patients with numbers of every size, a sixth of which are those of soldiers, who are called 1 to 4,000."""
    numbers = spread_out(3_000, 3)
    write(people(len(numbers)).assign(id=numbers), folder / "patients.csv")
    write(people(4_000, 2).assign(id=range(1, 4_001)), folder / "forces.csv")
    assert 300 < sum(number <= 4_000 for number in numbers) < 2_000


def test_small_numbers_are_one_notice_which_offers_both_answers(publish, ledger: Ledger, tmp_path: Path) -> None:
    patients(tmp_path)
    write(people(500, 3).assign(id=range(1, 501)), tmp_path / "pupils.csv")
    publish("patients.csv", drawn="", more=PATIENTS)
    publish("pupils.csv", drawn="", more=PUPILS)
    _, said = publish("forces.csv", drawn="", more=FORCES)
    assert len(said) == 1
    assert AGREE in said[0]
    assert ARE_ALSO not in said[0]
    for command in ("distinct", "overlap"):
        for other in ("patients", "pupils"):
            assert f"crowdblend ledger {command} 'forces' '{other}'" in said[0]
    ledger.distinct("patients", "forces", why="soldiers are numbered from 1")
    _, said = publish("forces.csv", drawn="", more=FORCES)
    assert len(said) == 1
    assert "'pupils'" in said[0]
    assert "'patients'" not in said[0]


def test_other_people_are_recorded_and_certified(publish, ledger: Ledger, tmp_path: Path) -> None:
    patients(tmp_path)
    done, _ = publish("patients.csv", drawn="", more=PATIENTS)
    ledger.limit("patients", epsilon=5.0, delta=1e-5)
    with refused("limit.overlap") as problem:
        publish("forces.csv", drawn="", more=FORCES)
    assert AGREE in problem.value.message
    assert "Ledger.distinct('forces', 'patients')" in problem.value.remedy
    ledger.distinct("forces", "patients")
    made, said = publish("forces.csv", drawn="", more=FORCES)
    assert said == []
    assert Assumption.OTHER_PEOPLE in made.certificate.stated
    assert Assumption.OTHER_PEOPLE not in done.certificate.stated
    assert "the data holder says so" in (tmp_path / "out-1" / "report.html").read_text(encoding="utf-8")
    assert ledger.entry(2).other_people == (1,)
    assert Ledger(tmp_path / "ledger.sqlite").entry(2).other_people == (1,)
    budgets = ledger.budgets()
    assert [budget.releases for budget in budgets] == [(1,), (2,)]
    assert all(Assumption.OTHER_PEOPLE in budget.assumptions for budget in budgets)
    assert [one.others for one in ledger.populations()] == [("forces",), ("patients",)]


def test_an_overlap_that_is_declared_later_holds(publish, ledger: Ledger, tmp_path: Path) -> None:
    patients(tmp_path)
    publish("patients.csv", drawn="", more=PATIENTS)
    ledger.distinct("forces", "patients")
    ledger.overlap("patients", "forces")
    made, said = publish("forces.csv", drawn="", more=FORCES)
    assert said == []
    assert Assumption.OTHER_PEOPLE not in made.certificate.stated
    (budget, _) = ledger.budgets()
    assert budget.releases == (1, 2)
    assert Assumption.OTHER_PEOPLE not in budget.assumptions
    with pytest.raises(InvalidInput, match="were declared to overlap"):
        ledger.distinct("forces", "patients")
    with pytest.raises(InvalidInput, match="Name two populations"):
        ledger.distinct("forces", " forces")


@pytest.mark.parametrize("ids", ["long numbers", "texts"])
def test_more_than_chance_gives_is_said_and_refused_whatever_was_declared(
    publish, ledger: Ledger, tmp_path: Path, ids: str
) -> None:
    """A third of the people are in both, by numbers of seven digits or by texts."""
    table, others = people(900), people(900, 2)
    both = pd.concat([others.iloc[300:], table.iloc[:300].assign(age=1, weight=2, town="Ribe")])
    who = 'person = "id"' if ids == "long numbers" else 'person = "ssn"'
    write(table, tmp_path / "patients.csv")
    write(both, tmp_path / "forces.csv")
    publish("patients.csv", drawn="", who=who, more=PATIENTS)
    ledger.distinct("forces", "patients")
    made, said = publish("forces.csv", drawn="", who=who, more=FORCES)
    assert [ARE_ALSO in one and "distinct" not in one for one in said] == [True]
    assert Assumption.OTHER_PEOPLE not in made.certificate.stated
    ledger.limit("patients", epsilon=50.0, delta=1e-5)
    with refused("limit.overlap"):
        publish("forces.csv", drawn="", who=who, more=FORCES)


def test_equal_rows_are_the_same_people_whatever_was_declared(publish, ledger: Ledger, tmp_path: Path) -> None:
    table = people().assign(id=range(1, 601))
    write(table, tmp_path / "patients.csv")
    write(shuffled(table).assign(id=range(1, 601)), tmp_path / "forces.csv")
    publish("patients.csv", more=PATIENTS)
    ledger.distinct("forces", "patients")
    for drawn in ("coins", ""):
        with refused("same-sample"):
            publish("forces.csv", more=FORCES, drawn=drawn)


def test_two_samples_that_number_their_people_stand_beside_each_other(publish, ledger: Ledger, tmp_path: Path) -> None:
    """Nothing but ids from 1 agrees: refused, until they are said to be other people; the certificate lists both."""
    for seed, name in enumerate(("patients", "forces"), 1):
        write(people(seed=seed).assign(id=range(1, 601)), tmp_path / f"{name}.csv")
    publish("patients.csv", more=PATIENTS)
    with refused("same-sample"):
        publish("forces.csv", more=FORCES)
    ledger.distinct("forces", "patients")
    made, said = publish("forces.csv", more=FORCES)
    assert {Assumption.OTHER_PEOPLE} <= {*made.certificate.stated}
    assert said == []


def test_small_numbers_in_common_are_no_comparison(publish, ledger: Ledger, tmp_path: Path) -> None:
    """People who were numbered anew share numbers with the table that they are from, and that shows nothing."""
    write(people().assign(id=spread_out(900, 5)[:600]), tmp_path / "drawn.csv")
    write(people()[["id", "sex", "age"]].assign(id=range(1, 601)), tmp_path / "extract.csv")
    publish("drawn.csv", more=PATIENTS, rate=0.5)
    made, said = publish("extract.csv", more=PUPILS, rate=0.5)
    assert Assumption.SAMPLE_NOT_COMPARED in made.certificate.stated
    assert [AGREE in one for one in said] == [True]


def test_the_command(tmp_path: Path) -> None:
    at = ("--ledger", tmp_path / "ledger.sqlite")
    Ledger.create(at[1])
    done = crowdblend("ledger", "distinct", "patients", "forces", "--why", "numbered from 1", "--by", "ann", *at)
    assert done.stdout == ("patients and forces are other people: ids that agree by chance do not make them overlap.\n")
    assert "others    forces" in crowdblend("ledger", "populations", *at).stdout
    found = json.loads(crowdblend("ledger", "populations", "--json", *at).stdout)["populations"]
    assert [one["others"] for one in found] == [["forces"], ["patients"]]
    assert crowdblend("ledger", "check", *at).returncode == 0

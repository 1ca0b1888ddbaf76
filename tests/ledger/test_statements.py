"""What other tools spent: recorded beside releases, counted in totals and limits, and marked wherever it is shown."""

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotCompose, DoesNotVerify, InvalidInput, Refused
from crowdblend.ledger import Ledger
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation
from tests.cases import for_each
from tests.commands import crowdblend
from tests.ledger.spendings import DATA, DIGEST, shared, spending

OPENDP: dict[str, Any] = {"tool": "OpenDP", "version": "0.12", "why": "a count for the mayor", "by": "ann"}
ADD: dict[str, Any] = {**OPENDP, "relation": "add-remove"}


def loss(epsilon: float, delta: float = 0.0) -> tuple[Differential, ...]:
    return (Differential(epsilon, delta, Relation.ADD_REMOVE),)


def test_a_statement_is_an_entry_that_says_so(ledger: Ledger) -> None:
    ledger.begin(spending(guarantees=loss(0.25, 1e-7)))
    entry = ledger.record("residents", **ADD, epsilon=0.5, delta=1e-6, reference="report 12")
    assert entry.id == 2
    again = Ledger(ledger.location.words()) if ledger.location.path else ledger
    found = again.entry(2)
    assert found == entry
    assert (found.status, found.spending.kind, found.key_state) == ("stated", "stated", None)
    assert found.to_dict()["statement"] == {
        "tool": "OpenDP", "version": "0.12", "by": "ann", "why": "a count for the mayor", "reference": "report 12",
    }  # fmt: skip
    budget = again.budget("residents")
    assert budget.differential == Differential(0.75, 1.1e-6, Relation.ADD_REMOVE)
    assert (budget.releases, budget.stated) == ((1, 2), (2,))
    assert Assumption.STATED_LOSSES in budget.assumptions
    assert again.unfinished_entries() == (again.entry(1),)
    again.check()


def test_without_a_statement_nothing_is_marked(ledger: Ledger) -> None:
    ledger.begin(spending())
    assert ledger.budget("residents").stated == ()
    assert Assumption.STATED_LOSSES not in ledger.budget("residents").assumptions
    ledger.record("patients", **ADD, epsilon=1.0)
    assert ledger.budget("residents").stated == ()
    ledger.overlap("residents", "patients", why="some are both")
    assert ledger.budget("residents").stated == (2,)


def test_several_rho_add_up_before_they_are_converted(ledger: Ledger) -> None:
    for _ in range(10):
        ledger.record("residents", **ADD, rho=0.01, delta=1e-7)
    rho, delta = 0.1, 1e-6
    total = ledger.total("residents", delta)
    alone = ledger.record("others", **ADD, rho=rho, delta=delta).spending.differential
    assert alone is not None
    assert total.epsilon == pytest.approx(alone.epsilon, rel=1e-3)
    assert total.epsilon < rho + 2 * math.sqrt(rho * math.log(1 / delta))
    added = ledger.budget("residents").differential
    assert added is not None
    assert added.epsilon > 2 * total.epsilon
    assert Assumption.FIXED_SERIES in total.assumptions


def test_one_persons_data_replaced_counts_four_times_the_rho(ledger: Ledger) -> None:
    ledger.record("residents", **ADD, rho=0.02, delta=1e-7)
    ledger.record("residents", **{**OPENDP, "relation": Relation.REPLACE}, rho=0.02, delta=1e-7)
    total = ledger.total("residents", 1e-6)
    assert total.relation is Relation.REPLACE
    alone = ledger.record("others", **ADD, rho=0.1, delta=1e-6).spending.differential
    assert alone is not None
    assert total.epsilon == pytest.approx(alone.epsilon, rel=1e-3)


def test_a_curve_counts_at_its_delta_and_composes_by_its_points(ledger: Ledger) -> None:
    entry = ledger.record("residents", **ADD, curve=[(0.5, 1e-3), (1.0, 1e-6)], delta=1e-6)
    assert entry.spending.differential == Differential(1.0, 1e-6, Relation.ADD_REMOVE)
    assert ledger.record("residents", **ADD, curve=[(0.5, 1e-3), (1.0, 1e-6)], delta=1e-3).spending.differential == (
        Differential(0.5, 1e-3, Relation.ADD_REMOVE)
    )
    ledger.begin(spending())
    total, added = ledger.total("residents"), ledger.budget("residents").differential
    assert added is not None
    assert total.epsilon is not None
    assert total.epsilon < added.epsilon


def test_a_limit_counts_it_and_a_release_that_does_not_fit_is_refused(ledger: Ledger) -> None:
    ledger.limit("residents", epsilon=1.0, delta=1e-5)
    ledger.record("residents", **ADD, epsilon=0.75, delta=1e-6)
    with pytest.raises(Refused, match="1 of other tools, stated and not derived") as caught:
        ledger.begin(spending(guarantees=loss(0.5, 1e-6)))
    assert caught.value.code == "limit.exceeded"
    ledger.begin(spending(guarantees=loss(0.25, 1e-6)))
    with pytest.warns(UserWarning, match="is exceeded"):
        ledger.record("residents", **ADD, epsilon=0.1)
    assert len(ledger.entries()) == 3
    with pytest.warns(UserWarning, match="has no such guarantee"):
        ledger.record("residents", **{**OPENDP, "relation": "replace"}, epsilon=0.1)


@for_each("renyi", [False, True])
def test_a_limit_by_either_way_counts_a_rho(renyi: bool, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.limit("residents", epsilon=3.0, delta=1e-5, renyi=renyi)
    ledger.record("residents", **ADD, rho=0.05, delta=1e-6)
    usage = ledger.accounts().usage(ledger.limits("residents")[-1])
    assert usage is not None
    assert usage.fits
    assert usage.stated == 1
    assert usage.used[0] > 0


def test_what_adds_up_to_nothing_is_refused_beside_it(ledger: Ledger) -> None:
    ledger.record("residents", **ADD, epsilon=0.5)
    with pytest.raises(DoesNotCompose, match="only differential privacy"):
        ledger.begin(spending(guarantees=(CrowdBlending(5, 0.0),)))


def test_a_table_that_was_already_drawn_assumes_that_the_other_tool_did_not_read_it(ledger: Ledger) -> None:
    ledger.record("residents", **ADD, epsilon=0.5)
    outlook = ledger.preview(shared())
    assert outlook.not_compared == (1,)
    assert outlook.unsaid == ()
    assert any("made by another tool" in said for said in outlook.recognition)
    assert ledger.preview(spending()).recognition == ()


def test_a_statement_is_neither_finished_nor_resumed(ledger: Ledger) -> None:
    entry = ledger.record("residents", **ADD, epsilon=0.5)
    with pytest.raises(InvalidInput, match="is stated already"):
        ledger.finish(entry.id, certificate_digest=DIGEST, data_sha256=DATA)
    with pytest.raises(InvalidInput) as caught:
        cb.resume(entry.id, pd.DataFrame({"id": [1]}), _policy(), ledger=ledger)
    assert caught.value.code == "cannot-resume"


def _policy() -> cb.Policy:
    return cb.Policy(
        person="id",
        population="residents",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": cb.values("f", "m")},
        publish=cb.Table(),
    )


def test_a_release_beside_it_is_published_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"id": range(600), "sex": ["f", "m"] * 300})
    frame.to_csv("people.csv", index=False)
    ledger = Ledger.create("ledger.db")
    ledger.record("residents", **ADD, epsilon=0.5)
    done = cb.release(frame, _policy(), ledger=ledger, figures=False)
    assert Assumption.SAMPLE_NOT_COMPARED not in done.certificate.stated
    _policy().replace(source="people.csv").save("policy.toml")
    said = crowdblend("release", "policy.toml", "--yes", "--ledger", "ledger.db", "--out", "out", folder=tmp_path)
    assert "stated, not derived" in said.stdout


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a negative epsilon": ({"epsilon": -0.5}, "epsilon must be"),
    "epsilon that is no number": ({"epsilon": math.nan}, "epsilon must be"),
    "an endless epsilon": ({"epsilon": math.inf}, "epsilon must be"),
    "a huge epsilon": ({"epsilon": 1e300}, "epsilon must be"),
    "epsilon as text": ({"epsilon": "0.5"}, "epsilon must be"),
    "a negative delta": ({"epsilon": 0.5, "delta": -1e-6}, "delta must be"),
    "a delta of 1": ({"epsilon": 0.5, "delta": 1.0}, "guarantees nothing"),
    "delta that is no number": ({"epsilon": 0.5, "delta": math.nan}, "delta must be"),
    "nothing": ({}, "one of epsilon, rho and curve"),
    "delta alone": ({"delta": 1e-6}, "one of epsilon, rho and curve"),
    "epsilon and rho": ({"epsilon": 0.5, "rho": 0.1}, "one of epsilon, rho and curve"),
    "rho without delta": ({"rho": 0.1}, "needs the delta"),
    "a rho of 0": ({"rho": 0.0, "delta": 1e-6}, "rho must be"),
    "a huge rho": ({"rho": 1e9, "delta": 1e-6}, "rho must be"),
    "rho that is no number": ({"rho": math.nan, "delta": 1e-6}, "rho must be"),
    "an empty curve": ({"curve": [], "delta": 1e-6}, "1 to 1,000 points"),
    "a curve that is a number": ({"curve": 0.5, "delta": 1e-6}, "1 to 1,000 points"),
    "a curve of numbers": ({"curve": [0.5, 1e-6], "delta": 1e-6}, "1 to 1,000 points"),
    "a curve that rises": ({"curve": [(0.5, 1e-6), (1.0, 1e-3)], "delta": 1e-3}, "no delta is"),
    "a curve above its delta": ({"curve": [(0.5, 1e-3)], "delta": 1e-6}, "reaches no delta"),
    "a relation of networks": ({"epsilon": 0.5, "relation": Relation.CONCEAL}, "add-remove"),
    "an unknown relation": ({"epsilon": 0.5, "relation": "bounded"}, "add-remove"),
    "no tool": ({"epsilon": 0.5, "tool": " "}, "tool is a text"),
    "no reason": ({"epsilon": 0.5, "why": ""}, "why is a text"),
    "a version that is a number": ({"epsilon": 0.5, "version": 12}, "version is a text"),
    "a reference with an escape": ({"epsilon": 0.5, "reference": "\x1b[2J"}, "reference is a text"),
    "no population": ({"epsilon": 0.5, "population": ""}, "population is a text"),
    "a population that is None": ({"epsilon": 0.5, "population": None}, "population is a text"),
    "a population easily taken for another": ({"epsilon": 0.5, "population": "Residents"}, "easily taken for"),
}


@for_each("name", WRONG)
def test_what_is_no_statement_is_refused_in_a_sentence_and_nothing_is_recorded(name: str, tmp_path: Path) -> None:
    given, words = WRONG[name]
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    ledger.begin(spending())
    with pytest.raises((InvalidInput, Refused)) as caught:
        ledger.record(**{"population": "residents", **ADD, **given})
    assert words in caught.value.message
    assert "\n" not in str(caught.value)
    assert caught.value.where
    assert len(ledger.entries()) == 1


def test_an_edited_statement_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create(path).record("residents", **ADD, epsilon=0.5)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER IF EXISTS records_are_never_changed")
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("UPDATE records SET body = replace(body, '0.5', '0.1')")
    with pytest.raises(DoesNotVerify):
        Ledger(path).entries()


def test_the_command_records_and_every_list_marks_it(tmp_path: Path) -> None:
    def run(*command: object) -> str:
        done = crowdblend("ledger", *command, "--ledger", "ledger.db", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert crowdblend("ledger", "init", "ledger.db", folder=tmp_path).returncode == 0
    tool = ("--tool", "OpenDP", "--tool-version", "0.12", "--by", "ann", "--relation", "add-remove")
    said = run("record", "residents", *tool, "--why", "a count", "--epsilon", "0.5", "--delta", "1e-6")
    assert said == "Entry 1 about residents: stated by ann, not derived: OpenDP 0.12, a count.\n"
    document = json.loads(run("record", "residents", *tool, "--why", "x", "--rho", "0.1", "--delta", "1e-6", "--json"))
    assert (document["id"], document["status"]) == (2, "stated")
    points = ("--point", "0.5", "1e-3", "--point", "1", "1e-6", "--delta", "1e-6")
    assert "Entry 3" in run("record", "residents", *tool, "--why", "x", *points)
    assert run("list").count("stated") == 3
    shown = run("show", "1")
    assert "stated by ann, not derived: OpenDP 0.12" in shown
    assert "counts as spent" in shown
    assert "folder" not in shown
    budget = run("budget")
    assert "stated    1, 2, 3, by people and not derived" in budget
    assert Assumption.STATED_LOSSES.value in budget
    assert json.loads(run("budget", "--json"))["budgets"][0]["stated"] == [1, 2, 3]
    limited = run("limit", "residents", "--epsilon", "9", "--delta", "1e-4")
    assert "residents" in limited
    assert "3 of other tools, stated and not derived" in run("budget")


@for_each(
    "options",
    [
        ("--epsilon", "0.5"),  # no relation
        ("--epsilon", "0.5", "--rho", "0.1", "--relation", "replace"),
        ("--epsilon", "-1", "--relation", "replace"),
        ("--epsilon", "nan", "--relation", "replace"),
        ("--relation", "replace"),
        ("--epsilon", "1", "--relation", "conceal"),
    ],
)
def test_a_command_that_states_nothing_sound_is_refused_in_one_line(options: tuple[str, ...], tmp_path: Path) -> None:
    assert crowdblend("ledger", "init", "ledger.db", folder=tmp_path).returncode == 0
    given = ("--tool", "x", "--why", "y", "--ledger", "ledger.db")
    done = crowdblend("ledger", "record", "residents", *given, *options, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("crowdblend: ")
    assert done.stderr.count("\n") == 1

"""`crowdblend attack` keeps the contract of the command line."""

import json
from pathlib import Path

import pytest

from crowdblend.lab.attacks import ATTACKS, attack
from crowdblend.methods.mechanisms import SuppressedHistogram
from tests.cases import for_each
from tests.commands import crowdblend
from tests.lab.attacks.test_repairs import everything


def test_without_a_name_it_lists() -> None:
    code, out, _ = crowdblend("attack")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(ATTACKS)
    code, out, _ = crowdblend("attack", "--json")
    assert code == 0
    assert json.loads(out)["attacks"] == ATTACKS


@for_each("name", ATTACKS)
def test_every_attack_tells_its_story(name: str) -> None:
    code, out, err = crowdblend("attack", name, "--runs", "0")
    assert (code, err) == (0, "")
    assert attack(name).title in out
    assert "The unsafe release is broken. Ours stays within its guarantee" in out


def test_all_of_them_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the other commands that list, show one and show all do; one that fails is enough for exit code 1."""
    some = {name: ATTACKS[name] for name in ("duplicate", "xor")}
    monkeypatch.setattr("crowdblend.cli.attack.ATTACKS", some)
    code, out, err = crowdblend("attack", "all", "--runs", "0")
    assert (code, err) == (0, "")
    assert all(attack(name).title in out for name in some)
    outcomes = json.loads(crowdblend("attack", "all", "--runs", "0", "--json").stdout)["outcomes"]
    assert [one["name"] for one in outcomes] == list(some)
    assert crowdblend("attack", "all", "--plot", "all.svg").returncode == 2
    monkeypatch.setattr("crowdblend.lab.attacks.trial.Finding.ours_hold", False)
    assert crowdblend("attack", "all", "--runs", "0").returncode == 1


def test_json_is_one_object_with_both_numbers() -> None:
    code, out, _ = crowdblend("attack", "duplicate", "--runs", "200", "--json")
    assert code == 0
    outcome = json.loads(out)
    sampled = outcome["trials"][1]
    assert sampled["exact"]["advantage"] == 0.25
    assert sampled["seen"]["runs"] == 200
    assert sampled["seen"]["with_between"][0] <= 0.25 <= sampled["seen"]["with_between"][1]
    assert sampled["broken"] is True
    assert outcome["trials"][-1]["ours"] is True
    assert outcome["ours_hold"] is True


def test_plot(tmp_path: Path) -> None:
    target = tmp_path / "figure.svg"
    assert crowdblend("attack", "minimality", "--runs", "0", "--plot", target).returncode == 0
    assert "hepatitis" in target.read_text(encoding="utf-8")
    assert crowdblend("attack", "minimality", "--runs", "0", "--plot", target).returncode == 2


@for_each(
    ("arguments", "named"),
    [(["guesswork"], "composition"), (["xor", "--runs", "-1"], "runs"), (["xor", "--runs", "ten"], "runs")],
)
def test_wrong_use(arguments: list[str], named: str) -> None:
    code, out, err = crowdblend("attack", *arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert len(err.strip().splitlines()) == 1


def test_a_leak_of_ours_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SuppressedHistogram, "publish", everything)
    # One in four runs shows the person, and 77 of 1,000 would do.
    code, out, _ = crowdblend("attack", "duplicate", "--runs", "1000")
    assert code == 1
    assert "OURS GAVE AWAY MORE" in out

"""`crowdblend audit`: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench import audit_power
from crowdblend.cli.main import cli
from tests.cases import for_each
from tests.lab.rehearsal.families import FAMILIES

MECHANISMS = """
from fractions import Fraction
from random import random
from crowdblend.lab.auditing.exact.definitions import ExactClaim
from crowdblend.lab.auditing.exact.distributions import World
from crowdblend.lab.auditing.statistical.subject import BlackBox, Neighbours
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation

def everything(table):
    return {table: Fraction(1)}

def response(answer):
    return answer if random() < 0.75 else 1 - answer

pair = (Neighbours("yes, and no", 1, 0),)
exact = ExactClaim(CrowdBlending(2, 0.0), everything, World(("A", "B"), 3))
fine = BlackBox("randomized response", Differential(1.1, 0.0, Relation.REPLACE), response, pair)
broken = BlackBox("randomized response", Differential(0.5, 0.0, Relation.REPLACE), response, pair)
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *arguments])


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.toml"
    path.write_text(FAMILIES["suppressed table"].policy)
    return str(path)


def test_a_policy_that_keeps_its_promise(policy: str) -> None:
    short = ("--runs", "1000", "--people", "20", "--workers", "1", "--batch", "--error", "1e-7")
    done = run(policy, *short, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["finding"], found["subject"]) == (0, False, "policy.toml")
    assert found["error"] == 1e-7
    assert found["outlook"]["runs"] == 1_000
    assert 0 < found["outlook"]["smallest_leak"] < 1


def test_a_policy_that_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the true ε. One person alone shows up with probability 0.47, and an empty cell with 0.06: in the last
    round that is more than ten standard deviations beyond the claim, so a miss has a probability far below 1e-6."""
    monkeypatch.setattr("crowdblend.lab.auditing.statistical.subject.hard_sizes", lambda *_: {"alone": 1})
    path = tmp_path / "noise.toml"
    path.write_text(FAMILIES["noise below k, flagged"].policy)
    done = run(str(path), "--runs", "8000", "--people", "20", "--workers", "1", "--understate", "10", "--batch")
    assert done.exit_code == 1
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("outlook      in about ")
    assert second.startswith("audited      noise.toml")
    assert "FINDING: epsilon is at least" in done.stdout
    assert "wrong with probability at most 0.001" in done.stdout


def test_the_same_release_at_another_epsilon(policy: str) -> None:
    short = ("--runs", "1000", "--people", "20", "--workers", "1", "--batch", "--error", "1e-7")
    done = run(policy, *short, "--epsilon", "0.4", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["epsilon"]) == (0, 0.4)
    assert found["delta"] > 0.15, "less epsilon, more delta"


def test_mechanisms_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.py").write_text(MECHANISMS)
    monkeypatch.chdir(tmp_path)
    exact = run("--mechanism", "ours:exact")
    assert exact.exit_code == 1
    assert exact.stdout.startswith("guarantee    in the sample, each person blends into a crowd of 2")
    fine = run("--mechanism", "ours:fine", "--runs", "4000", "--error", "1e-6", "--workers", "1")
    assert (fine.exit_code, "no finding" in fine.stdout) == (0, True)
    broken = run("--mechanism", "ours:broken", "--runs", "8000", "--workers", "1", "--json")
    assert (broken.exit_code, json.loads(broken.stdout)["finding"]) == (1, True)
    other = run("--mechanism", "ours:pair", "--runs", "4000")
    assert other.exit_code == 2
    assert "no claim and no subject" in other.stderr


@for_each(
    ("arguments", "says"),
    [
        ([], "one of POLICY and --mechanism"),
        (["x.toml", "--mechanism", "json:dumps"], "one of POLICY and --mechanism"),
        (["x.toml", "--understate", "0.5"], "--understate takes a number of at least 1, got 0.5"),
        (["x.toml", "--understate", "nan"], "--understate takes a number of at least 1, got nan"),
        (["x.toml", "--understate", "inf"], "--understate takes a number of at least 1, got inf"),
        (["x.toml", "--workers", "0"], "--workers takes a number of at least 1, got 0"),
        (["x.toml", "--workers", "-1"], "--workers takes a number of at least 1, got -1"),
        (["x.toml", "--people", "1"], "--people takes a number of at least 2, got 1"),
        (["--mechanism", "json:dumps", "--understate", "2"], "--understate plays no part in this audit"),
        (["--mechanism", "json:dumps", "--epsilon", "2"], "--epsilon plays no part in this audit"),
        (["--mechanism", "json:dumps", "--people", "20"], "--people plays no part in this audit"),
        (["x.toml", "--time", "9", "--runs", "2000"], "--time plays no part in this audit"),
        (["x.toml", "--time", "0"], "--time takes a number of at least 1, got 0"),
        (["--mechanism", "nowhere:nothing"], "cannot be imported"),
        (["--mechanism", "json"], "cannot be imported"),
        (["missing.toml"], "cannot be read"),
    ],
)
def test_wrong_use(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert says in done.stderr


def test_injected_bugs_are_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["audit_power", "--injected", "--family", "bare counts", "--runs", "20000"]
    monkeypatch.setattr("sys.argv", asked)
    with pytest.raises(SystemExit) as left:
        audit_power.main()
    assert left.value.code == 0, "a mistake that is found is a success here"
    (row,) = json.loads(capsys.readouterr().out)["families"]
    assert (row["findings"], row["mistake"]) == (1, "counts in groups have no noise")

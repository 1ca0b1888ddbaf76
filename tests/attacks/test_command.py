"""`crowdblend attack` keeps the contract of the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from crowdblend.attacks import ATTACKS, attack
from crowdblend.cli import main as entry
from crowdblend.mechanisms import PublishedClasses, SampledClasses, SuppressedHistogram


def crowdblend(*arguments: str) -> int:
    """Run the command in this process and return its exit code."""
    sys.argv = ["crowdblend", *arguments]
    with pytest.raises(SystemExit) as left:
        entry.main()
    return int(left.value.code or 0)


@pytest.fixture(autouse=True)
def _argv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)


def test_without_a_name_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdblend("attack") == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(ATTACKS)
    assert crowdblend("attack", "--json") == 0
    assert json.loads(capsys.readouterr().out)["attacks"] == ATTACKS


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_tells_its_story(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdblend("attack", name, "--runs", "0") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert attack(name).title in out
    assert "The unsafe release is broken. Ours stays within its guarantee" in out


def test_json_is_one_object_with_both_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdblend("attack", "duplicate", "--runs", "200", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    sampled = told["trials"][1]
    assert sampled["exact"]["advantage"] == 0.25
    assert sampled["seen"]["runs"] == 200
    assert sampled["seen"]["with_between"][0] <= 0.25 <= sampled["seen"]["with_between"][1]
    assert sampled["broken"] is True
    assert told["trials"][-1]["ours"] is True
    assert told["ours_hold"] is True


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "figure.svg"
    assert crowdblend("attack", "minimality", "--runs", "0", "--plot", str(target)) == 0
    assert "hepatitis" in target.read_text(encoding="utf-8")
    assert crowdblend("attack", "minimality", "--runs", "0", "--plot", str(target)) == 2
    assert "must not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["guesswork"], "composition"), (["xor", "--runs", "-1"], "runs"), (["xor", "--runs", "ten"], "runs")],
)
def test_wrong_use(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdblend("attack", *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err
    assert len(err.strip().splitlines()) == 1


def test_a_leak_of_ours_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def everything(self: SuppressedHistogram, sample: SampledClasses) -> PublishedClasses:
        return PublishedClasses(sample.columns, sample.labels, sample.codes, sample.counts)

    monkeypatch.setattr(SuppressedHistogram, "publish", everything)
    assert crowdblend("attack", "duplicate", "--runs", "400") == 1
    assert "OURS GAVE AWAY MORE" in capsys.readouterr().out

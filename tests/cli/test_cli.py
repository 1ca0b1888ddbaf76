"""The command line keeps its contract: exit codes, one JSON object, nothing heavy loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import crowdblend

PLAN = ["plan", "--rate", "0.1", "--k", "20", "--epsilon", "0.5"]


def test_plan_prints_one_json_object() -> None:
    done = crowdblend(*PLAN, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert {"k", "rate", "epsilon", "delta", "rule", "bounds"} <= set(document)
    assert document["delta"] == document["bounds"]["exact"] == 2.631783466225066e-11
    assert document["rule"] == "suppression.exact"


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["plan", "--rate", "1.2", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "nan", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "ten", "--k", "3", "--epsilon", "1"], 2, "rate"),
        (["plan", "--rate", "0.1", "--k", "2.5", "--epsilon", "1"], 2, "k"),
        (["plan", "--rate", "0.1", "--k", "0", "--epsilon", "1"], 2, "k"),
        (["plan", "--rate", "0.1", "--k", "3", "--epsilon", "-1"], 2, "epsilon"),
        (["plan", "--rate", "0.1", "--k", "3"], 2, "exactly one"),
        (["plan", "--rate", "0.1", "--k", "3", "--delta", "1e-9"], 1, "delta"),
        (["plan", "--bogus"], 2, "bogus"),
        ([*PLAN, "--values", "1,x"], 2, "values"),
        ([*PLAN, "--values", "nan"], 2, "epsilon"),
        ([*PLAN, "--over", "k", "--values", "20.7"], 2, "k"),
        ([*PLAN, "--over", "delta"], 2, "could be varied"),
        ([*PLAN, "--plot", "figure.gif"], 2, "gif"),
        (["verify", "missing.json"], 2, "missing.json"),
        (["reproduce", "lqs-table9"], 2, "lqs-table2"),
        (["reproduce", "lqs-table1", "--plot", "x.svg"], 2, "table"),
        (["rules", "suppression.exat"], 2, "suppression.exact"),
        (["nonsense"], 2, "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_refusals(arguments: list[str], code: int, named: str) -> None:
    done = crowdblend(*arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("crowdblend: ")
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    as_json = crowdblend(*arguments, "--json")
    assert as_json.returncode == code
    error = json.loads(as_json.stdout)["error"]
    assert named in f"{error['message']} {error['remedy']}"


def test_certificate_to_stdout_and_verify_from_stdin(tmp_path: Path) -> None:
    certificate = crowdblend(*PLAN, "--certificate", "-").stdout
    assert json.loads(certificate)["format"] == "crowdblend certificate 1"
    verified = crowdblend("verify", "-", stdin=certificate)
    assert verified.returncode == 0
    assert "zero-knowledge" in verified.stdout
    forged = crowdblend("verify", "-", stdin=certificate.replace("2.63178", "1.63178"))
    assert forged.returncode == 1
    assert forged.stdout == ""


def test_stdout_takes_one_object() -> None:
    refused = crowdblend(*PLAN, "--certificate", "-", "--json")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["error"]["code"] == "command.two-outputs"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rate", "0.1", "--k", "20", "--epsilon", "1", "--blend-epsilon", "0.5"], "up to a factor e^0.5"),
        (["--rate", "0.1", "--k", "20", "--epsilon", "1", "--below-k", "noise"], "noise of loss"),
        (["--rate", "0.1", "--epsilon", "1", "--delta", "0.1"], "no more than sampling alone"),
        (
            [
                *("--low", "0.08", "--high", "0.12", "--exceptions", "2", "--max-rate", "0.2"),
                *("--epsilon", "1", "--delta", "1e-6"),
            ],
            "2 people excepted, only crowds of 17 or more are published: whatever is published, its probability is at "
            "most e^1 times what it would be without a person sampled with a probability of at most 0.2, plus 1e-06",
        ),
    ],
)
def test_the_sentence_fits_the_plan(options: list[str], said: str) -> None:
    assert said in crowdblend("plan", *options).stdout


def test_existing_output_is_kept_without_force(tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    assert crowdblend(*PLAN, "--certificate", str(target)).returncode == 0
    before = target.read_bytes()
    refused = crowdblend(*PLAN[:-1], "0.6", "--certificate", str(target))
    assert refused.returncode == 2
    assert target.read_bytes() == before
    assert crowdblend(*PLAN[:-1], "0.6", "--certificate", str(target), "--force").returncode == 0
    assert target.read_bytes() != before


def test_plots_and_tables(tmp_path: Path) -> None:
    figure = tmp_path / "plan.svg"
    assert crowdblend(*PLAN, "--plot", str(figure)).returncode == 0
    assert figure.read_text(encoding="utf-8").startswith("<svg")
    table = crowdblend(*PLAN, "--table", "--over", "k", "--values", "10,20")
    assert "published" in table.stdout


def test_reproduce_and_rules() -> None:
    rows = json.loads(crowdblend("reproduce", "lqs-table2", "--json").stdout)["rows"]
    assert len(rows) == 18
    assert all(row["digits match"] for row in rows)
    assert "why:" in crowdblend("rules", "suppression.exact").stdout

"""What the data are is asked first, and every answer says what it costs in people of error."""

import math
from pathlib import Path

import pytest

from crowdblend.methods.planning.designs import register_error, sampling_error
from crowdblend.notation import TOML, spell
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import publication_class
from crowdblend.policies.sampling import DESIGNS
from tests.cases import for_each
from tests.commands import crowdblend


def test_a_plan_of_a_sample_says_what_a_register_would_cost() -> None:
    said = crowdblend("plan", "--rate", 0.5, "--epsilon", 1, "--delta", "1e-6").stdout
    assert "off by up to 62 people (95 %)" in said
    assert "fewer than about 70 people" in said
    assert "off by up to 4 people" in said
    # Three tables of a register share epsilon as three parts of a sample do.
    parts = crowdblend("plan", "--rate", 0.5, "--epsilon", 1, "--delta", "1e-6", "--parts", 3).stdout
    assert f"off by up to {register_error(1 / 3)} people" in parts


def test_the_errors_are_those_of_the_laws() -> None:
    a = math.exp(-0.7)
    within = {most: sum((1 - a) / (1 + a) * a ** abs(y) for y in range(-most, most + 1)) for most in range(20)}
    # Each end of the interval is missed 25 times in 1,000 at most.
    assert 0 <= register_error(0.7) - min(most for most, mass in within.items() if mass >= 0.95) <= 1
    people, rate = 1_000, 0.3
    mass = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
    near = sum(p for j, p in enumerate(mass) if abs(j / rate - people) <= sampling_error(rate))
    assert near == pytest.approx(0.95, abs=0.005)


@for_each("answer", ("poisson", "coins", "everybody"))
def test_init_asks_at_a_terminal(answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("id,sex,age\n1,f,3\n")
    monkeypatch.setattr("crowdblend.cli.init.at_a_terminal", lambda: True)
    finished = crowdblend("init", "people.csv", "--person", "id", stdin=f"{answer}\n", folder=tmp_path)
    assert finished.returncode == 0
    offered = [DESIGNS[name] for name in publication_class("table").designs]
    assert all(one.words in finished.stderr and spell(one.meaning, TOML) in finished.stderr for one in offered)
    assert "off by up to 4 people" in finished.stderr
    text = (tmp_path / "policy.toml").read_text().replace('["FILL_IN"], whole', "[0, 9], whole")
    text = text.replace('["FILL_IN"]', '["x"]').replace('"FILL_IN"', "0.1")
    policy = parse_policy(text, tmp_path)
    assert policy.sampling.design == answer

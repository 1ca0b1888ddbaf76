"""Policies made in Python, in TOML, and read back are equal, for every kind and every example."""

from pathlib import Path
from typing import Any

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.policies.load import parse_policy
from tests.cases import for_each
from tests.golden.releases import POLICIES
from tests.refusals import refuses

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
COMMON: dict[str, Any] = {"person": "id", "epsilon": 1.0}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example(path: Path, tmp_path: Path) -> None:
    try:
        policy = cb.load_policy(path)
    except InvalidInput as problem:
        if "hierarchy" in problem.message:
            pytest.skip("the public table of this example is not beside the checkout")
        raise
    policy.save(tmp_path / "policy.toml")
    assert cb.load_policy(tmp_path / "policy.toml") == policy


@for_each("name", POLICIES)
def test_every_kind(name: str, tmp_path: Path) -> None:
    policy = parse_policy(POLICIES[name], tmp_path)
    policy.save(tmp_path / "policy.toml")
    assert cb.load_policy(tmp_path / "policy.toml") == policy


def test_decimals_are_what_they_look_like() -> None:
    columns = {"x": cb.intervals(0.1, 0.7, width=0.2)}
    policy = cb.Policy(columns=columns, sampling=cb.Poisson(0.5), delta=1e-6, publish=cb.Table(), **COMMON)
    assert policy.columns[0].recoding.size == 3


def test_wrong_days_are_refused() -> None:
    with refuses("policy.type"):
        cb.date("year", "last year", "2030-01-01")

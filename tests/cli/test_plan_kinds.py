"""`crowdblend plan` for points and for outlier-private tables."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from crowdblend.cli.main import cli

TARGET = ["--rate", "0.1", "--epsilon", "1", "--delta", "1e-6"]


def planned(*arguments: str) -> dict:
    result = CliRunner().invoke(cli, ["plan", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_points_need_smaller_crowds_than_crowds_in_general() -> None:
    found = planned("--kind", "points", "--noise-epsilon", "1", *TARGET)
    assert found["rule"] == "points.sampled"
    assert found["bounds"]["shuffled"] == found["k"] < found["bounds"]["sharp"] < found["bounds"]["blending"]


def test_the_weakest_noise_keeps_the_promise() -> None:
    found = planned("--kind", "points", "--k", "20", *TARGET)
    assert found["delta"] <= 1e-6
    assert (
        planned("--kind", "points", "--k", "20", "--rate", "0.1", "--epsilon", "1", "--noise-epsilon", "2.0")["delta"]
        > 1e-6
    )
    assert found["noise_epsilon"] < 2.0


def test_the_transition_of_an_outlier_table() -> None:
    found = planned("--limit", "100", "--epsilon", "0.2", "--delta", "1e-6")
    again = planned("--limit", "100", "--epsilon", "0.2", "--transition", str(found["transition"]))
    assert again["delta"] <= 1e-6
    assert again["solved"] == "delta"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--kind", "points", *TARGET], "noise_epsilon"),
        (["--limit", "100", "--epsilon", "0.2"], "unset"),
        (["--limit", "100", "--delta", "1e-6"], "limit and epsilon"),
        (["--limit", "100", "--epsilon", "0.2", "--delta", "1e-6", "--k", "5"], "Leave k out"),
        (["--limit", "100", "--epsilon", "0.2", "--delta", "1e-6", "--table"], "sweeps"),
        (["--factor", "2", "--epsilon", "0.2", "--delta", "1e-6"], "limit and epsilon"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: list[str], why: str) -> None:
    result = CliRunner().invoke(cli, ["plan", *arguments])
    assert result.exit_code == 2
    assert why in str(result.output) + str(result.exception)

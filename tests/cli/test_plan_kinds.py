"""`crowdblend plan` for points, outlier-private tables, statistics and graphs."""

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


@pytest.mark.parametrize("statistic", ["fraction", "average", "median", "histogram"])
def test_one_of_sample_epsilon_and_error_is_solved_for(statistic: str) -> None:
    asked = ["--kind", "statistics", "--people", "100000", "--statistic", statistic]
    found = planned(*asked, "--sample", "4000", "--epsilon", "1")
    assert found["solved"] == "error"
    fewest = planned(*asked, "--epsilon", "1", "--error", str(found["error"]))
    assert fewest["sample"] <= 4000
    assert fewest["error"] <= found["error"]
    least = planned(*asked, "--sample", "4000", "--error", str(found["error"]))
    assert least["epsilon"] <= 1.0 + 1e-5


def test_a_plan_of_statistics_is_what_the_policy_gets() -> None:
    from crowdblend.kinds import plan
    from crowdblend.policies import parse_policy

    found = planned("--kind", "statistics", "--people", "5000", "--sample", "700", "--epsilon", "0.8")
    policy = (
        '[data]\nsource = "x.csv"\nperson = "id"\npeople = 5000\n[sampling]\nsample = 700\n[columns]\n'
        'sex = { values = ["f", "m"] }\n[release]\nkind = "statistics"\nepsilon = 0.8\n'
        '[[statistics]]\nname = "f"\nfraction = { sex = "f" }\n'
    )
    assert plan(parse_policy(policy)).parameters.error(0) == found["error"]


def test_a_graph_is_planned_from_two_of_three() -> None:
    asked = ["--kind", "graph", "--people", "20000", "--degree-bound", "10", "--statistic", "average-degree"]
    found = planned(*asked, "--sample", "4000", "--epsilon", "2")
    assert found["solved"] == "error"
    again = planned(*asked, "--epsilon", "2", "--error", str(found["error"]))
    assert again["sample"] <= 4000
    result = CliRunner().invoke(cli, ["plan", *asked, "--sample", "4000", "--epsilon", "2"])
    assert "20,000 people" in result.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--kind", "statistics", "--sample", "9", "--epsilon", "1"], "how many people"),
        (["--kind", "statistics", "--people", "90", "--epsilon", "1"], "exactly one"),
        (["--kind", "statistics", "--people", "90", "--sample", "9", "--epsilon", "1", "--rate", "0.1"], "rate"),
        (["--kind", "statistics", "--people", "90", "--sample", "9", "--epsilon", "1", "--statistic", "x"], "fraction"),
        (["--kind", "graph", "--people", "90", "--sample", "9", "--epsilon", "1"], "degree-bound"),
        (["--people", "90", *TARGET], "belongs to plans of statistics"),
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

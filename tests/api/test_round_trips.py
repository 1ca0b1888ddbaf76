"""Policies made in Python, in TOML, and read back are equal, for every kind and every example."""

from __future__ import annotations

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
LEVELS = "a;x;all\nb;x;all\nc;y;all\n"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example(path: Path, tmp_path: Path) -> None:
    try:
        policy = cb.load_policy(path)
    except InvalidInput as problem:
        if "hierarchy" in problem.message:
            pytest.skip("the public table of this example is not beside the checkout")
        raise
    policy.to_toml(tmp_path / "policy.toml")
    assert cb.load_policy(tmp_path / "policy.toml") == policy


@for_each("name", POLICIES)
def test_every_kind(name: str, tmp_path: Path) -> None:
    policy = parse_policy(POLICIES[name], tmp_path)
    policy.to_toml(tmp_path / "policy.toml")
    assert cb.load_policy(tmp_path / "policy.toml") == policy


def in_python(folder: Path) -> dict[str, Any]:
    (folder / "levels.csv").write_text(LEVELS)
    columns = {
        "sex": cb.values("f", "m", other="x", missing="?"),
        "age": cb.intervals(0, 100, width=[10, 20], bottom=True, top=True, weight=2.0),
        "share": cb.intervals(0.1, 0.7, width=0.2),
        "income": cb.breaks(0, 0.1, 25_000, top=True),
        "zip": cb.prefix(3, missing="?"),
        "born": cb.date("year", "1900-01-01", "2030-01-01"),
        "seen": cb.date("week"),
        "letter": cb.hierarchy(folder / "levels.csv", levels=[0, 1]),
    }
    several = {"columns": columns, "delta": 1e-6, "sampling": cb.Sampling(rate=0.5), **COMMON}
    plain = {"columns": {"sex": cb.values("f", "m")}, **COMMON}
    exactly = {**plain, "people": 1000, "sampling": cb.ExactSample(sample=100)}
    return {
        "table": cb.Table(**several, recoding=cb.Choosing(epsilon=0.1, using="split")),
        "tables": cb.Table(
            columns={"sex": cb.values("f", "m"), "zip": cb.prefix(3)},
            **{**COMMON, "delta": 1e-6, "sampling": cb.Sampling(rate=0.1, low=0.08, high=0.12, exceptions=2)},
            tables=[cb.NamedTable(name="sexes", columns=["sex"])],
        ),
        "microdata": cb.Microdata(**{**several, "columns": {"born": cb.date("month")}}),
        "points": cb.Points(
            columns={
                "x": cb.axis(0, 10, resolution=0.1, width=1),
                "y": cb.axis(0, 5, resolution=0.5, width=1, outside="drop"),
            },
            sampling=cb.Sampling(rate=0.5), k=60, noise_epsilon=1.0, **COMMON,
        ),
        "outlier-table": cb.OutlierTable(**{**plain, "delta": 1e-5}, limit=100),
        "statistics": cb.Statistics(
            **{**exactly, "columns": {"sex": cb.values("f", "m"), "pay": cb.bounds(0, 10, resolution=0.5, blank=0)}},
            statistics=[cb.Statistic(name="pay", average="pay")],
        ),
        "synopsis": cb.Synopsis(**exactly, conjunctions=1),
        "graph": cb.Graph(
            graph=cb.Links(people=100, degree_bound=5),
            statistics=[cb.GraphStatistic(name="connectivity", samples=50)],
            epsilon=8.0,
        ),
    }  # fmt: skip


def test_policies_made_in_python(tmp_path: Path) -> None:
    for name, policy in in_python(tmp_path).items():
        path = tmp_path / f"{name}.toml"
        text = policy.to_toml(path)
        assert cb.load_policy(path) == policy, text


def test_decimals_are_what_they_look_like() -> None:
    labels = cb.Table(
        columns={"x": cb.intervals(0.1, 0.7, width=0.2)}, sampling=cb.Sampling(rate=0.5), delta=1e-6, **COMMON
    ).columns[0].recoding  # fmt: skip
    assert labels.size == 3


def test_wrong_days_are_refused() -> None:
    with refuses("policy.type"):
        cb.date("year", "last year", "2030-01-01")

"""For every kind, what somebody chooses field by field, and the policy that says the same in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import crowdblend as cb
from crowdblend.studio.model.choices import Choices, settled, start, with_design

SEX = {"way": "values", "values": "female\nmale"}
AGE = {"way": "width", "from": "0", "to": "90", "width": "10", "top": "true"}
PEOPLE = {"source": "town.parquet", "person": "person_id", "population": "town"}


def _people(kind: str) -> Choices:
    return start(kind).with_texts("data", PEOPLE).with_column("sex", SEX).with_column("age", AGE)


COLUMNS: dict[str, Any] = {"sex": cb.values("female", "male"), "age": cb.intervals(0, 90, width=10, top=True)}
DRAWN: dict[str, Any] = {"sampling": cb.Sampling(rate=0.1), "delta": 1e-6}
EAST = {"way": "resolution", "from": "-10", "to": "10", "resolution": "0.1", "width": "2"}


def _made(make: Callable[..., Any], **given: Any) -> Callable[[Path], Any]:
    """The policy of a kind about the town, with epsilon 1 and both columns unless others are given."""
    told = {"person": "person_id", "population": "town", "columns": COLUMNS, "epsilon": 1, **given}
    return lambda folder: make(source=str(folder / "town.parquet"), **told)


Case = tuple[Choices, Callable[[Path], Any]]

CASES: dict[str, Case] = {
    "table": (
        _people("table").with_texts("release", {"delta": "1e-6", "epsilon": "0.5"}),
        _made(cb.Table, **DRAWN, epsilon=0.5),
    ),
    "a sample that was taken": (
        with_design(_people("table"), "sample").with_texts("sampling", {"rate": "0.25"}),
        _made(cb.Table, sampling=cb.Sampling(rate=0.25, already_drawn=True), delta=1e-6),
    ),
    "register": (
        with_design(_people("table"), "everybody"),
        _made(cb.Table, sampling=cb.Sampling(everybody=True)),
    ),
    "strata": (
        settled(_people("table").with_texts("sampling", {"stratum": "sex", "rates": "female = 0.1\nmale = 0.5"})),
        _made(cb.Table, sampling=cb.Sampling(stratum="sex", rates={"female": 0.1, "male": 0.5}), delta=1e-6),
    ),
    "design weights": (
        with_design(_people("table"), "sample")
        .with_texts("sampling", {"weight": "income"})
        .with_column("income", {"way": "breaks", "breaks": "100, 200, 400"}),
        _made(
            cb.Table,
            sampling=cb.Sampling(weight="income", already_drawn=True),
            columns={**COLUMNS, "income": cb.breaks(100, 200, 400)},
            delta=1e-6,
        ),
    ),
    "several tables": (
        _people("table").with_list(
            "tables",
            [
                {"name": "fine", "columns": "sex\nage", "share": "0.7"},
                {"name": "by_sex", "columns": "sex", "share": "0.3"},
                {"name": "", "columns": ""},
            ],
        ),
        _made(
            cb.Table,
            **DRAWN,
            tables=(cb.NamedTable("fine", ("sex", "age"), 0.7), cb.NamedTable("by_sex", ("sex",), 0.3)),
        ),
    ),
    "microdata": (
        _people("microdata")
        .with_column("age", {**AGE, "top": "", "width": "10 30, 90"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population", "show_epsilon": "0.05"}),
        _made(
            cb.Microdata,
            **DRAWN,
            columns={**COLUMNS, "age": cb.intervals(0, 90, width=[10, 30, 90])},
            recoding=cb.Choosing(epsilon=0.1, using="population", show_epsilon=0.05),
        ),
    ),
    "dates to choose from": (
        _people("microdata")
        .with_column("born", {"way": "date", "date": "month, year", "from": "1900-01-01", "to": "2030-01-01"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population"}),
        _made(
            cb.Microdata,
            **DRAWN,
            columns={**COLUMNS, "born": cb.date(["month", "year"], "1900-01-01", "2030-01-01")},
            recoding=cb.Choosing(epsilon=0.1, using="population"),
        ),
    ),
    "points": (
        start("points")
        .with_texts("data", PEOPLE)
        .with_column("sex", SEX)
        .with_column("east", EAST)
        .with_column("north", EAST),
        _made(
            cb.Points,
            **DRAWN,
            columns={
                "sex": COLUMNS["sex"],
                **{name: cb.axis(-10, 10, resolution=0.1, width=2) for name in ("east", "north")},
            },
            noise_epsilon=1,
        ),
    ),
    "outlier-table": (
        _people("outlier-table").with_texts("outliers", {"limit": "200"}),
        _made(cb.OutlierTable, limit=200, delta=1e-6),
    ),
    "statistics": (
        _people("statistics")
        .with_texts("data", {"people": "4000"})
        .with_texts("sampling", {"sample": "1000"})
        .with_column(
            "income", {"way": "resolution", "from": "0", "to": "100000", "resolution": "100", "outside": "clamp"}
        )
        .with_list(
            "statistics",
            [
                {"name": "income", "average": "income"},
                {"name": "women", "fraction": 'sex = "female"'},
                {"name": "ages", "histogram": "age", "where": '{ sex = ["male"] }', "weight": "2"},
                {"name": "usual", "median": "income", "by": "sex"},
                {"name": "all", "sum": "income"},
                {"name": "high", "quantile": "income", "at": "0.9"},
            ],
        ),
        _made(
            cb.Statistics,
            people=4000,
            sampling=cb.ExactSample(sample=1000),
            columns={**COLUMNS, "income": cb.bounds(0, 100_000, resolution=100, outside="clamp")},
            statistics=(
                cb.Statistic(name="income", average="income"),
                cb.Statistic(name="women", fraction={"sex": "female"}),
                cb.Statistic(name="ages", histogram="age", where={"sex": ["male"]}, weight=2),
                cb.Statistic(name="usual", median="income", by=["sex"]),
                cb.Statistic(name="all", sum="income"),
                cb.Statistic(name="high", quantile="income", at=0.9),
            ),
        ),
    ),
    "synopsis": (
        _people("synopsis")
        .with_texts("data", {"people": "4000"})
        .with_texts("sampling", {"sample": "2000"})
        .with_texts("release", {"epsilon": "2"}),
        _made(cb.Synopsis, people=4000, sampling=cb.ExactSample(sample=2000), conjunctions=2, epsilon=2),
    ),
    "graph": (
        start("graph")
        .with_texts("data", {"source": "friends.parquet", "population": "town"})
        .with_texts("graph", {"people": "2000", "degree_bound": "12"})
        .with_list("graph.statistics", [{"name": "average-degree", "samples": "500"}]),
        lambda folder: cb.Graph(
            source=str(folder / "friends.parquet"),
            population="town",
            graph=cb.Links(people=2000, degree_bound=12),
            statistics=(cb.GraphStatistic(name="average-degree", samples=500),),
            epsilon=1,
        ),
    ),
}

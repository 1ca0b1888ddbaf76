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


def _given(folder: Path) -> dict[str, Any]:
    return {"source": str(folder / "town.parquet"), "person": "person_id", "population": "town"}


def _columns() -> dict[str, Any]:
    return {"sex": cb.values("female", "male"), "age": cb.intervals(0, 90, width=10, top=True)}


Case = tuple[Choices, Callable[[Path], Any]]

CASES: dict[str, Case] = {
    "table": (
        _people("table").with_texts("release", {"delta": "1e-6", "epsilon": "0.5"}),
        lambda folder: cb.Table(
            **_given(folder), sampling=cb.Sampling(rate=0.1), columns=_columns(), epsilon=0.5, delta=1e-6
        ),
    ),
    "a sample that was taken": (
        with_design(_people("table"), "sample").with_texts("sampling", {"rate": "0.25"}),
        lambda folder: cb.Table(
            **_given(folder),
            sampling=cb.Sampling(rate=0.25, already_drawn=True),
            columns=_columns(),
            epsilon=1,
            delta=1e-6,
        ),
    ),
    "register": (
        with_design(_people("table"), "everybody"),
        lambda folder: cb.Table(**_given(folder), sampling=cb.Sampling(everybody=True), columns=_columns(), epsilon=1),
    ),
    "strata": (
        settled(_people("table").with_texts("sampling", {"stratum": "sex", "rates": "female = 0.1\nmale = 0.5"})),
        lambda folder: cb.Table(
            **_given(folder),
            sampling=cb.Sampling(stratum="sex", rates={"female": 0.1, "male": 0.5}),
            columns=_columns(),
            epsilon=1,
            delta=1e-6,
        ),
    ),
    "design weights": (
        with_design(_people("table"), "sample")
        .with_texts("sampling", {"weight": "income"})
        .with_column("income", {"way": "breaks", "breaks": "100, 200, 400"}),
        lambda folder: cb.Table(
            **_given(folder),
            sampling=cb.Sampling(weight="income", already_drawn=True),
            columns={**_columns(), "income": cb.breaks(100, 200, 400)},
            epsilon=1,
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
        lambda folder: cb.Table(
            **_given(folder),
            sampling=cb.Sampling(rate=0.1),
            columns=_columns(),
            tables=(cb.NamedTable("fine", ("sex", "age"), 0.7), cb.NamedTable("by_sex", ("sex",), 0.3)),
            epsilon=1,
            delta=1e-6,
        ),
    ),
    "microdata": (
        _people("microdata")
        .with_column("age", {**AGE, "top": "", "width": "10 30, 90"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population", "show_epsilon": "0.05"}),
        lambda folder: cb.Microdata(
            **_given(folder),
            sampling=cb.Sampling(rate=0.1),
            columns={"sex": cb.values("female", "male"), "age": cb.intervals(0, 90, width=[10, 30, 90])},
            recoding=cb.Choosing(epsilon=0.1, using="population", show_epsilon=0.05),
            epsilon=1,
            delta=1e-6,
        ),
    ),
    "dates to choose from": (
        _people("microdata")
        .with_column("born", {"way": "date", "date": "month, year", "from": "1900-01-01", "to": "2030-01-01"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population"}),
        lambda folder: cb.Microdata(
            **_given(folder),
            sampling=cb.Sampling(rate=0.1),
            columns={**_columns(), "born": cb.date(["month", "year"], "1900-01-01", "2030-01-01")},
            recoding=cb.Choosing(epsilon=0.1, using="population"),
            epsilon=1,
            delta=1e-6,
        ),
    ),
    "points": (
        start("points")
        .with_texts("data", PEOPLE)
        .with_column("sex", SEX)
        .with_column("east", {"way": "resolution", "from": "-10", "to": "10", "resolution": "0.1", "width": "2"})
        .with_column("north", {"way": "resolution", "from": "-10", "to": "10", "resolution": "0.1", "width": "2"}),
        lambda folder: cb.Points(
            **_given(folder),
            sampling=cb.Sampling(rate=0.1),
            columns={
                "sex": cb.values("female", "male"),
                "east": cb.axis(-10, 10, resolution=0.1, width=2),
                "north": cb.axis(-10, 10, resolution=0.1, width=2),
            },
            epsilon=1,
            noise_epsilon=1,
            delta=1e-6,
        ),
    ),
    "outlier-table": (
        _people("outlier-table").with_texts("outliers", {"limit": "200"}),
        lambda folder: cb.OutlierTable(**_given(folder), columns=_columns(), limit=200, epsilon=1, delta=1e-6),
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
        lambda folder: cb.Statistics(
            **_given(folder),
            people=4000,
            sampling=cb.ExactSample(sample=1000),
            columns={**_columns(), "income": cb.bounds(0, 100_000, resolution=100, outside="clamp")},
            statistics=(
                cb.Statistic(name="income", average="income"),
                cb.Statistic(name="women", fraction={"sex": "female"}),
                cb.Statistic(name="ages", histogram="age", where={"sex": ["male"]}, weight=2),
                cb.Statistic(name="usual", median="income", by=["sex"]),
                cb.Statistic(name="all", sum="income"),
                cb.Statistic(name="high", quantile="income", at=0.9),
            ),
            epsilon=1,
        ),
    ),
    "synopsis": (
        _people("synopsis")
        .with_texts("data", {"people": "4000"})
        .with_texts("sampling", {"sample": "2000"})
        .with_texts("release", {"epsilon": "2"}),
        lambda folder: cb.Synopsis(
            **_given(folder),
            people=4000,
            sampling=cb.ExactSample(sample=2000),
            columns=_columns(),
            conjunctions=2,
            epsilon=2,
        ),
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

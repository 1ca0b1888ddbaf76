"""For every kind, what somebody chooses field by field, and the policy that says the same in Python."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import crowdblend as cb
from crowdblend.policies.publication import Publication
from crowdblend.studio.model.choices import Choices, start, with_another, with_design

SEX = {"way": "values", "values": "female\nmale"}
AGE = {"way": "width", "from": "0", "to": "90", "width": "10", "top": "true"}
PEOPLE = {"source": "town.parquet", "person": "person_id", "population": "town"}


def _people(kind: str) -> Choices:
    return start(kind).with_texts("data", PEOPLE).with_column("sex", SEX).with_column("age", AGE)


COLUMNS: dict[str, Any] = {"sex": cb.values("female", "male"), "age": cb.intervals(0, 90, width=10, top=True)}
DRAWN: dict[str, Any] = {"sampling": cb.Poisson(0.5), "delta": 1e-6}
EAST = {"way": "resolution", "from": "-10", "to": "10", "resolution": "0.1", "width": "2"}


def _made(publish: Publication | list[Publication], **given: Any) -> Callable[[Path], cb.Policy]:
    """The policy of a publication about the town, with epsilon 1 and both columns unless others are given."""
    told = {"person": "person_id", "population": "town", "columns": COLUMNS, "epsilon": 1, **given}
    return lambda folder: cb.Policy(source=str(folder / "town.parquet"), publish=publish, **told)


Case = tuple[Choices, Callable[[Path], cb.Policy]]

CASES: dict[str, Case] = {
    "table": (
        _people("table").with_texts("privacy", {"delta": "1e-6", "epsilon": "0.5"}),
        _made(cb.Table(), **DRAWN, epsilon=0.5),
    ),
    "a sample that was taken": (
        with_design(_people("table"), "coins").with_texts("sampling", {"rate": "0.25"}),
        _made(cb.Table(), sampling=cb.Coins(0.25), delta=1e-6),
    ),
    "register": (with_design(_people("table"), "everybody"), _made(cb.Table(), sampling=cb.Everybody())),
    "strata": (
        with_design(_people("table"), "strata").with_texts(
            "sampling", {"column": "sex", "rates": "female: 0.1\nmale: 0.5"}
        ),
        _made(cb.Table(), sampling=cb.Strata("sex", {"female": 0.1, "male": 0.5}), delta=1e-6),
    ),
    "strata that are not published": (
        with_design(_people("table"), "strata")
        .with_texts("sampling", {"column": "sex", "rates": "female: 0.4\nmale: 0.5", "already_drawn": "true"})
        .with_publication(0, {"name": "ages", "columns": "age"}),
        _made(
            cb.Table("age", name="ages"),
            sampling=cb.Strata("sex", {"female": 0.4, "male": 0.5}, already_drawn=True),
            delta=1e-6,
        ),
    ),
    "design weights": (
        with_design(_people("table"), "weights")
        .with_texts("sampling", {"column": "income"})
        .with_column("income", {"way": "breaks", "breaks": "100, 200, 400"}),
        _made(
            cb.Table(),
            sampling=cb.Weights("income", thin=0.8),
            columns={**COLUMNS, "income": cb.breaks(100, 200, 400)},
            delta=1e-6,
        ),
    ),
    "unequal probabilities": (
        with_design(_people("microdata"), "biased").with_texts(
            "sampling", {"low": "0.1", "high": "0.2", "rate": "0.15"}
        ),
        _made(cb.Microdata(), sampling=cb.Biased(0.1, 0.2, rate=0.15), delta=1e-6),
    ),
    "microdata": (
        _people("microdata")
        .with_column("age", {**AGE, "top": "", "width": "10 30, 90"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population"}),
        _made(
            cb.Microdata(),
            **DRAWN,
            columns={**COLUMNS, "age": cb.intervals(0, 90, width=[10, 30, 90])},
            recoding=cb.Choosing(epsilon=0.1, using="population"),
        ),
    ),
    "dates to choose from": (
        _people("microdata")
        .with_column("born", {"way": "date", "date": "month, year", "from": "1900-01-01", "to": "2030-01-01"})
        .with_texts("recoding", {"epsilon": "0.1", "using": "population"}),
        _made(
            cb.Microdata(),
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
            cb.Points(noise_epsilon=1),
            **DRAWN,
            columns={
                "sex": COLUMNS["sex"],
                **{name: cb.axis(-10, 10, resolution=0.1, width=2) for name in ("east", "north")},
            },
        ),
    ),
    "outlier-table": (
        _people("outlier-table").with_publication(0, {"limit": "200"}),
        _made(cb.OutlierTable(limit=200), sampling=cb.Everybody(), delta=1e-6),
    ),
    "statistics": (
        _people("statistics")
        .with_texts("sampling", {"people": "1000", "of": "4000"})
        .with_column(
            "income", {"way": "resolution", "from": "0", "to": "100000", "resolution": "100", "outside": "clamp"}
        )
        .with_publication(
            0,
            {},
            {
                "statistics": [
                    {"name": "income", "average": "income"},
                    {"name": "women", "fraction": "sex: female"},
                    {"name": "ages", "histogram": "age", "where": "sex: male", "weight": "2"},
                    {"name": "usual", "median": "income", "by": "sex"},
                    {"name": "all", "sum": "income"},
                    {"name": "high", "quantile": "income", "at": "0.9"},
                    {"name": "", "average": ""},
                ]
            },
        ),
        _made(
            cb.Statistics(
                cb.Statistic(name="income", average="income"),
                cb.Statistic(name="women", fraction={"sex": "female"}),
                cb.Statistic(name="ages", histogram="age", where={"sex": ["male"]}, weight=2),
                cb.Statistic(name="usual", median="income", by=["sex"]),
                cb.Statistic(name="all", sum="income"),
                cb.Statistic(name="high", quantile="income", at=0.9),
            ),
            sampling=cb.Survey(1000, of=4000),
            columns={**COLUMNS, "income": cb.bounds(0, 100_000, resolution=100, outside="clamp")},
        ),
    ),
    "synopsis": (
        _people("synopsis")
        .with_texts("sampling", {"people": "2000", "of": "4000"})
        .with_texts("privacy", {"epsilon": "2"}),
        _made(cb.Synopsis(conjunctions=2), sampling=cb.Survey(2000, of=4000), epsilon=2),
    ),
    "synthetic": (
        with_design(_people("synthetic"), "everybody")
        .with_column("education", {"way": "values", "values": "none\nschool"})
        .with_texts("privacy", {"epsilon": "2"})
        .with_publication(0, {"rows": "500", "tables": "sex * age\nage * education"}),
        _made(
            cb.Synthetic(rows=500, tables=["sex * age", "age * education"]),
            sampling=cb.Everybody(),
            epsilon=2,
            delta=1e-6,
            columns={**COLUMNS, "education": cb.values("none", "school")},
        ),
    ),
    "graph": (
        start("graph")
        .with_texts("data", {"source": "friends.parquet", "population": "town"})
        .with_publication(
            0, {"people": "2000", "degree_bound": "12"}, {"statistics": [{"name": "average-degree", "samples": "500"}]}
        ),
        lambda folder: cb.Policy(
            source=str(folder / "friends.parquet"),
            population="town",
            epsilon=1,
            publish=cb.Graph(cb.GraphStatistic(name="average-degree", samples=500), people=2000, degree_bound=12),
        ),
    ),
    "programme": (
        with_another(with_another(_people("table"), "microdata"), "statistics")
        .with_texts("data", {"people": "4000"})
        .with_publication(0, {"name": "by_age", "columns": "age", "share": "0.3"})
        .with_publication(1, {"name": "people", "columns": "age\nsex"})
        .with_publication(2, {"name": "incomes", "weight": "2"}, {"statistics": [{"name": "m", "median": "income"}]})
        .with_column(
            "income", {"way": "resolution", "from": "0", "to": "100000", "resolution": "100", "outside": "clamp"}
        ),
        _made(
            [
                cb.Table("age", name="by_age", share=0.3),
                cb.Microdata("age", "sex", name="people"),
                cb.Statistics(cb.Statistic(name="m", median="income"), name="incomes", weight=2),
            ],
            **DRAWN,
            people=4000,
            columns={**COLUMNS, "income": cb.bounds(0, 100_000, resolution=100, outside="clamp")},
        ),
    ),
    "programme of a register": (
        replace(with_design(with_another(_people("table"), "table"), "everybody"), split="budget")
        .with_texts("privacy", {"delta": "1e-6", "releases": "2"})
        .with_publication(0, {"name": "by_age", "columns": "age", "weight": "3"})
        .with_publication(1, {"name": "by_sex", "columns": "sex"}),
        _made(
            [cb.Table("age", name="by_age", weight=3), cb.Table("sex", name="by_sex")],
            sampling=cb.Everybody(),
            split="budget",
            delta=1e-6,
            releases=2,
        ),
    ),
}

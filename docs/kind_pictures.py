"""What comes out of each kind: the first rows of what is published about a made-up town, with their intervals.

Everything shown is published by the package under a fixed key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

import crowdblend as cb
from crowdblend.lab.demo import town
from crowdblend.lab.demo.population import friendships
from crowdblend.reading.figures.drawing import GRID, GROUND, INK, QUIET
from docs.diagrams import BLUE, EDGE, LEFT_OUT, ORANGE, Card

KEY = bytes([4]) * 32
WIDE, ROW, TOP = 760, 26, 96
SEX, AGE = cb.values("female", "male"), cb.intervals(0, 120, width=20)
COLUMNS = {"sex": SEX, "age": AGE}
AGES = [f"[{start}, {start + 20})" for start in range(0, 120, 20)]


@dataclass(frozen=True)
class Mark:
    """One row of the lane beside a table: an interval, its middle, and the words of a row that is missing."""

    low: float
    high: float
    middle: float | None = None


def rows_card(
    title: str,
    below: str,
    heads: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Mark | None]],
    lane: str = "",
    most: float | None = None,
) -> str:
    """Draw rows as a table, and their intervals to the right, on one scale from 0 to `most` or to the last end."""
    card = Card(WIDE, TOP + ROW * len(rows) + 22)
    card.text(EDGE, 30, title, size=16, weight=600)
    card.text(EDGE, 54, below, color=QUIET)
    wide = [112, *[82] * (len(heads) - 1)] if lane else [150] * len(heads)
    ends = [EDGE + sum(wide[:at]) for at in range(len(heads))]
    left, right = EDGE + sum(wide) + 12, WIDE - EDGE - 10
    card.rectangle(EDGE - 8, TOP - 24, WIDE - 2 * EDGE + 16, 24, fill=GROUND, radius=4)
    for x, head in zip(ends, heads, strict=True):
        card.text(x, TOP - 12, head, weight=600)
    card.text(left, TOP - 12, lane, color=QUIET)
    last = most or max((mark.high for _, mark in rows if mark), default=1.0)
    for at, (cells, mark) in enumerate(rows):
        y = TOP + ROW * (at + 0.5)
        for x, cell in zip(ends, cells, strict=True):
            card.text(x, y, cell, color=QUIET if cell == "missing" else INK)
        card.line(EDGE - 8, y + ROW / 2, WIDE - EDGE + 8, y + ROW / 2, stroke=GRID)
        if mark:
            _draw(card, mark, y, lambda value: left + (right - left) * max(value, 0) / last)
    return card.drawn()


def _draw(card: Card, mark: Mark, y: float, place: Callable[[float], float]) -> None:
    color = LEFT_OUT if mark.middle is None else BLUE
    card.line(place(mark.low), y, place(mark.high), y, stroke=color, thickness=6 if mark.middle is None else 3)
    if mark.middle is not None:
        card.dot(place(mark.middle), y, 4, fill=ORANGE)


def _labels(row: dict[str, object]) -> list[str]:
    return [str(row["sex"]), str(row["age"])]


def _alike(data: pa.Table) -> list[tuple[list[str], int]]:
    """The labels of rows, and how many have them."""
    rows = Counter(tuple(_labels(row)) for row in data.to_pylist())
    declared = [(sex, age) for sex in ("female", "male") for age in AGES]
    return [(list(labels), rows[labels]) for labels in declared if labels in rows]


def table() -> str:
    """Counts of crowds with estimates and intervals; the cells below k are missing, and have an upper end."""
    policy = cb.Policy(
        person="person_id", sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6, columns=COLUMNS, publish=cb.Table()
    )
    done = cb.release(town(20_000), policy, ledger=None, key=KEY)
    rows = []
    for row in done.estimates().to_pylist():
        shown = [f"{row[name]:,.0f}" if row["sampled"] is not None else "missing" for name in ("sampled", "estimate")]
        rows.append(([*_labels(row), *shown], Mark(row["low"], row["high"], row["estimate"])))
    below = f"Sampled at rate 0.5; cells of fewer than k = {policy.plan().k} sampled people are missing, and not zero."
    return rows_card("A table", below, ["sex", "age", "sampled", "estimate"], rows, "people in town, 95 %")


def microdata() -> str:
    """The first row of every crowd, and how many rows are like it."""
    policy = cb.Policy(
        person="person_id", sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6, columns=COLUMNS, publish=cb.Microdata()
    )
    data = cb.release(town(20_000), policy, ledger=None, key=KEY).data
    rows = [([*labels, f"{alike:,}"], Mark(0, alike, alike)) for labels, alike in _alike(data)]
    below = f"{data.num_rows:,} rows, one for every sampled person in a crowd of {policy.plan().k} or more."
    return rows_card("Microdata", below, ["sex", "age", "rows like it"], rows, "rows that are alike")


def outlier_table() -> str:
    """Noisy counts of all cells: the smallest have the widest intervals."""
    policy = cb.Policy(person="person_id", epsilon=0.4, delta=1e-6, columns=COLUMNS, publish=cb.OutlierTable(limit=100))
    published = cb.release(town(2_000), policy, ledger=None, key=KEY).data.to_pylist()
    rows = [
        (
            [*_labels(row), f"{row['count']:,}", f"{row['low']} to {row['high']}"],
            Mark(row["low"], row["high"], row["estimate"]),
        )
        for row in published
    ]
    below = "Noise on every cell: people alone are hidden best, crowds are counted best. Nobody is left out."
    return rows_card("An outlier table", below, ["sex", "age", "count", "95 %"], rows, "people")


def statistics() -> str:
    """Averages and medians of groups, each with its error."""
    policy = cb.Policy(
        person="person_id", sampling=cb.Everybody(), people=20_000, epsilon=1.0,
        columns={**COLUMNS, "income": cb.bounds(0, 200_000, resolution=100, outside="clamp")},
        publish=cb.Statistics(*(cb.average("income", name=f"by {name}", by=name) for name in COLUMNS)),
    )  # fmt: skip
    published = cb.release(town(20_000), policy, ledger=None, key=KEY).data.to_pylist()
    rows = [
        ([str(row["group"]), f"{row['value']:,.0f}", f"± {row['error']:,.0f}"],
         Mark(max(row["value"] - row["error"], 0), min(row["value"] + row["error"], 60_000), row["value"]))
        for row in published
    ]  # fmt: skip
    below = "Mean incomes by sex and by age; 95 times in 100 the truth is within the error that is published."
    return rows_card("Statistics", below, ["group", "value", "error"], rows, "income, drawn up to 60,000", 60_000)


def synopsis() -> str:
    """The share of the synthetic rows in every cell."""
    policy = cb.Policy(
        person="person_id", sampling=cb.Survey(10_000, of=20_000), epsilon=2.0, columns=COLUMNS,
        publish=cb.Synopsis(conjunctions=2),
    )  # fmt: skip
    data = cb.release(town(20_000), policy, ledger=None, key=KEY).data
    rows = [([*labels, f"{alike / data.num_rows:.1%}"], Mark(0, alike, alike)) for labels, alike in _alike(data)]
    below = f"{data.num_rows:,} rows that are nobody; shares among them are close to shares among the people."
    return rows_card("A synopsis", below, ["sex", "age", "share"], rows, "share of the synthetic rows")


def graph() -> str:
    """Two figures of a network of friends, on the scale of each."""
    statistics = [cb.GraphStatistic(name=name, samples=700) for name in ("connectivity", "average-degree")]
    policy = cb.Policy(epsilon=8.0, publish=cb.Graph(*statistics, people=2_000, degree_bound=12))
    published = cb.release(friendships(), policy, ledger=None, key=KEY).data.to_pylist()
    most = {"connectivity": 1.0, "average-degree": 12.0}
    rows = []
    for row in published:
        value, error, scale = row["value"], row["error"], most[row["statistic"]]
        ends = Mark(max(value - error, 0) / scale, min(value + error, scale) / scale, value / scale)
        rows.append(([row["statistic"], f"{value:.3f}", f"± {error:.3f}"], ends))
    below = "2,000 people with at most 12 friends each; nobody's links are published."
    return rows_card(
        "Figures of a network", below, ["statistic", "value", "error"], rows, "from 0 to the most that is possible", 1.0
    )


KIND_PICTURES = {
    "table": table,
    "microdata": microdata,
    "outlier-table": outlier_table,
    "statistics": statistics,
    "synopsis": synopsis,
    "graph": graph,
}

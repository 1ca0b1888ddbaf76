"""Statistics of a network: each number with what it may be off by, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.kinds.graph.facts import GraphFacts
from crowdblend.reading.figures.bars import interval_chart
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Table, figure
from crowdblend.reading.reports.text import enumeration, label
from crowdblend.reading.reports.view import Part, View
from crowdblend.trusted.guarantees.wording import round_up

_MEANS = {
    "connectivity": "connectivity: how many links are missing until everybody is connected",
    "cycle-freeness": "cycle-freeness: how many links are too many for a network without cycles",
    "eulerian": "eulerian: how many links to add or remove until one walk can use every link exactly once",
    "average-degree": "average-degree: how many links {many} have on average",
    "degrees": "degrees: which share of the {many} has how many links",
}

_SHARES = ("connectivity", "cycle-freeness", "eulerian")


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return every number of the one data file, and the bands of degrees as a figure."""
    (file, *_) = folder.files.values()
    rows = file.rows(("statistic", "class"), ("value", "error", "confidence"), blank=("class",))
    facts = folder.facts
    assert isinstance(facts, GraphFacts)
    return View(
        heading=f"Statistics of a network of {facts.people:,} {facts.counted.many}",
        what=f"a few numbers about a network of {facts.counted.many}, each with random noise",
        keys=_keys(facts, len(rows)),
        reading=_reading(rows, facts.counted.many),
        parts=[
            Part(
                "data",
                "What was published",
                [*_numbers(rows), *(_degrees(rows, facts.counted.many) if figures else [])],
            )
        ],
    )


def _keys(facts: GraphFacts, numbers: int) -> list[tuple[str, str]]:
    return [
        ("published numbers", f"{numbers:,}"),
        ("random people the guarantee is relative to", f"{sum(one.samples for one in facts.statistics):,}"),
        ("most links", f"{facts.degree_bound:,}"),
        ("ε, relative to those people", round_up(float(facts.parameters["epsilon"]))),
    ]


def _reading(rows: list[dict[str, Any]], many: str) -> list[str]:
    lines = [
        "Every number is the true one plus random noise, rounded. It is off by at most the error beside it, except in "
        "1 of 20 releases; numbers that fell outside of what is possible were moved to the nearest possible one.",
    ]
    named = {str(row.get("statistic")) for row in rows}
    lines += [f"{text.format(many=many)}." for name, text in _MEANS.items() if name in named]
    if shares := [name for name in _SHARES if name in named]:
        verb = "is a share" if len(shares) == 1 else "are shares"
        lines.append(
            f"{enumeration(shares)} {verb} of the largest possible number of links: degree_bound times the number of "
            f"{many}, halved."
        )
    lines.append(
        "The guarantee compares with somebody who could look at some random people and whom they are linked to, "
        "with you and your links concealed. What the whole network is like can be learned; your place in it hardly."
    )
    return lines


def _numbers(rows: list[dict[str, Any]]) -> list[Block]:
    classes = any(row.get("class") is not None for row in rows)
    named = ["statistic", *(["class"] if classes else [])]
    headers = [*named, "value", "error at most", "with probability", "so it lies between"]
    cells: list[list[str]] = [
        [
            label(str(row.get("statistic"))),
            *([label(str(row.get("class") or "–"))] if classes else []),
            _number(row.get("value")),
            _number(row.get("error")),
            _number(row.get("confidence")),
            _between(row),
        ]
        for row in rows
    ]
    right = range(len(named), len(headers))
    return [Table(headers, cells, "The published numbers", right), "The data file holds the same numbers."]


def _degrees(rows: list[dict[str, Any]], many: str) -> list[Block]:
    """Return the shares of the bands of degrees with their errors, within what is possible."""
    bands = [(str(row["class"]), *_ends(row)) for row in rows if str(row.get("statistic")) == "degrees"]
    if not bands:
        return []
    caption = f"The share of {many} by their number of links; lines are what it is off by except in 1 of 20 releases."
    return [figure(lambda narrow: interval_chart(bands, narrow=narrow), caption)]


def _ends(row: Mapping[str, Any]) -> tuple[float, float, float]:
    value, error = float(row["value"]), float(row["error"])
    return value, max(0.0, value - error), min(1.0, value + error)


def _between(row: Mapping[str, Any]) -> str:
    value, error = row.get("value"), row.get("error")
    if not isinstance(value, int | float) or not isinstance(error, int | float):
        return "–"
    # Only an average of people's data can be below 0.
    low = value - error if str(row.get("statistic")).startswith("average of ") else max(0.0, value - error)
    return f"{low:.4g} and {value + error:.4g}"


def _number(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, int | float) else "–"

"""Statistics: every number with the error that it stays within."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.figures import interval_chart
from crowdblend.guarantees import RandomSamples
from crowdblend.guarantees.wording import at_least
from crowdblend.reports.charts import LONGEST, distinct_labels, figure
from crowdblend.reports.facts import describe_statistic
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, shorten, table
from crowdblend.reports.numbers import round_up
from crowdblend.reports.rows import read_rows
from crowdblend.reports.view import Part, View

MOST_ROWS = 500
MOST_BARS = 40
_WAYS = {"everybody": "from everybody, with noise", "sample": "from a random sample, with noise"}


@dataclass(frozen=True)
class Published:
    """One published number."""

    statistic: str
    bin: str | None
    value: float
    error: float


def view(folder: Folder) -> View:
    """The published numbers as a table and histograms as figures."""
    numbers = [number for path in folder.files.values() for number in _read(path)]
    by_name: dict[str, list[Published]] = {}
    for number in numbers:
        by_name.setdefault(number.statistic, []).append(number)
    single = [some[0] for some in by_name.values() if some[0].bin is None]
    binned = {name: some for name, some in by_name.items() if some[0].bin is not None}
    parts = [_singles(folder, single)] if single else []
    parts += [_histogram(folder, name, some) for name, some in binned.items()]
    return View(
        heading=f"{len(by_name):,} statistics about people" if len(by_name) != 1 else f"{next(iter(by_name))}",
        what="statistics about people, each with the error that it stays within",
        keys=_keys(folder, by_name),
        reading=tuple(_reading(folder)),
        parts=(Part("data", "What was published", join(*parts)),),
    )


def _read(path: Path) -> list[Published]:
    return [Published(**row) for row in read_rows(path, "statistic", ("value", "error"), label="bin")]


def _keys(folder: Folder, by_name: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    keys = [("statistics", f"{len(by_name):,}")]
    guarantee = folder.certificate.zero_knowledge()
    if guarantee is not None and isinstance(guarantee.aggregate, RandomSamples):
        keys += [
            ("random people the guarantee is relative to", f"{guarantee.aggregate.samples:,}"),
            ("people in all", f"{guarantee.aggregate.population:,}"),
            ("ε, privacy loss", round_up(guarantee.epsilon)),
        ]
    return tuple(keys)


def _reading(folder: Folder) -> Iterable[str]:
    guarantee = folder.certificate.zero_knowledge()
    if guarantee is not None and isinstance(guarantee.aggregate, RandomSamples):
        k, n = guarantee.aggregate.samples, guarantee.aggregate.population
        yield (
            f"What these numbers tell about you is compared with what the data of {k:,} random people out of {n:,} "
            "with yours concealed tell; ε bounds the difference. Your household, your friends and everybody like you "
            f"are protected as far as {k:,} random people tell little about them."
        )
    confidence = folder.fact("parameters", dict).get("confidence")
    sure = (
        f"with a probability of at least {at_least(confidence)}"
        if isinstance(confidence, float)
        else "with high probability"
    )
    yield (
        f"Each statistic is within ± its error of the true one {sure}; of a histogram, all bins at once. The error "
        "includes the noise and, where a sample was drawn, the draw. It was fixed before anybody looked at the data."
    )
    yield "An average is that of the values as the columns below say, within their bounds and rounded to their grid."
    yield "Counts are estimates for everybody, so they need not be whole numbers or add up."


def _singles(folder: Folder, numbers: list[Published]) -> Html:
    facts = folder.fact("statistics", dict)
    rows = [
        [
            label(number.statistic),
            shorten(describe_statistic(facts.get(number.statistic)), 200),
            _number(number.value, number.error),
            f"± {round_up(number.error)}",
            _WAYS.get(_fact(facts, number.statistic, "way"), ""),
        ]
        for number in numbers[:MOST_ROWS]
    ]
    cut = "" if len(numbers) <= MOST_ROWS else f"; the first {MOST_ROWS} of {len(numbers):,}"
    return table(
        ["statistic", "what it is", "value", "error", "how"],
        rows,
        caption=f"Single numbers{cut}",
        numbers=frozenset([2, 3]),
    )


def _histogram(folder: Folder, name: str, numbers: list[Published]) -> Html:
    facts = folder.fact("statistics", dict)
    error = numbers[0].error
    description = shorten(describe_statistic(facts.get(name)) or name, 200)
    caption = (
        f"{description}: every bin within ± {round_up(error)} at once, {_WAYS.get(_fact(facts, name, 'way'), 'noisy')}."
    )
    rows: list[list[str]] = [[label(str(one.bin)), _number(one.value, error)] for one in numbers[:MOST_ROWS]]
    listed = table(["bin", "people"], rows, caption=caption, numbers=frozenset([1]))
    return join(element("h3", label(name)), _figure(numbers, caption), listed)


def _figure(numbers: list[Published], caption: str) -> Html:
    if len(numbers) > MOST_BARS:
        return Html("")
    names = distinct_labels((str(one.bin) for one in numbers), LONGEST)
    drawn = interval_chart(
        [(names[str(one.bin)], one.value, max(0.0, one.value - one.error), one.value + one.error) for one in numbers]
    )
    return figure(drawn, caption)


def _fact(facts: dict[str, Any], name: str, which: str) -> str:
    stated = facts.get(name)
    return str(stated.get(which, "")) if isinstance(stated, dict) else ""


def _number(value: float, error: float) -> str:
    """A value with no more digits than its error makes sense of."""
    if error <= 0 or not math.isfinite(error):
        return f"{value:,.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{min(digits, 12)}f}"

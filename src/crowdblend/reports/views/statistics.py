"""Statistics: every number with the error that it stays within, and what it tells no more than."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from crowdblend.errors import InvalidInput
from crowdblend.figures import interval_chart
from crowdblend.guarantees import RandomSamples, ZeroKnowledge
from crowdblend.guarantees.wording import at_least
from crowdblend.reports import words
from crowdblend.reports.charts import LONGEST, figure, unlike
from crowdblend.reports.facts import statistic_words
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, shorten, table
from crowdblend.reports.view import Part, View

MOST_SHOWN = 500
MOST_BARS = 40
_COLUMNS = ("statistic", "bin", "value", "error")
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
    texts = arrow_csv.ConvertOptions(column_types={"statistic": pa.string(), "bin": pa.string()})
    read = arrow_csv.read_csv(path, convert_options=texts) if path.suffix == ".csv" else pq.read_table(path)
    if tuple(read.column_names) != _COLUMNS:
        raise InvalidInput(f"{path.name} must have the columns {', '.join(_COLUMNS)}. It is not a file of statistics.")
    rows = zip(*(read.column(name).to_pylist() for name in _COLUMNS), strict=True)
    return [Published(str(name), None if held in (None, "") else str(held), *some) for name, held, *some in rows]


def _promise(folder: Folder) -> ZeroKnowledge | None:
    return folder.certificate.zero_knowledge()


def _keys(folder: Folder, by_name: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    keys = [("statistics", f"{len(by_name):,}")]
    promise = _promise(folder)
    if promise is not None and isinstance(promise.aggregate, RandomSamples):
        keys += [
            ("random people that it tells no more than", f"{promise.aggregate.samples:,}"),
            ("people in all", f"{promise.aggregate.population:,}"),
            ("ε, privacy loss", words.short(promise.epsilon)),
        ]
    return tuple(keys)


def _reading(folder: Folder) -> Iterable[str]:
    promise = _promise(folder)
    if promise is not None and isinstance(promise.aggregate, RandomSamples):
        k, n = promise.aggregate.samples, promise.aggregate.population
        yield (
            f"Whoever sees these numbers learns hardly more about you than from the data of {k:,} random people out of "
            f"{n:,} with yours concealed. Your household, your friends and everybody like you are protected as far as "
            f"{k:,} random people tell little about them."
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
            shorten(statistic_words(facts.get(number.statistic)), 200),
            _number(number.value, number.error),
            f"± {words.short(number.error)}",
            _WAYS.get(_fact(facts, number.statistic, "way"), ""),
        ]
        for number in numbers[:MOST_SHOWN]
    ]
    cut = "" if len(numbers) <= MOST_SHOWN else f"; the first {MOST_SHOWN} of {len(numbers):,}"
    return table(
        ["statistic", "what it is", "value", "error", "how"],
        rows,
        caption=f"Single numbers{cut}",
        numbers=frozenset([2, 3]),
    )


def _histogram(folder: Folder, name: str, numbers: list[Published]) -> Html:
    facts = folder.fact("statistics", dict)
    error = numbers[0].error
    said = shorten(statistic_words(facts.get(name)) or name, 200)
    caption = (
        f"{said}: every bin within ± {words.short(error)} at once, {_WAYS.get(_fact(facts, name, 'way'), 'noisy')}."
    )
    rows: list[list[str]] = [[label(str(one.bin)), _number(one.value, error)] for one in numbers[:MOST_SHOWN]]
    listed = table(["bin", "people"], rows, caption=caption, numbers=frozenset([1]))
    return join(element("h3", label(name)), _figure(numbers, caption), listed)


def _figure(numbers: list[Published], caption: str) -> Html:
    if len(numbers) > MOST_BARS:
        return Html("")
    names = unlike((str(one.bin) for one in numbers), LONGEST)
    drawn = interval_chart(
        [(names[str(one.bin)], one.value, max(0.0, one.value - one.error), one.value + one.error) for one in numbers]
    )
    return figure(drawn, caption)


def _fact(facts: dict[str, Any], name: str, which: str) -> str:
    found = facts.get(name)
    return str(found.get(which, "")) if isinstance(found, dict) else ""


def _number(value: float, error: float) -> str:
    """A value with no more digits than its error makes sense of."""
    if error <= 0 or not math.isfinite(error):
        return f"{value:,.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{min(digits, 12)}f}"

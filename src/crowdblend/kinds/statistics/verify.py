"""Statistics: exactly the numbers that were planned, each within its range and with its error."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from crowdblend.kinds.shared.facts import contradiction
from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.statistics.statistic import Statistic, group_columns
from crowdblend.kinds.statistics.values import SampleValues, StrataValues, values_of
from crowdblend.methods.estimates.laws import NoiseOnEveryCell
from crowdblend.methods.planning.statistics.accuracy import Shape
from crowdblend.reading.data_file import Row
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_files, require_rows
from crowdblend.reading.verification.shown_people import ShownPeople

_ERRORS = ("error", "rank_error")


def check(release: PublishedRelease) -> tuple[ShownPeople, ...]:
    """Refuse other rows, errors that do not follow from the noise, and impossible shares, counts and quantiles.

    Return the people who are shown by the counts and sums of a sample.
    """
    facts = release.facts
    assert isinstance(facts, StatisticsFacts)
    quantiles = any(made.is_quantile for made in facts.statistics)
    (file,) = require_files(release, "data")
    texts = ("statistic", *group_columns(facts.statistics))
    columns = [*texts, "value", "error", *(["rank_error"] if quantiles else [])]
    rows = require_rows(file, columns, texts, blank=_ERRORS if quantiles else ())
    planned = [(place, labels) for place, made in enumerate(facts.statistics) for labels in facts.bins(made) or ((),)]
    if [tuple(row[name] for name in texts) for row in rows] != list(_expected_texts(facts, planned)):
        raise contradiction(f"{file.name} has other rows than the statistics that were planned")
    errors, least = {}, {}
    for place, made in enumerate(facts.statistics):
        if facts.design.counts_exactly and not made.depends_on_groups:
            # The error was known beforehand, not from unpublished noisy sizes of groups.
            errors[place] = values_of(facts, place).error
        elif made.estimand.is_share:
            # The smallest error that a group of all people could have; other errors follow from the numbers.
            least[place] = values_of(facts, place).least_error
    for row, (place, _) in zip(rows, planned, strict=True):
        made = facts.statistics[place]
        holds = _error_holds(facts, made, row, errors.get(place), least.get(place, 0.0))
        if not (holds and _is_possible(facts, made, row)):
            raise contradiction(f"{file.name} has an error that was not planned, or an impossible number")
    shown = []
    for place, made in enumerate(facts.statistics):
        own = [row for row, (other, _) in zip(rows, planned, strict=True) if other == place]
        if not (_on_grid(facts, made, own) and _counts_follow(facts, place, own)):
            raise contradiction(f"{file.name} has numbers that its grid, its rate or its noise does not give")
        if (totals := _totals(facts, place, own)) is not None:
            shown.append(_shown_people(facts, place, totals))
    return tuple(shown)


def _expected_texts(
    facts: StatisticsFacts, numbers: list[tuple[int, tuple[str, ...]]]
) -> Iterator[tuple[str | None, ...]]:
    """Yield the name and the labels of every numbers number, None where a column is not of its statistic."""
    for place, labels in numbers:
        made = facts.statistics[place]
        own = dict(zip(made.counted_by, labels, strict=True))
        yield (made.name, *(own.get(column) for column in group_columns(facts.statistics)))


def _on_grid(facts: StatisticsFacts, statistic: Statistic, rows: list[Row]) -> bool:
    """Return whether quantiles are steps of the grid among which they were chosen."""
    if not statistic.is_quantile:
        return True
    bounds = facts.measures[str(statistic.column)]
    return all(_is_whole((row["value"] - float(bounds.ends[0])) / float(bounds.resolution)) for row in rows)


def _counts_follow(facts: StatisticsFacts, place: int, rows: list[Row]) -> bool:
    """Return whether numbers follow from whole totals of as many people as are counted.

    Counts of a sample by coins are multiples of its weight, with their errors; so are sums of numbers from 0 on, in
    steps of their grid.
    """
    values = values_of(facts, place)
    if isinstance(values, SampleValues):
        return all(values.has_total(row["value"]) for row in rows)
    totals = _totals(facts, place, rows)
    if totals is None:
        return True
    if not all(map(_is_whole, totals)):
        return False
    again = values.of_totals([round(total) for total in totals], 0)
    # A number that is 0 may have been below it, with an error that says by how much.
    each = zip(rows, again, strict=True)
    return all(row["value"] <= 0 or math.isclose(row["error"], one.error or 0.0, rel_tol=1e-9) for row, one in each)


def _totals(facts: StatisticsFacts, place: int, rows: list[Row]) -> list[float] | None:
    """Return the noisy totals behind counts of a sample by coins, and behind sums of numbers from 0 on."""
    made, values = facts.statistics[place], values_of(facts, place)
    if not isinstance(values, StrataValues) or not isinstance(values.shape, Shape) or values.width > 1:
        return None
    (scale,) = made.estimand.scales(values.measure, values.shape.steps, values.width)
    unit = float(values.way.weights.unit) * scale
    return [row["value"] / unit for row in rows]


def _shown_people(facts: StatisticsFacts, place: int, totals: list[float]) -> ShownPeople:
    """Return totals as counts, to which each person adds the largest number at most."""
    values = values_of(facts, place)
    assert isinstance(values, StrataValues)
    assert isinstance(values.shape, Shape)
    each = values.shape.steps * max(values.way.copies) * facts.unit.most
    law, counts = NoiseOnEveryCell(facts.plan.noise_epsilon(place)), np.array([round(total) for total in totals])
    return ShownPeople(law, facts.design, counts, None, len(counts), each, each, clamped=True)


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) <= 1e-6 * max(1.0, abs(number)) and abs(number) < 2**53


def _error_holds(
    facts: StatisticsFacts, statistic: Statistic, row: Row, stated_error: float | None, least: float
) -> bool:
    """Return whether the error is the stated one; where none was, that it is a possible one."""
    name, blank = _ERRORS[:: -1 if statistic.is_quantile else 1]
    if row.get(blank) is not None or row[name] is None:
        return False
    if stated_error is not None:
        return bool(row[name] == stated_error)
    if row[name] < least * (1 - 1e-9):
        return False
    if name == "rank_error":
        return bool(row[name] <= 1)
    if not statistic.estimand.is_share:
        return bool(0 <= row[name] < math.inf)
    low, high = map(float, statistic.estimand.ends(facts.measures.get(str(statistic.column))))
    return bool(0 <= row[name] <= (high - low) * (1 + 1e-9))


def _is_possible(facts: StatisticsFacts, statistic: Statistic, row: Row) -> bool:
    # Where the number of people is an estimate too, nothing bounds a sum from above.
    most = facts.people if facts.design.counts_exactly else math.inf
    low, high = statistic.estimand.possible(facts.measures.get(str(statistic.column)), most)
    return bool(low <= row["value"] <= high) and math.isfinite(row["value"])

"""Statistics: every number with the error that it stays within."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crowdblend.kinds.statistics.facts import StatisticsFacts
from crowdblend.kinds.statistics.statistic import group_columns
from crowdblend.reading.figures.bars import interval_chart
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Heading, Table, figure
from crowdblend.reading.reports.text import distinct_labels, label, shorten
from crowdblend.reading.reports.view import Part, View
from crowdblend.trusted.guarantees.aggregates import RandomSamples, RobustSampling
from crowdblend.trusted.guarantees.wording import at_least, round_up, three_digits

LONGEST = 28
MOST_ROWS = 500
MOST_BARS = 40
_WAYS = {
    "everybody": "from everybody, with noise",
    "sample": "from a random sample, with noise",
    "strata": "from a sample, weighted, with noise",
}


@dataclass(frozen=True)
class PublishedValue:
    """One published number."""

    statistic: str
    group: str | None
    value: float
    error: float | None
    rank_error: float | None = None

    @property
    def within(self) -> str:
        """The error in words; of a quantile, that of its rank."""
        if self.rank_error is not None:
            return f"rank ± {round_up(self.rank_error)}"
        return "" if self.error is None else f"± {round_up(self.error)}"


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the published numbers as a table and histograms as figures."""
    facts = folder.facts
    assert isinstance(facts, StatisticsFacts)
    many = facts.counted.many
    by_name: dict[str, list[PublishedValue]] = {}
    groups, errors = group_columns(facts.statistics), ("error", "rank_error")
    for file in folder.files.values():
        for row in file.rows(("statistic", *groups), ("value", *errors), blank=(*groups, *errors)):
            group = " / ".join(row[column] for column in groups if row[column] is not None) or None
            numbers = (row["value"], row["error"], row["rank_error"])
            by_name.setdefault(name := str(row["statistic"]), []).append(PublishedValue(name, group, *numbers))
    single = [some[0] for some in by_name.values() if some[0].group is None]
    blocks: list[Block] = [_singles(facts, single)] if single else []
    for name, some in by_name.items():
        if some[0].group is not None:
            blocks += _histogram(facts, name, some, figures)
    return View(
        heading=f"{len(by_name):,} statistics about {many}" if len(by_name) != 1 else f"{next(iter(by_name))}",
        what=f"statistics about {many}, each with the error that it stays within",
        keys=_keys(folder, by_name, many),
        reading=list(_reading(folder, facts)),
        parts=[Part("data", "What was published", blocks)],
    )


def _keys(
    folder: PublishedRelease, by_name: Mapping[str, Sequence[PublishedValue]], many: str
) -> list[tuple[str, str]]:
    keys = [("statistics", f"{len(by_name):,}")]
    guarantee = folder.certificate.zero_knowledge()
    if guarantee is not None and isinstance(guarantee.aggregate, RobustSampling):
        low, high = guarantee.aggregate.low, guarantee.aggregate.high
        keys.append(("sampling rates", f"{low:.3g} to {high:.3g}" if low < high else f"{low:.3g}"))
    if guarantee is not None and isinstance(guarantee.aggregate, RandomSamples):
        if guarantee.aggregate.samples < guarantee.aggregate.population:
            keys.append(("random people the guarantee is relative to", f"{guarantee.aggregate.samples:,}"))
        keys += [
            (f"{many} in all", f"{guarantee.aggregate.population:,}"),
            ("ε, privacy loss", round_up(guarantee.epsilon)),
        ]
    return keys


def _reading(folder: PublishedRelease, facts: StatisticsFacts) -> Iterable[str]:
    guarantee, many = folder.certificate.zero_knowledge(), facts.counted.many
    if guarantee is not None and isinstance(guarantee.aggregate, RandomSamples):
        k, n = guarantee.aggregate.samples, guarantee.aggregate.population
        who, rest = f"all {n:,} people", "What the data of the others tell about you is not hidden."
        if k < n:
            who = f"{k:,} random people out of {n:,}"
            rest = (
                f"Your household, your friends and everybody like you are protected as far as {k:,} random people tell "
                "little about them."
            )
        yield (
            f"What these numbers tell about you is compared with what the data of {who} with yours concealed tell; ε "
            f"bounds the difference. {rest}"
        )
    if (rate := facts.design.coin_rate) is not None:
        # Of a survey of which nobody is left out, the number is public.
        number = ", and how many," if facts.design.people is None or facts.design.draws_here else ""
        yield (
            f"Every number is an estimate for the whole population: each sampled {facts.counted.one} represents "
            f"{three_digits(1 / rate)} {many}. Which were sampled{number} is not published."
        )
    if facts.design.column is not None:
        column = shorten(facts.design.column, 60)
        counted = (
            f"with the survey weight in column {column}, which is not published"
            if facts.design.breaks
            else f"as one over the sampling rate of their stratum, a label of {column}"
        )
        yield (
            f"Every number is an estimate for the whole population: each sampled {facts.counted.one} counts {counted}. "
            f"Which {many} were sampled, and how many, is not published."
        )
    yield from facts.unit.rows_counted(facts.noun_of_rows)
    sure = f"with a probability of at least {at_least(facts.confidence)}"
    yield (
        f"Each statistic is within ± its error of the true one {sure}; of a histogram, all classes at once, and so of "
        "groups. The error includes the noise and, where a sample was drawn, the draw. It was fixed before anybody "
        "looked at the data, or follows from noisy sizes of groups."
    )
    if any(made.is_quantile for made in facts.statistics):
        yield (
            f"A quantile has an error of its rank: a median with rank ± 0.01 has between 49 and 51 % of the {many} "
            "concerned at or below it. It says nothing about a group in which there is nobody."
        )
    yield "An average is that of the values as the columns below say, within their bounds and rounded to their grid."
    yield "Counts are estimates for everybody, so they need not be whole numbers or add up."


def _singles(facts: StatisticsFacts, numbers: Sequence[PublishedValue]) -> Table:
    made = {one.name: one for one in facts.statistics}
    rows = [
        [
            label(number.statistic),
            shorten(made[number.statistic].words(facts.counted), 200),
            _number(number.value, number.error or 0.0),
            number.within,
            _how(facts, number.statistic),
        ]
        for number in numbers[:MOST_ROWS]
    ]
    cut = "" if len(numbers) <= MOST_ROWS else f"; the first {MOST_ROWS} of {len(numbers):,}"
    return Table(["statistic", "what it is", "value", "error", "how"], rows, f"Single numbers{cut}", {2, 3})


def _histogram(facts: StatisticsFacts, name: str, numbers: Sequence[PublishedValue], drawn: bool) -> list[Block]:
    """Return the bins of a histogram or the groups of a statistic, with one error for all or one for each."""
    made = {one.name: one for one in facts.statistics}[name]
    description = shorten(made.words(facts.counted), 200)
    how = _how(facts, name) or "noisy"
    alike = len({number.within for number in numbers}) == 1
    within = f"every one within {numbers[0].within} at once" if alike else "each within its error"
    sure = f"with a probability of at least {at_least(facts.confidence)}"
    caption = f"{description}: {within}, {sure}; {how}."
    shown = numbers[:MOST_ROWS]
    counts = made.estimand.counts
    heads = ["group", facts.counted.many if counts else "value"]
    rows: list[list[str]] = [[label(str(one.group)), _number(one.value, one.error or 0.0)] for one in shown]
    if not alike:
        heads, rows = [*heads, "error"], [[*row, one.within] for row, one in zip(rows, shown, strict=True)]
    blocks: list[Block] = [Heading(label(name))]
    if drawn and len(numbers) <= MOST_BARS and all(one.error is not None for one in numbers):
        names = distinct_labels((str(one.group) for one in numbers), LONGEST)
        least = 0.0 if counts else -math.inf
        each = ((names[str(one.group)], one.value, one.error or 0.0) for one in numbers)
        intervals = [(text, value, max(least, value - error), value + error) for text, value, error in each]
        blocks.append(figure(lambda narrow: interval_chart(intervals, narrow=narrow), caption))
        caption = "The numbers"
    return [*blocks, Table(heads, rows, caption, range(1, len(heads)))]


def _how(facts: StatisticsFacts, name: str) -> str:
    """Return a phrase: everybody, or a sample, was counted."""
    stated = facts.statistics_[name]
    if facts.design.coin_rate is not None:
        return _WAYS["sample"]
    return _WAYS["everybody" if facts.design.everybody or stated.samples == facts.people else stated.way]


def _number(value: float, error: float) -> str:
    """A value with no more digits than its error makes sense of."""
    if error <= 0 or not math.isfinite(error):
        return f"{value:,.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{min(digits, 12)}f}"

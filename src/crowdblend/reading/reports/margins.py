"""The sums of a table by one column and by two, as charts with their numbers below.

Chart, caption and the table of the numbers are made of the same `Known` numbers and the one `Quantity` they share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from crowdblend.methods.estimates.nouns import Noun
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.figures.bars import RangeChart
from crowdblend.reading.figures.quantity import Known, Measure, Quantity, whole
from crowdblend.reading.figures.tiles import TileChart
from crowdblend.reading.margins import Margin
from crowdblend.reading.reports.blocks import Block, Heading, Table, figure
from crowdblend.reading.reports.summary import MOST_LABELS, in_numeric_order
from crowdblend.reading.reports.text import distinct_labels, label, shorten

LONGEST, SHORTEST = 28, 14
# Every label is drawn up to this many; of times more, since they stand side by side.
MOST_DRAWN, MOST_TIMES = 40, 400
_TIME = re.compile(r"(1[5-9]|20)\d\d(-(\d\d(-\d\d)?|Q[1-4]|W\d\d))?")


@dataclass(frozen=True)
class CountWords:
    """Words for what is counted: its noun, what is estimated, what is published, and why there would be no totals."""

    counted: Noun
    estimated: str
    shown: str
    no_totals: str

    def quantity_of(self, numbers: Sequence[Known]) -> Quantity:
        """Return the quantity that these numbers share."""
        return Quantity.shared_by(numbers, published=self.shown, estimated=self.estimated, noun=self.counted.many)


def known_numbers(margin: Margin) -> list[Known]:
    """Return what is known of every row of a margin."""
    found = margin.intervals
    return [
        Known(
            count=int(count),
            low=None if low < 0 else int(low),
            high=None if high < 0 else int(high),
            estimate=None if np.isnan(estimate) or low < 0 else float(estimate),
            published=bool(shown),
        )
        for count, shown, low, high, estimate in zip(
            margin.counts, margin.shown, found.low, found.high, found.estimate, strict=True
        )
    ]


def is_time(domain: Domain | None, labels: Sequence[str]) -> bool:
    """Return True if labels are times in their order, declared as dates or listed as such."""
    if domain is not None and domain.recoding == "dates":
        return len(labels) > 1
    times = [text for text in labels if domain is None or text not in (domain.other, domain.missing)]
    return len(times) > 2 and times == sorted(times) and all(map(_TIME.fullmatch, times))


def show_margin(margin: Margin, domain: Domain | None, drawn: bool, words: CountWords) -> list[Block]:
    """Return one column: every declared label with what is known of its number."""
    name = margin.columns[0]
    (labels,), numbers = margin.labels, known_numbers(margin)
    order = list(range(len(labels)))
    in_time = is_time(domain, labels)
    few = len(labels) <= (MOST_TIMES if in_time else MOST_DRAWN)
    if not few:
        order = np.argsort(-margin.counts, kind="stable")[:MOST_DRAWN].tolist()
    elif not margin.declared:
        order = in_numeric_order(labels)
    spoken = _spoken(domain)
    names = distinct_labels((spoken.get(labels[at], labels[at]) for at in order), LONGEST)
    shown = {names[spoken.get(labels[at], labels[at])]: numbers[at] for at in order}
    quantity = words.quantity_of(list(shown.values()))
    chart = RangeChart(quantity, shown, upright=in_time and few)
    parts = [f"{_capital(quantity.counted)} by {shorten(name)}."]
    if quantity.measure is Measure.COUNT:
        parts.append("How they were sampled is not stated.")
    elif drawn:
        parts.append(chart.caption)
    else:
        parts.append("The 95 % interval is from low to high; where there is no estimate, some cells are not published.")
    which = "Drawn" if drawn else "Listed"
    parts += [] if few else [f"{which} are the {MOST_DRAWN} largest of {len(labels):,} labels."]
    caption = " ".join(parts)
    drawing = [figure(lambda narrow: chart.svg(narrow=narrow), caption)] if drawn else []
    listed = [(label(spoken.get(labels[at], labels[at])), numbers[at]) for at in order]
    return [Heading(Markup("By {}").format(label(name))), *drawing, _numbers(listed, quantity, caption, words, drawn)]


def _numbers(
    listed: Sequence[tuple[Markup, Known]], quantity: Quantity, caption: str, words: CountWords, drawn: bool
) -> Table:
    """Return the numbers of a chart."""
    if quantity.measure is Measure.COUNT:
        rows: list[list[str]] = [[text, f"{number.count:,}"] for text, number in listed]
        return Table(["label", words.counted.many], rows, caption, {1}, drawn)
    rows = [
        [
            text,
            f"{number.count:,}" if number.published else "–",
            *("–" if end is None else whole(end) for end in (number.estimate, number.low, number.high)),
        ]
        for text, number in listed
    ]
    headers = ["label", words.shown, "estimate", "low", "high"]
    return Table(headers, rows, f"{caption} – is not known.", range(1, 5), drawn)


def show_pair(pair: Margin, domains: Sequence[Domain | None], drawn: bool, words: CountWords) -> list[Block]:
    """Return two columns: all declared labels of both, as far as there is room; of times, from left to right."""
    at = [0, 1]
    labels = [_largest_labels(pair, place) for place in at]
    if is_time(domains[0], labels[0]) and not is_time(domains[1], labels[1]):
        at = [1, 0]
    first, second = (pair.columns[place] for place in at)
    down, across = (labels[place] for place in at)
    spoken = [_spoken(domains[place]) for place in at]
    numbers = dict(zip(((row[at[0]], row[at[1]]) for row in pair.rows), known_numbers(pair), strict=True))
    heading = Heading(Markup("By {} and {}").format(label(pair.columns[0]), label(pair.columns[1])))
    shown = [
        numbers[pair_]
        for one in down
        for other in across
        if (pair_ := (one, other)) in numbers
        if numbers[pair_].published
    ]
    if not shown:
        return [heading]
    quantity = words.quantity_of(shown)
    said = [[spoken[which].get(text, text) for text in texts] for which, texts in enumerate((down, across))]
    names = distinct_labels(said[0], LONGEST), distinct_labels(said[1], SHORTEST)
    rows, columns = ([names[which][text] for text in texts] for which, texts in enumerate(said))
    chart = TileChart(
        quantity,
        {
            (row, column): numbers[one, other]
            for one, row in zip(down, rows, strict=True)
            for other, column in zip(across, columns, strict=True)
            if (one, other) in numbers
        },
        rows,
        columns,
    )
    caption = f"{_capital(quantity.counted)} by {shorten(first)} (down) and {shorten(second)} (across)."
    headers = [f"{shorten(first, LONGEST)} \\ {shorten(second, LONGEST)}", *(label(text, LONGEST) for text in said[1])]
    cells: list[list[str]] = [
        [label(text, LONGEST), *(_all_known(numbers.get((one, other))) for other in across)]
        for one, text in zip(down, said[0], strict=True)
    ]
    what = _LISTED[quantity.measure]
    listed = Table(headers, cells, f"{caption} {what} – is not published.", range(1, len(headers)), drawn)
    if not drawn:
        return [heading, listed]
    return [heading, figure(lambda _: chart.svg(), f"{caption} {chart.caption}", scrolls=True), listed]


_LISTED = {
    Measure.COUNT: "The published numbers.",
    Measure.ESTIMATE: "Each estimate has its 95 % interval in brackets.",
    Measure.INTERVAL: "The ends of the 95 % interval, behind an estimate where there is one.",
    Measure.LEAST: "The lower ends of the 95 % intervals.",
}


def _all_known(number: Known | None) -> str:
    """Return everything that is known of a cell."""
    return "–" if number is None or not number.published else number.text


def _largest_labels(pair: Margin, at: int) -> list[str]:
    """Return all labels of one column, or the largest of them."""
    totals: dict[str, int] = {}
    for text, count in zip(pair.labels[at], pair.counts.tolist(), strict=True):
        totals[text] = totals.get(text, 0) + count
    if len(totals) > MOST_LABELS:
        kept = sorted(totals, key=lambda text: (-totals[text], text))[:MOST_LABELS]
        return [text for text in totals if text in set(kept)]
    labels = list(totals)
    return labels if pair.declared else [labels[place] for place in in_numeric_order(labels)]


def _spoken(domain: Domain | None) -> Mapping[str, str]:
    return {} if domain is None else domain.spoken_labels


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"

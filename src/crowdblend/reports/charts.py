"""The figures of a report, each with a description and its numbers in a table; or the tables alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from crowdblend.reading.margins import Margin
from crowdblend.reports.html import Html, element, inline_svg, join, label, shorten, table, visible
from crowdblend.reports.summary import MOST_COLUMNS, MOST_LABELS, Summary, in_numeric_order

LONGEST = 28
SHORTEST = 14
# Every label is drawn up to so many.
MOST_DRAWN = 40
_ONE = frozenset([1])
_CUT = (
    "No totals are shown: cells whose noisy count was below the threshold are not published, so that sums of the "
    "others would be too large."
)


def figures(summary: Summary, *, drawn: bool) -> Html:
    """Every figure of one data file: about the population where the release says how people were sampled.

    Where none is drawn, their numbers.
    """
    parts: list[str] = []
    if summary.margins:
        parts += [_margin(margin, drawn=drawn) for margin in summary.margins]
    else:
        parts.append(element("p", _CUT))
    left = len(summary.columns) - len(summary.totals)
    if left:
        which = "Figures are drawn" if drawn else "Totals are shown"
        parts.append(element("p", f"{which} for the first {MOST_COLUMNS} columns; {left:,} more are in the data."))
    if summary.pair is not None and summary.pair.shown.any():
        parts.append(_pairs(summary.pair, drawn=drawn))
    if summary.cells > len(summary.largest):  # otherwise every cell is listed below
        parts.append(_sizes(summary, drawn=drawn))
    return join(*parts)


def distinct_labels(labels: Iterable[str], longest: int) -> dict[str, str]:
    """Labels cut to fit a figure, each still different from all the others.

    >>> distinct_labels(["aaaa", "aaab", "b"], 3)
    {'aaaa': 'aaa…', 'aaab': 'aaa… (2)', 'b': 'b'}
    """
    fitted: dict[str, str] = {}
    for text in labels:
        plain = visible(text)
        short = plain if len(plain) <= longest else f"{plain[:longest]}…"
        others, number, name = set(fitted.values()), 1, short
        while name in others:
            number += 1
            name = f"{short} ({number})"
        fitted[text] = name
    return fitted


def _margin(margin: Margin, *, drawn: bool) -> Html:
    """One column: every declared label with what there is at least, and what there may be."""
    name = margin.columns[0]
    (labels,), found = margin.labels, margin.intervals
    order = np.arange(len(labels))
    if len(labels) > MOST_DRAWN:
        order = np.argsort(-margin.counts, kind="stable")[:MOST_DRAWN]
    elif not margin.declared:
        order = np.array(in_numeric_order(labels), np.int64)
    known = [(labels[at], *_ends(margin, at)) for at in order.tolist()]
    names = distinct_labels((text for text, *_ in known), LONGEST)
    heading = element("h3", "By ", label(name))
    which = "Drawn" if drawn else "Listed"
    few = "" if len(labels) <= MOST_DRAWN else f" {which} are the {MOST_DRAWN} largest of {len(labels):,} labels."
    if (found.low < 0).all():
        caption = f"Published people of the sample by {shorten(name)}.{few} How they were sampled is not stated."
        counts = [(names[labels[at]], int(margin.counts[at])) for at in order.tolist()]
        rows: list[list[str]] = [[label(labels[at]), f"{int(margin.counts[at]):,}"] for at in order.tolist()]
        heads = ["label", "people"]
        return join(heading, bars(counts, caption, drawn=drawn), numbers(heads, rows, caption, _ONE, folded=drawn))

    def draw(narrow: bool) -> str:
        from crowdblend.figures import Range, range_chart  # noqa: PLC0415  only where figures are drawn

        ranges = [Range(names[text], low, high, estimate, note) for text, estimate, low, high, note in known]
        return range_chart(ranges, narrow=narrow)

    caption = f"People of the population by {shorten(name)}. {_meaning(margin, drawn=drawn)}{few}"
    listed: list[list[str]] = [
        [label(text), _sampled(margin, at), _whole(estimate), _whole(low), _whole(high)]
        for (text, estimate, low, high, _), at in zip(known, order.tolist(), strict=True)
    ]
    headers = ["label", "published people of the sample", "estimate", "low", "high"]
    return join(
        heading,
        figure(draw, caption, drawn=drawn),
        numbers(headers, listed, f"{caption} – is not known.", frozenset(range(1, 5)), folded=drawn),
    )


def _ends(margin: Margin, at: int) -> tuple[float | None, float, float | None, str]:
    """The estimate, the ends, and what to write beside them."""
    found = margin.intervals
    estimate = None if np.isnan(found.estimate[at]) else float(found.estimate[at])
    low, high = max(int(found.low[at]), 0), None if found.high[at] < 0 else int(found.high[at])
    if margin.shown[at] == 0:
        text = "not published" if high is None else f"not published: 0 to {high:,}"
    elif estimate is not None:
        text = f"{estimate:,.0f} ({low:,} to {high:,})" if high is not None else f"{estimate:,.0f}"
    else:
        text = f"at least {low:,}" if high is None else f"{low:,} to {high:,}"
    return estimate, low, high, text


def _meaning(margin: Margin, *, drawn: bool) -> str:
    if np.isnan(margin.intervals.estimate).all():
        known = (
            "Dark is what there is at least; pale is what there may be"
            if drawn
            else "There are at least as many as low says; there may be as many as high says"
        )
        return f"{known}, since cells below the threshold are not published. The ends hold 95 times in 100."
    if drawn:
        return "The line is the estimate; dark and pale end at the 95 % interval."
    return "The 95 % interval is from low to high."


def _sampled(margin: Margin, at: int) -> str:
    return f"{int(margin.counts[at]):,}" if margin.shown[at] else "–"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _sizes(summary: Summary, *, drawn: bool) -> Html:
    caption = "How many published cells there are, by the published number of people in the cell."
    rows: list[list[str]] = [[text, f"{number:,}"] for text, number in summary.sizes]
    return element(
        "div",
        element("h3", "How large the cells are"),
        bars(summary.sizes, caption, drawn=drawn),
        numbers(["people in the cell", "cells"], rows, caption, _ONE, folded=drawn),
        class_="sizes",
    )


def _pairs(pair: Margin, *, drawn: bool) -> Html:
    """The first two columns: all declared labels of both, as far as there is room."""
    first, second = pair.columns
    down, across = (_largest_labels(pair, at) for at in range(2))
    known, population = _values(pair)
    place = {row: at for at, row in enumerate(pair.rows)}
    cells = {
        (one, other): known[place[one, other]]
        for one in down
        for other in across
        if (one, other) in place and pair.shown[place[one, other]] > 0
    }
    names = distinct_labels(down, LONGEST), distinct_labels(across, SHORTEST)
    about = "People of the population" if population else "Published people of the sample"
    kind = ", at least," if population and np.isnan(pair.intervals.estimate).any() else ""
    darker = ", darker for more" if drawn else ""
    caption = f"{about}{kind} by {shorten(first)} (down) and {shorten(second)} (across){darker}."
    heading = element("h3", "By ", label(first), " and ", label(second))
    if not cells:
        return heading
    blank = " Where a place is blank, nothing is published; that does not mean zero."
    blank = blank if len(cells) < len(down) * len(across) else ""

    def draw(_: bool) -> str:
        from crowdblend.figures import heatmap  # noqa: PLC0415  only where figures are drawn

        return heatmap(
            [(names[0][one], names[1][other], value) for (one, other), value in cells.items()],
            rows=list(names[0].values()),
            columns=list(names[1].values()),
        )

    headers = [f"{shorten(first, LONGEST)} \\ {shorten(second, LONGEST)}", *(label(text, LONGEST) for text in across)]
    rows: list[list[str]] = [
        [label(one, LONGEST), *(f"{cells[one, other]:,}" if (one, other) in cells else "–" for other in across)]
        for one in down
    ]
    return join(
        heading,
        figure(draw, f"{caption}{blank}", drawn=drawn, narrow=False),
        numbers(headers, rows, f"{caption} – is not zero.", frozenset(range(1, len(headers))), folded=drawn),
    )


def _largest_labels(pair: Margin, at: int) -> list[str]:
    """All labels of one column, or the largest of them."""
    totals: dict[str, int] = {}
    for text, count in zip(pair.labels[at], pair.counts.tolist(), strict=True):
        totals[text] = totals.get(text, 0) + count
    if len(totals) > MOST_LABELS:
        kept = sorted(totals, key=lambda text: (-totals[text], text))[:MOST_LABELS]
        return [text for text in totals if text in set(kept)]
    labels = list(totals)
    return labels if pair.declared else [labels[place] for place in in_numeric_order(labels)]


def _values(pair: Margin) -> tuple[list[int], bool]:
    """Estimates where there are any, else lower ends, else the counts of the sample; and whether of the population."""
    found = pair.intervals
    if (found.low < 0).all():
        return pair.counts.tolist(), False
    values = np.where(np.isnan(found.estimate), found.low, np.nan_to_num(found.estimate))
    return np.round(values).astype(np.int64).tolist(), True


def figure(draw: Callable[[bool], str], caption: str, *, drawn: bool = True, narrow: bool = True) -> Html:
    """A figure with its caption, which also describes it to those who cannot see it; nothing where none is drawn.

    `draw` is called with False, and for phones with True; without `narrow` the one figure scrolls there.
    """
    if not drawn:
        return Html("")
    # What scrolls needs the focus to work from the keyboard.
    only_wide = "scroll wide" if narrow else "scroll"
    pictures = [element("div", inline_svg(draw(False), caption), class_=only_wide, tabindex="0", role="group")]
    if narrow:
        pictures.append(element("div", inline_svg(draw(True), caption), class_="narrow"))
    return element("figure", *pictures, element("figcaption", caption))


def bars(totals: Sequence[tuple[str, int]], caption: str, *, drawn: bool = True) -> Html:
    """A figure of bars, for every width."""

    def draw(narrow: bool) -> str:
        from crowdblend.figures import bar_chart  # noqa: PLC0415  only where figures are drawn

        return bar_chart(totals, narrow=narrow)

    return figure(draw, caption, drawn=drawn)


def numbers(
    headers: list[str], rows: list[list[str]], caption: str, right: frozenset[int], *, folded: bool = True
) -> Html:
    """The figure's numbers as a table, folded away under it."""
    listed = table(headers, rows, caption=caption, numbers=right)
    if not folded:
        return listed
    return element("details", element("summary", "The numbers"), listed, "\n", class_="numbers")

"""The figures of a report, each with a description and its numbers in a table."""

from __future__ import annotations

from collections.abc import Iterable

from crowdblend.figures import bar_chart, heatmap
from crowdblend.reports.html import Html, element, inline_svg, join, label, shorten, table, visible
from crowdblend.reports.summary import MOST_COLUMNS, MOST_LABELS, ColumnTotals, Summary

LONGEST = 28
SHORTEST = 14


def figures(summary: Summary) -> Html:
    """Every figure of one data file."""
    parts: list[str] = [_column(totals) for totals in summary.totals]
    left = len(summary.columns) - len(summary.totals)
    if left:
        parts.append(
            element("p", f"Figures are drawn for the first {MOST_COLUMNS} columns; {left:,} more are in the data.")
        )
    if len(summary.totals) > 1:
        parts.append(_pairs(summary))
    parts.append(_sizes(summary))
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


def _column(column: ColumnTotals) -> Html:
    names = distinct_labels((text for text, _ in column.totals), LONGEST)
    drawn = bar_chart([(names[text], count) for text, count in column.totals])
    name = shorten(column.name)
    caption = f"Published people by {name}."
    if column.distinct > MOST_LABELS:
        caption = f"Published people by {name}: the {MOST_LABELS} largest of {column.distinct:,} labels."
    rows: list[list[str]] = [[label(text), f"{count:,}"] for text, count in column.totals]
    return join(
        element("h3", "By ", label(column.name)),
        figure(drawn, caption),
        numbers(["label", "people"], rows, caption, frozenset([1])),
    )


def _sizes(summary: Summary) -> Html:
    caption = "How many published cells there are, by the number of people in the cell."
    rows: list[list[str]] = [[text, f"{number:,}"] for text, number in summary.sizes]
    return join(
        element("h3", "How large the cells are"),
        figure(bar_chart(summary.sizes), caption),
        numbers(["people in the cell", "cells"], rows, caption, frozenset([1])),
    )


def _pairs(summary: Summary) -> Html:
    first, second = summary.totals[:2]
    down = distinct_labels((text for text, _ in first.totals), LONGEST)
    across = distinct_labels((text for text, _ in second.totals), SHORTEST)
    drawn = heatmap(
        [(down[one], across[other], count) for one, other, count in summary.pairs],
        rows=list(down.values()),
        columns=list(across.values()),
    )
    caption = f"Published people by {shorten(first.name)} (down) and {shorten(second.name)} (across), darker for more."
    return join(
        element("h3", "By ", label(first.name), " and ", label(second.name)),
        figure(drawn, f"{caption} Where a place is blank, nothing is published; that does not mean zero."),
        _cross(summary),
    )


def _cross(summary: Summary) -> Html:
    first, second = summary.totals[:2]
    counts = {(one, other): count for one, other, count in summary.pairs}
    headers = [f"{shorten(first.name, LONGEST)} \\ {shorten(second.name, LONGEST)}"]
    headers += [label(text, LONGEST) for text, _ in second.totals]
    rows: list[list[str]] = []
    for one, _ in first.totals:
        row = [counts.get((one, other)) for other, _ in second.totals]
        rows.append([label(one, LONGEST), *("–" if count is None else f"{count:,}" for count in row)])
    caption = f"Published people by {shorten(first.name)} (rows) and {shorten(second.name)} (columns); – is not zero."
    return numbers(headers, rows, caption, frozenset(range(1, len(headers))))


def figure(drawn: str, caption: str) -> Html:
    """A drawn figure with its caption, which also describes it to those who cannot see it."""
    return element("figure", inline_svg(drawn, caption), element("figcaption", caption))


def numbers(headers: list[str], rows: list[list[str]], caption: str, right: frozenset[int]) -> Html:
    """The figure's numbers as a table, folded away under it."""
    listed = table(headers, rows, caption=caption, numbers=right)
    return element("details", element("summary", "The numbers"), listed, "\n", class_="numbers")

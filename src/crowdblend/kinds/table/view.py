"""Tables and microdata: the totals by label, the pairs, the sizes and the largest cells.

Figures are about the population where the release says how people were sampled, and show every declared label; each
has its numbers in a table. A page without figures has the tables alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from markupsafe import Markup

from crowdblend.estimates.cells import CellLaws
from crowdblend.figures.bars import Range, bar_chart, range_chart
from crowdblend.figures.maps import heatmap
from crowdblend.frozen import dataclass
from crowdblend.kinds.table.facts import EverywhereFacts, ThresholdFacts
from crowdblend.reading.cells import open_cells
from crowdblend.reading.margins import Margin
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.crowd_facts import CrowdFacts
from crowdblend.releases.facts import ReleaseFacts
from crowdblend.releases.outputs import RecordsOutput
from crowdblend.reports.blocks import Block, Group, Heading, Table, figure
from crowdblend.reports.sentences import title
from crowdblend.reports.summary import MOST_COLUMNS, MOST_LABELS, Summary, in_numeric_order, summarize
from crowdblend.reports.text import distinct_labels, fact, label, shorten
from crowdblend.reports.view import CHOSEN_RECODING, Part, View, chosen_recoding

LONGEST, SHORTEST = 28, 14
# Every label is drawn up to this many.
MOST_DRAWN = 40
_MOST_STRATA = 100
_PUBLISHED = "What was published"
_CUT = (
    "No totals are shown: cells whose noisy count was below the threshold are not published, so that sums of the "
    "others would be too large."
)
_REACHED = (
    "No totals are shown: cells whose noisy count was below the threshold are not published, and of the others the "
    "small ones are too large, so that sums mean nothing."
)
_IN_EACH = (
    "No totals are shown: who has several classes is counted in each of them, so that sums of cells are not numbers of "
    "people."
)
_TWICE = f"{_IN_EACH} The table totals has the number of people."


@dataclass(frozen=True)
class Words:
    """Words for what is counted, estimated and shown, and why there would be no totals."""

    counted: str = "people"
    estimated: str = "people of the population"
    shown: str = "published people of the sample"
    no_totals: str = _CUT


def words_of(facts: ReleaseFacts) -> Words:
    """Return the words for what a release counts: a sample, everybody, or rows of everybody."""
    if isinstance(facts, EverywhereFacts) and facts.rows_in_cells is not None:
        if facts.count == "rows":
            return Words("rows", "rows that were kept", "published rows")
        return Words("people", "people", "published people", _TWICE)
    found = (
        Words("people", "people", "published people")
        if facts.sample is not None and facts.sample.everybody
        else Words()
    )
    (table,) = facts.tables.values()
    if table.laws.repeated:
        found = replace(found, estimated="people who count", no_totals=_IN_EACH)
    return replace(found, no_totals=_REACHED) if isinstance(facts, ThresholdFacts) else found


def view(folder: PublishedRelease, figures: bool) -> View:
    """Read every data file once, and show what it adds up to."""
    facts = folder.facts
    counted = facts.rows_are_counted is True
    ((name, table),) = folder.tables.items()
    cells, written = open_cells(folder.files[name], counted=counted), folder.output(name)
    if isinstance(written, RecordsOutput):
        cells = replace(cells, classes=written.written_classes())
    summary = summarize(cells, table)
    chosen = chosen_recoding(facts.recoding) if isinstance(facts, CrowdFacts) else []
    words = words_of(facts)
    records = "one a row" if facts.counting_note is None else "some of whom may have several rows"
    strata_keys, strata = _strata(table.laws)
    return View(
        heading=title(tuple(summary.columns), counted, words.counted),
        what=f"a table: how many {words.counted} have which combination of labels"
        if counted
        else f"records of people, {records}",
        keys=(*_keys(summary, counted, words), *strata_keys),
        reading=sentences(facts, table),
        parts=(
            *([Part("recoding", CHOSEN_RECODING, chosen)] if chosen else []),
            _part(folder, summary, counted, figures, words),
            *strata,
            *(_totals(folder, other) for other in folder.files if other != name),
        ),
    )


def _keys(summary: Summary, counted: bool, words: Words) -> list[tuple[str, str]]:
    total = summary.total
    cells = ("published cells" if counted else "different combinations of labels", f"{summary.cells:,}")
    if total is None:
        return [cells]
    low, high = int(total.intervals.low[0]), int(total.intervals.high[0])
    population = []
    if high >= 0:
        population = [(f"{words.estimated}, 95 % interval", f"{low:,} – {high:,}")]
    elif low >= 0:
        population = [(f"{words.estimated}, at least", f"{low:,}")]
    return [*population, (f"{words.counted} in the published data", f"{summary.people:,}"), cells]


def _part(folder: PublishedRelease, summary: Summary, counted: bool, figures: bool, words: Words) -> Part:
    """Return the section of the data file."""
    if summary.cells:
        return Part("data", _PUBLISHED, [*_figures(summary, figures, words), *_largest(summary, counted)])
    k, (table,) = max(folder.facts.crowds.values(), default=None), folder.tables.values()
    least = f"the crowd size of {k:,}" if k is not None else f"the threshold of {table.shown_by[0].shown_from:,}"
    nothing = f"No cell was published: none reached {least}. That does not mean that nobody is there."
    return Part("data", _PUBLISHED, [nothing])


def _totals(folder: PublishedRelease, name: str) -> Part:
    """Return the section of a file of totals, which are no cells of a table: its rows as they are."""
    table = folder.table(name)
    rows = [[fact(value) for value in row.values()] for row in table.to_pylist()]
    said = "Noisy totals, each with its own noise; low and high hold the number without the noise, 95 times in 100."
    shown = Table(table.column_names, rows, f"The table {name}", range(1, len(table.column_names)))
    return Part(name, "Totals", [said, shown])


def _largest(summary: Summary, counted: bool) -> list[Block]:
    names = summary.columns[:MOST_COLUMNS]
    estimated = any(cell.low is not None for cell in summary.largest)
    headers: list[str] = [*(label(name, 40) for name in names), (summary.counter if counted else "rows")]
    headers += ["exact"] if summary.flagged else []
    right = {len(names), *(range(len(headers), len(headers) + 3) if estimated else ())}
    headers += ["estimate", "low", "high"] if estimated else []
    rows: list[list[str]] = []
    for cell in summary.largest:
        row: list[str] = [*(label(text) for text in cell.labels[:MOST_COLUMNS]), f"{cell.count:,}"]
        row += [fact(cell.exact)] if summary.flagged else []
        row += [_whole(end) for end in (cell.estimate, cell.low, cell.high)] if estimated else []
        rows.append(row)
    left = len(summary.columns) - len(names)
    few = len(summary.largest) == summary.cells
    caption = (
        "All published cells" if few else f"The largest {len(summary.largest)} of {summary.cells:,} published cells"
    )
    caption += f"; {left:,} further columns are not shown" if left else ""
    return [Heading("The cells" if few else "The largest cells"), Table(headers, rows, caption, right)]


def _figures(summary: Summary, drawn: bool, words: Words) -> list[Block]:
    """Return every figure of one data file, or their numbers."""
    blocks: list[Block] = [] if summary.margins else [words.no_totals]
    for margin in summary.margins:
        blocks += _margin(margin, drawn, words)
    left = len(summary.columns) - MOST_COLUMNS
    if left > 0:
        which = "Figures are drawn" if drawn else "Totals are shown"
        blocks.append(f"{which} for the first {MOST_COLUMNS} columns; {left:,} more are in the data.")
    if summary.pair is not None and summary.pair.shown.any():
        blocks += _pairs(summary.pair, drawn, words)
    if summary.cells > len(summary.largest) and summary.sizes:  # otherwise every cell is listed below
        by = f"estimated number of {words.estimated}" if summary.sized_by_estimates else f"number of {words.shown}"
        caption = f"How many published cells there are, by the {by} in the cell."
        rows = [[text, f"{number:,}"] for text, number in summary.sizes]
        listed = Table([f"{words.counted} in the cell", "cells"], rows, caption, {1}, drawn)
        heading = Heading("How large the cells are")
        blocks.append(Group("sizes", [heading, *bars(summary.sizes, caption, drawn), listed]))
    return blocks


def bars(totals: Sequence[tuple[str, int]], caption: str, drawn: bool) -> list[Block]:
    """Return a figure of bars, or nothing where none is drawn."""
    return [figure(lambda narrow: bar_chart(totals, narrow=narrow), caption)] if drawn else []


def _margin(margin: Margin, drawn: bool, words: Words) -> list[Block]:
    """Return one column: every declared label with what there is at least, and what there may be."""
    name = margin.columns[0]
    (labels,), found = margin.labels, margin.intervals
    order = list(range(len(labels)))
    if len(labels) > MOST_DRAWN:
        order = np.argsort(-margin.counts, kind="stable")[:MOST_DRAWN].tolist()
    elif not margin.declared:
        order = in_numeric_order(labels)
    names = distinct_labels((labels[at] for at in order), LONGEST)
    heading = Heading(Markup("By {}").format(label(name)))
    which = "Drawn" if drawn else "Listed"
    few = "" if len(labels) <= MOST_DRAWN else f" {which} are the {MOST_DRAWN} largest of {len(labels):,} labels."
    if (found.low < 0).all():
        caption = f"{words.shown.capitalize()} by {shorten(name)}.{few} How they were sampled is not stated."
        counts = [(labels[at], int(margin.counts[at])) for at in order]
        listed = [[label(text), f"{count:,}"] for text, count in counts]
        drawing = bars([(names[text], count) for text, count in counts], caption, drawn)
        return [heading, *drawing, Table(["label", words.counted], listed, caption, {1}, drawn)]
    ranges = [Range(names[labels[at]], *_ends(margin, at)) for at in order]
    caption = f"{words.estimated.capitalize()} by {shorten(name)}. {_meaning(margin, drawn)}{few}"
    rows: list[list[str]] = []
    for each, at in zip(ranges, order, strict=True):
        count = f"{int(margin.counts[at]):,}" if margin.shown[at] else "–"
        rows.append([label(labels[at]), count, *map(_whole, (each.estimate, each.low, each.high))])
    headers = ["label", words.shown, "estimate", "low", "high"]
    return [
        heading,
        *([figure(lambda narrow: range_chart(ranges, narrow=narrow), caption)] if drawn else []),
        Table(headers, rows, f"{caption} – is not known.", range(1, 5), drawn),
    ]


def _ends(margin: Margin, at: int) -> tuple[float, float | None, float | None, str]:
    """Return the ends, the estimate, and what to write beside them."""
    found = margin.intervals
    estimate = None if np.isnan(found.estimate[at]) else float(found.estimate[at])
    low, high = max(int(found.low[at]), 0), None if found.high[at] < 0 else int(found.high[at])
    if margin.shown[at] == 0:
        text = "not published" if high is None else f"not published: 0 to {high:,}"
    elif estimate is not None:
        text = f"{estimate:,.0f} ({low:,} to {high:,})" if high is not None else f"{estimate:,.0f}"
    else:
        text = f"at least {low:,}" if high is None else f"{low:,} to {high:,}"
    return low, high, estimate, text


def _meaning(margin: Margin, drawn: bool) -> str:
    if np.isnan(margin.intervals.estimate).all():
        known = (
            "The strong bar is what there is at least; the faint one what there may be"
            if drawn
            else "There are at least as many as low says; there may be as many as high says"
        )
        return f"{known}, since cells below the threshold are not published. The ends hold 95 times in 100."
    if drawn:
        return "The line is the estimate; the strong and the faint bar end at the ends of the 95 % interval."
    return "The 95 % interval is from low to high."


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _pairs(pair: Margin, drawn: bool, words: Words) -> list[Block]:
    """Return the first two columns: all declared labels of both, as far as there is room."""
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
    heading = Heading(Markup("By {} and {}").format(label(first), label(second)))
    if not cells:
        return [heading]
    about = (words.estimated if population else words.shown).capitalize()
    kind = ", at least," if population and np.isnan(pair.intervals.estimate).any() else ""
    shades = ": there are more where a tile stands out more" if drawn else ""  # screens in the dark turn shades round
    caption = f"{about}{kind} by {shorten(first)} (down) and {shorten(second)} (across){shades}."
    blank = " Where a place is blank, nothing is published; that does not mean zero."
    blank = blank if len(cells) < len(down) * len(across) else ""
    headers = [f"{shorten(first, LONGEST)} \\ {shorten(second, LONGEST)}", *(label(text, LONGEST) for text in across)]
    rows: list[list[str]] = [
        [label(one, LONGEST), *(f"{cells[one, other]:,}" if (one, other) in cells else "–" for other in across)]
        for one in down
    ]
    listed = Table(headers, rows, f"{caption} – is not zero.", range(1, len(headers)), drawn)
    if not drawn:
        return [heading, listed]
    names = distinct_labels(down, LONGEST), distinct_labels(across, SHORTEST)
    tiles = [(names[0][one], names[1][other], value) for (one, other), value in cells.items()]
    drawing = heatmap(tiles, rows=list(names[0].values()), columns=list(names[1].values()))
    return [heading, figure(lambda _: drawing, f"{caption}{blank}", scrolls=True), listed]


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


def _values(pair: Margin) -> tuple[list[int], bool]:
    """Return estimates or else lower ends, or the counts of the sample; and whether they are of the population."""
    found = pair.intervals
    if (found.low < 0).all():
        return pair.counts.tolist(), False
    values = np.where(np.isnan(found.estimate), found.low, np.nan_to_num(found.estimate))
    return np.round(values).astype(np.int64).tolist(), True


def _strata(laws: CellLaws) -> tuple[list[tuple[str, str]], list[Part]]:
    """Return the range of rates and of k over the strata, and a section with those of every stratum."""
    if laws.stratum is None:
        return [], []
    found = {name: own for name, own in laws.strata.items() if own is not None}
    sizes = {name: own.law.shown_from or own.law.exact_from for name, own in found.items()}
    rows: list[list[str]] = []
    for name, own in [*found.items()][:_MOST_STRATA]:
        least, most, rate, k = own.stratum.low, own.stratum.high, own.stratum.rate, sizes[name]
        ends = f"{100 * least:.4g} %" if least == most else f"{100 * least:.4g} – {100 * most:.4g} %"
        rows.append([label(name), ends, f"{1 / rate:,.4g}" if rate else "–", f"{k:,}" if k else "–"])
    more = len(laws.strata) - _MOST_STRATA
    listed = Table(
        [label(laws.stratum, 40), "share sampled", "one person stands for", "k"],
        rows,
        "The strata" + (f"; {more:,} more are in datapackage.json" if more > 0 else ""),
        {1, 2, 3},
    )
    said = "People of every stratum were sampled at a rate of their own. The guarantee is that of the worst stratum."
    keys: list[tuple[str, str]] = []
    if known := [size for size in sizes.values() if size is not None]:
        least, most = (min(own.stratum.low for own in found.values()), max(own.stratum.high for own in found.values()))
        keys = [
            ("k, by stratum", f"{min(known):,} – {max(known):,}"),
            ("share of people sampled, by stratum", f"{100 * least:.4g} – {100 * most:.4g} %"),
        ]
    return keys, [Part("strata", "Strata of the sample", [said, listed])]

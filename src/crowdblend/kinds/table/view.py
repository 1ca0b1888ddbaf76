"""Tables and microdata: the totals by label, the pairs, the sizes and the largest cells.

Figures are about the population where the release says how people were sampled, and show every declared label; each
has its numbers in a table. A page without figures has the tables alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from crowdblend.kinds.shared.crowd_facts import CrowdFacts
from crowdblend.kinds.shared.facts import ReleaseFacts
from crowdblend.kinds.shared.outputs import RecordsOutput
from crowdblend.kinds.table.facts import EverywhereFacts, ThresholdFacts
from crowdblend.methods.estimates.cells import CellLaws
from crowdblend.methods.estimates.nouns import Noun
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.figures.bars import bar_chart
from crowdblend.reading.figures.quantity import whole
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Group, Heading, Table, figure
from crowdblend.reading.reports.margins import CountWords, show_margin, show_pair
from crowdblend.reading.reports.sentences import title
from crowdblend.reading.reports.summary import MOST_COLUMNS, Summary, summarize
from crowdblend.reading.reports.text import label
from crowdblend.reading.reports.view import CHOSEN_RECODING, Part, View, chosen_recoding
from crowdblend.trusted.guarantees.wording import fact

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


def words_of(facts: ReleaseFacts) -> CountWords:
    """Return the words for what a release counts: a sample, everybody, or rows of everybody."""
    noun, many = facts.counted, facts.counted.many
    if isinstance(facts, EverywhereFacts) and facts.unit.several:
        if facts.count == "rows":
            return CountWords(noun, f"{many} that were kept", f"published {many}", _CUT)
        return CountWords(noun, many, f"published {many}", _TWICE)
    found = CountWords(noun, f"{many} of the population", f"published {many} of the sample", _CUT)
    if facts.sample is not None and facts.sample.everybody:
        found = replace(found, estimated=many, shown=f"published {many}")
    (table,) = facts.tables.values()
    if table.laws.repeated:
        found = replace(found, estimated=f"{many} who count", no_totals=_IN_EACH)
    return replace(found, no_totals=_REACHED) if isinstance(facts, ThresholdFacts) else found


def view(folder: PublishedRelease, figures: bool) -> View:
    """Read every data file once, and show what it adds up to."""
    facts = folder.facts
    counted = facts.rows_are_counted is True
    ((name, table),) = folder.tables.items()
    cells, written = folder.open(name), folder.output(name)
    if isinstance(written, RecordsOutput):
        cells = replace(cells, classes=written.written_classes())
    summary = summarize(cells, table)
    chosen = chosen_recoding(facts.recoding) if isinstance(facts, CrowdFacts) else []
    words = words_of(facts)
    records = "one a row" if facts.counting_note is None else "some of whom may have several rows"
    strata_keys, strata = _strata(table.laws, facts.counted)
    return View(
        heading=title(tuple(summary.columns), counted, words.counted.many),
        what=f"a table: how many {words.counted.many} have which combination of labels"
        if counted
        else f"records of {words.counted.many}, {records}",
        keys=(*_keys(summary, counted, words), *strata_keys),
        reading=sentences(facts, table),
        parts=(
            *([Part("recoding", CHOSEN_RECODING, chosen)] if chosen else []),
            _part(folder, summary, counted, figures, words),
            *strata,
            *(_totals(folder, other) for other in folder.files if other != name),
        ),
    )


def _keys(summary: Summary, counted: bool, words: CountWords) -> list[tuple[str, str]]:
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
    return [*population, (f"{words.counted.many} in the published data", f"{summary.people:,}"), cells]


def _part(folder: PublishedRelease, summary: Summary, counted: bool, figures: bool, words: CountWords) -> Part:
    """Return the section of the data file."""
    (table,) = folder.tables.values()
    if summary.cells:
        shown = _figures(summary, table.columns, figures, words)
        return Part("data", _PUBLISHED, [*shown, *_largest(summary, table.columns, counted)])
    k = max(folder.facts.crowds.values(), default=None)
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


def _largest(summary: Summary, domains: Mapping[str, Domain], counted: bool) -> list[Block]:
    names = summary.columns[:MOST_COLUMNS]
    spoken = [domains[name].spoken_labels if name in domains else {} for name in names]
    estimated = any(cell.low is not None for cell in summary.largest)
    headers: list[str] = [*(label(name, 40) for name in names), (summary.counter if counted else "rows")]
    headers += ["exact"] if summary.flagged else []
    right = {len(names), *(range(len(headers), len(headers) + 3) if estimated else ())}
    headers += ["estimate", "low", "high"] if estimated else []
    rows: list[list[str]] = []
    for cell in summary.largest:
        said = (own.get(text, text) for own, text in zip(spoken, cell.labels, strict=False))
        row: list[str] = [*map(label, said), f"{cell.count:,}"]
        row += [fact(cell.exact)] if summary.flagged else []
        row += ["–" if end is None else whole(end) for end in (cell.estimate, cell.low, cell.high)] if estimated else []
        rows.append(row)
    left = len(summary.columns) - len(names)
    few = len(summary.largest) == summary.cells
    caption = (
        "All published cells" if few else f"The largest {len(summary.largest)} of {summary.cells:,} published cells"
    )
    caption += f"; {left:,} further columns are not shown" if left else ""
    return [Heading("The cells" if few else "The largest cells"), Table(headers, rows, caption, right)]


def _figures(summary: Summary, domains: Mapping[str, Domain], drawn: bool, words: CountWords) -> list[Block]:
    """Return every figure of one data file, or their numbers."""
    blocks: list[Block] = [] if summary.margins else [words.no_totals]
    for margin in summary.margins:
        blocks += show_margin(margin, domains.get(margin.columns[0]), drawn, words)
    left = len(summary.columns) - MOST_COLUMNS
    if left > 0:
        which = "Figures are drawn" if drawn else "Totals are shown"
        blocks.append(f"{which} for the first {MOST_COLUMNS} columns; {left:,} more are in the data.")
    if summary.pair is not None and summary.pair.shown.any():
        blocks += show_pair(summary.pair, [domains.get(name) for name in summary.pair.columns], drawn, words)
    if summary.cells > len(summary.largest) and summary.sizes:  # otherwise every cell is listed below
        by = f"estimated number of {words.estimated}" if summary.sized_by_estimates else f"number of {words.shown}"
        caption = f"How many published cells there are, by the {by} in the cell."
        rows = [[text, f"{number:,}"] for text, number in summary.sizes]
        listed = Table([f"{words.counted.many} in the cell", "cells"], rows, caption, {1}, drawn)
        heading = Heading("How large the cells are")
        blocks.append(Group("sizes", [heading, *bars(summary.sizes, caption, drawn), listed]))
    return blocks


def bars(totals: Sequence[tuple[str, int]], caption: str, drawn: bool) -> list[Block]:
    """Return a figure of bars, or nothing where none is drawn."""
    return [figure(lambda narrow: bar_chart(totals, narrow=narrow), caption)] if drawn else []


def _strata(laws: CellLaws, noun: Noun) -> tuple[list[tuple[str, str]], list[Part]]:
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
        [label(laws.stratum, 40), "share sampled", f"one {noun.one} stands for", "k"],
        rows,
        "The strata" + (f"; {more:,} more are in datapackage.json" if more > 0 else ""),
        {1, 2, 3},
    )
    said = f"Every stratum of {noun.many} was sampled at a rate of its own. The guarantee is that of the worst stratum."
    keys: list[tuple[str, str]] = []
    if known := [size for size in sizes.values() if size is not None]:
        least, most = (min(own.stratum.low for own in found.values()), max(own.stratum.high for own in found.values()))
        keys = [
            ("k, by stratum", f"{min(known):,} – {max(known):,}"),
            (f"share of {noun.many} sampled, by stratum", f"{100 * least:.4g} – {100 * most:.4g} %"),
        ]
    return keys, [Part("strata", "Strata of the sample", [said, listed])]

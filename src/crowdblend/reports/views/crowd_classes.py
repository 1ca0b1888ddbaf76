"""Tables and microdata: the totals by label, the pairs, the sizes and the largest cells."""

from __future__ import annotations

from crowdblend.estimates import facts_of_table
from crowdblend.reading.cells import open_cells
from crowdblend.reports.charts import figures
from crowdblend.reports.folder import Folder, crowd_size, fresh_samples, parts_of_sample
from crowdblend.reports.html import Html, element, join, label, table
from crowdblend.reports.numbers import fact
from crowdblend.reports.recoding import HEADING, chosen_recoding
from crowdblend.reports.sentences import reading, title
from crowdblend.reports.strata import keys_of_strata, strata_part
from crowdblend.reports.summarize import summarize
from crowdblend.reports.summary import MOST_COLUMNS, Summary
from crowdblend.reports.view import Part, View

_COUNTED = {"table": True, "microdata": False}
_PUBLISHED = "What was published"


def view(folder: Folder) -> View:
    """Read every data file once, and show what it adds up to."""
    stated = _COUNTED.get(folder.fact("kind", str))
    files = [open_cells(path, counted=stated) for path in folder.files.values()]
    summaries = [summarize(file, facts_of_table(folder.facts, file.path.stem)) for file in files]
    counted = all(file.counted for file in files)
    return View(
        heading=title(tuple(dict.fromkeys(name for summary in summaries for name in summary.columns)), counted),
        what="a table: how many people have which combination of labels" if counted else "records of people, one a row",
        keys=(*_keys(summaries, counted), *keys_of_strata(folder)),
        reading=tuple(reading(folder, summaries, counted=counted)),
        parts=(*_recoding(folder), *_data(folder, summaries, counted), *strata_part(folder)),
    )


def _keys(summaries: list[Summary], counted: bool) -> tuple[tuple[str, str], ...]:
    if len(summaries) > 1:
        return (("tables", f"{len(summaries):,}"),)
    cells = "published cells" if counted else "different combinations of labels"
    found = [(cells, f"{summaries[0].cells:,}")]
    total = summaries[0].total
    if total is None:
        return tuple(found)
    found.insert(0, ("people in the published data", f"{summaries[0].people:,}"))
    low, high = int(total.intervals.low[0]), int(total.intervals.high[0])
    if high >= 0:
        found.insert(0, ("people of the population, 95 % interval", f"{low:,} – {high:,}"))
    elif low >= 0:
        found.insert(0, ("people of the population, at least", f"{low:,}"))
    return tuple(found)


def _recoding(folder: Folder) -> tuple[Part, ...]:
    chosen = chosen_recoding(folder)
    return (Part("recoding", HEADING, chosen),) if chosen else ()


def _data(folder: Folder, summaries: list[Summary], counted: bool) -> list[Part]:
    """A section for every data file; the first one is where the contents point to."""
    parts = []
    for at, summary in enumerate(summaries):
        several = len(summaries) > 1
        size = element("p", _counted(folder, summary)) if several else Html("")
        size = Html("") if summary.total is None else size
        content = (
            join(figures(summary, drawn=folder.figures), _largest(summary, counted, several))
            if summary.cells
            else _nothing(folder, summary.name)
        )
        heading = join(_PUBLISHED, ": table ", label(summary.name)) if several else _PUBLISHED
        parts.append(Part("data" if at == 0 else f"data-{at + 1}", heading, join(size, content), listed=at == 0))
    return parts


def _counted(folder: Folder, summary: Summary) -> str:
    """How many people a table counts, and which: those of its own part of the sample where it has one."""
    whose = " of its own part of the sample" if summary.name in parts_of_sample(folder) else ""
    return f"{summary.people:,} people{whose} in {summary.cells:,} cells."


def _nothing(folder: Folder, table: str) -> Html:
    own = parts_of_sample(folder) or fresh_samples(folder)
    _, k = own.get(table, (1.0, crowd_size(folder)))
    crowd = f" of {k:,}" if k is not None else ""
    return element(
        "p", f"No cell was published: none reached the crowd size{crowd}. That does not mean that nobody is there."
    )


def _largest(summary: Summary, counted: bool, several: bool) -> Html:
    names = summary.columns[:MOST_COLUMNS]
    headers: list[str] = [*(label(name, 40) for name in names), "count" if counted else "rows"]
    rows: list[list[str]] = [
        [*(label(text) for text in cell.labels[:MOST_COLUMNS]), f"{cell.count:,}"] for cell in summary.largest
    ]
    if summary.flagged:
        headers.append("exact")
        rows = [[*row, fact(cell.exact)] for row, cell in zip(rows, summary.largest, strict=True)]
    estimated = frozenset[int]()
    if any(cell.low is not None for cell in summary.largest):
        estimated = frozenset(range(len(headers), len(headers) + 3))
        headers += ["estimate", "low", "high"]
        ends = [[cell.estimate, cell.low, cell.high] for cell in summary.largest]
        rows = [
            [*row, *("–" if end is None else f"{end:,.0f}" for end in of_cell)]
            for row, of_cell in zip(rows, ends, strict=True)
        ]
    left = len(summary.columns) - len(names)
    few = len(summary.largest) == summary.cells
    caption = (
        "All published cells" if few else f"The largest {len(summary.largest)} of {summary.cells:,} published cells"
    )
    caption += f" of table {summary.name}" if several else ""  # each region of a page has a name of its own
    caption += f"; {left:,} further columns are not shown" if left else ""
    return join(
        element("h3", "The cells" if few else "The largest cells"),
        table(headers, rows, caption=caption, numbers=frozenset([len(names)]) | estimated),
    )

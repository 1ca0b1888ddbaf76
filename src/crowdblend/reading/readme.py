"""`README.md` of a release folder: what is in it, how to open, read and check it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crowdblend.kinds.shared.facts import ReleaseFacts
from crowdblend.policies.registry import kind_of
from crowdblend.reading.cells import COUNTERS, ESTIMATES
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.notes import sentences
from crowdblend.reading.release import PublishedRelease
from crowdblend.trusted.guarantees.guessing import lead

NAME = "README.md"
_COUNTED = (*COUNTERS, "exact", *ESTIMATES)
_TOLD = ("publisher", "contact", "licence", "period")
# What markup begins with. A name that has it is written with entities, so that no backslash stands before anything.
_MARKUP = re.compile(r"[<>`*|\\~]|(?<=\])\(|(?<!\w)_|_(?!\w)")
_SYNTHETIC = "Synthetic rows: none of them is a person. What they answer, and how well, is in report.html."

_INSTALL = "crowdblend is at https://github.com/crowdblend/crowdblend: `pip install .` in a checkout installs it."


def readme(release: PublishedRelease) -> str:
    """Return the text of README.md for a release whose data files are written."""
    facts, data = release.facts, release.data_files
    about = facts.about
    said = [about.get("title") or _publishes(facts).rstrip(".")]
    lines = [_SYNTHETIC, ""] if any(one.rows_are_synthetic for one in facts.publications.values()) else []
    lines += [f"# {_plain(said[0])}", ""]
    lines += [f"- {name}: {_plain(about[name])}" for name in _TOLD if name in about]
    lines += [f"- date: {facts.date}"] if facts.date else []
    domain = "its labels, where they were declared" if _open_labels(facts) else "its whole domain"
    lines += ["", "| file | what it is |", "|---|---|", *(_describe_file(file, facts) for file in data)]
    lines += [
        "| report.html | the data shown and explained on one page; drop the other files on it to check them |",
        f"| datapackage.json | every column with its meaning and {domain}, as a Frictionless Data Package |",
        "| certificate.json | what is guaranteed, and the derivation that anyone can redo |",
        "",
    ]
    if opening := lead(release.guarantees, facts.planned_releases):
        lines += ["## What is guaranteed", "", _plain(opening), ""]
    if reading := _reading(facts):
        lines += ["## How to read the numbers", "", *(f"- {line}" for line in reading), ""]
    lines += [*_opening(_main_file(data, facts)), *_python(facts)] if data else []
    lines += ["## How to check it", "", "    crowdblend verify .", ""]
    lines += ["recomputes every number of the certificate and compares the hash of every file.", _INSTALL, ""]
    return "\n".join(lines)


def _main_file(data: Sequence[DataFile], facts: ReleaseFacts) -> DataFile:
    """Return the file that readers want: of synthetic rows and their tables the rows, else the first."""
    synthetic = {name for name, one in facts.publications.items() if one.rows_are_synthetic}
    return next((file for file in data if file.stem in synthetic), data[0])


def _describe_file(file: DataFile, facts: ReleaseFacts) -> str:
    """Return a data file: what its kind publishes, and its columns."""
    own = facts.publications.get(file.stem, facts)
    what = "Totals of what was counted." if file.stem == "totals" else _publishes(own)
    return f"| {_plain(file.name)} | {_plain(what)} Columns: {_plain(', '.join(file.header))}. |"


def _publishes(facts: ReleaseFacts) -> str:
    return facts.publishes or kind_of(facts.kind).publishes


def _reading(facts: ReleaseFacts) -> list[str]:
    """Return sentences true of all publications, and then those true of each alone."""
    said = {name: sentences(one, table) for name, one in facts.publications.items() for table in one.tables.values()}
    said |= {name: one.notes for name, one in facts.publications.items() if name not in said}
    said = {name: lines for name, lines in said.items() if not facts.publications[name].is_computed_from_others}
    first = next(iter(said.values()), [])
    common = [line for line in first if all(line in lines for lines in said.values())]
    own: dict[str, list[str]] = {}
    for name, lines in said.items():
        for line in lines:
            if line not in common:
                own.setdefault(line, []).append(name)
    each = (f"{_plain(', '.join(names))}: {_plain(line)}" for line, names in own.items())
    return [*map(_plain, [*facts.together, *common]), *each]


def _opening(file: DataFile) -> list[str]:
    """Three lines each in pandas, R and SQL, which name no column that the file does not have."""
    name, header = file.name, file.header
    wanted = [column for column in header if column in ESTIMATES] if set(ESTIMATES) <= set(header) else []
    # All labels: of rows without one of them a reader would take a part for the whole.
    shown = [*[column for column in header if column not in _COUNTED], *wanted]
    quoted = ", ".join(f'"{column}"' for column in shown)
    blocks = {
        "pandas": [
            "import pandas as pd",
            f'data = pd.{file.format.pandas_reader}("{name}")',
            f"data[[{quoted}]].head()",
        ],
        "R": [file.format.opened_in_r(name), f"head(data[c({quoted})])"],
        "SQL": [f"SELECT {quoted}", f"FROM '{name}'", "LIMIT 5;"],
    }
    # A name with a sign that ends a text in one of the three would not be a column there.
    if any(set(column) & set("\"'\\") or not column.isprintable() for column in (*shown, name)):
        return []
    lines = []
    for language, code in blocks.items():
        what = "SQL (DuckDB reads the file where it lies)" if language == "SQL" else language
        lines += [f"## In {what}", "", *(f"    {line}" for line in code), ""]
    return lines


def _python(facts: ReleaseFacts) -> list[str]:
    if not facts.tables:
        return []
    many = facts.counted.many
    what = "count" if any(table.laws.repeated for table in facts.tables.values()) else "there are"
    estimates = f"release.estimates().to_pandas()           # how many {many} {what} in every cell, with an interval"
    if all(table.laws.add_up for table in facts.tables.values()):
        what = f"{many} there are" if facts.counting_note is None else f"{many} were kept"
        estimates = f"release.estimates(margin=[]).to_pandas()  # how many {what} in all, with an interval"
    labels = "those that are published" if _open_labels(facts) else "categories, all that were declared"
    return [
        "## In Python, with estimates and intervals",
        "",
        "    import crowdblend as cb",
        '    release = cb.read(".")',
        f"    frame = release.data.to_pandas()          # labels are {labels}",
        f"    {estimates}",
        "",
    ]


def _open_labels(facts: ReleaseFacts) -> bool:
    """Return whether the labels of some column were not declared."""
    return any(domain.labels is None for domain in facts.domains.values())


def _plain(text: Any) -> str:
    """Return a text on one line in which nothing is markup.

    >>> _plain("by_age [0, 10) *x*")
    'by_age [0, 10) &#42;x&#42;'
    """
    return _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", " ".join(str(text).replace("&", "&amp;").split()))

"""`README.md` of a release folder: what is in it, how to read it and how to check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate
from crowdblend.guarantees.guessing import lead
from crowdblend.reading.cells import ENDINGS
from crowdblend.reading.notes import sentences
from crowdblend.releases.facts import ReleaseFacts, read_facts

NAME = "README.md"
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>()#+-!|"})
_TOLD = ("publisher", "contact", "licence", "period")


def readme(certificate: Certificate) -> str:
    """The text of README.md, from the certificate alone."""
    facts = read_facts(certificate.facts)
    about = facts.about
    lines = [f"# {_plain(about.get('title') or 'A release of data about people')}", ""]
    lines += [f"- {name}: {_plain(about[name])}" for name in _TOLD if name in about]
    lines += [f"- date: {facts.date}"] if facts.date else []
    lines += ["", "| file | what it is |", "|---|---|", *_files(facts), ""]
    if opening := lead(certificate.guarantees, facts.planned_releases):
        lines += ["## What is guaranteed", "", _plain(opening), ""]
    if facts.tables or facts.together:
        lines += ["## How to read the numbers", "", *(f"- {line}" for line in _reading(facts)), ""]
    lines += [*_python(facts), "## How to check it", "", "    crowdblend verify .", ""]
    lines += ["recomputes every number of the certificate and compares the hash of every file.", ""]
    return "\n".join(lines)


def _reading(facts: ReleaseFacts) -> list[str]:
    """What is true of all tables, and then what is true of each alone."""
    said = {name: sentences(one, table) for name, one in facts.publications.items() for table in one.tables.values()}
    said |= {name: one.notes for name, one in facts.publications.items() if name not in said}
    first = next(iter(said.values()))
    common = [line for line in first if all(line in lines for lines in said.values())]
    own = [(name, line) for name, lines in said.items() for line in lines if line not in common]
    together = facts.together
    return [*map(_plain, [*together, *common]), *(f"{_plain(name)}: {_plain(line)}" for name, line in own)]


def _files(facts: ReleaseFacts) -> list[str]:
    data = [name for name in facts.files if Path(name).suffix in ENDINGS]
    return [
        *(f"| {_plain(name)} | the published data |" for name in data),
        "| datapackage.json | every column with its meaning and its whole domain, as a Frictionless Data Package |",
        "| certificate.json | what is guaranteed, and the derivation that anyone can redo |",
        "| report.html | the release explained on one page |",
    ]


def _python(facts: ReleaseFacts) -> list[str]:
    if not facts.tables:
        return []
    estimates = "release.estimates().to_pandas()           # how many people there are in every cell, with an interval"
    if all(table.laws.add_up for table in facts.tables.values()):
        what = "people there are" if facts.counted is None else "rows were kept"
        estimates = f"release.estimates(margin=[]).to_pandas()  # how many {what} in all, with an interval"
    return [
        "## In Python",
        "",
        "    import crowdblend as cb",
        '    release = cb.read(".")',
        "    frame = release.data.to_pandas()          # labels are categories, all that were declared",
        f"    {estimates}",
        "",
    ]


def _plain(text: Any) -> str:
    """A text on one line in which nothing is markup."""
    return " ".join(str(text).split()).translate(_SIGNS)

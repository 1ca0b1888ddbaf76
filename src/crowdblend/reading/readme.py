"""`README.md` of a release folder: what is in it, how to read it and how to check it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate
from crowdblend.estimates import facts_of_table
from crowdblend.guarantees.guessing import lead
from crowdblend.reading.cells import ENDINGS
from crowdblend.reading.datapackage import COUNTED
from crowdblend.reading.domain import declared_domain
from crowdblend.reading.notes import sentences

NAME = "README.md"
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>()#+-!|"})
_TOLD = ("publisher", "contact", "licence", "period")


def readme(certificate: Certificate) -> str:
    """The text of README.md, from the certificate alone."""
    facts = certificate.facts
    about: Mapping[str, Any] = facts.get("about") or {}
    lines = [f"# {_plain(about.get('title') or 'A release of data about people')}", ""]
    lines += [f"- {name}: {_plain(about[name])}" for name in _TOLD if name in about]
    lines += [f"- date: {facts['date']}"] if "date" in facts else []
    lines += ["", "| file | what it is |", "|---|---|", *_files(facts), ""]
    if opening := lead(certificate.guarantees, certificate.facts):
        lines += ["## What is guaranteed", "", _plain(opening), ""]
    if facts["kind"] in COUNTED:
        said = sentences(facts_of_table(facts, next(iter(facts.get("tables") or ()), "data")), declared_domain(facts))
        lines += ["## How to read the numbers", "", *(f"- {_plain(line)}" for line in said), ""]
    lines += [*_python(facts), "## How to check it", "", "    crowdblend verify .", ""]
    lines += ["recomputes every number of the certificate and compares the hash of every file.", ""]
    return "\n".join(lines)


def _files(facts: Mapping[str, Any]) -> list[str]:
    data = [name for name in facts["files"] if Path(name).suffix in ENDINGS]
    return [
        *(f"| {_plain(name)} | the published data |" for name in data),
        "| datapackage.json | every column with its meaning and its whole domain, as a Frictionless Data Package |",
        "| certificate.json | what is guaranteed, and the derivation that anyone can redo |",
        "| report.html | the release explained on one page |",
    ]


def _python(facts: Mapping[str, Any]) -> list[str]:
    if facts["kind"] not in COUNTED:
        return []
    return [
        "## In Python",
        "",
        "    import crowdblend as cb",
        '    release = cb.read(".")',
        "    frame = release.data.to_pandas()          # labels are categories, all that were declared",
        "    release.estimates(margin=[]).to_pandas()  # how many people there are in all, with an interval",
        "",
    ]


def _plain(text: Any) -> str:
    """A text on one line in which nothing is markup."""
    return " ".join(str(text).split()).translate(_SIGNS)

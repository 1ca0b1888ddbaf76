"""Synthetic rows as readers see them: how well every published table is met, and what nobody measured."""

from __future__ import annotations

from itertools import combinations
from math import comb

from markupsafe import Markup

from crowdblend.publishing.synthesis.facts import Source, SyntheticFacts
from crowdblend.reading.figures.bars import interval_chart
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.blocks import Block, Table, figure
from crowdblend.reading.reports.text import distinct_labels, enumeration, label, shorten
from crowdblend.reading.reports.view import Part, View

_MOST_DRAWN, _MOST_LISTED, _LONGEST = 40, 60, 40
_MET = (
    "The rows are apart from a published table by the share of {many} that would have to change their cell. A "
    "published table has noise itself, and is apart from the truth by about the share beside it: rows that are closer "
    "to it than that are as close as they should be."
)
_KEEP = "Rows do not replace a table that they are much farther from than its noise: use the published table there."


def view(folder: PublishedRelease, figures: bool) -> View:
    """Return the page, from the certificate alone; no table of it counts the rows."""
    facts = folder.facts
    assert isinstance(facts, SyntheticFacts)
    names = list(facts.columns)
    return View(
        heading=f"Synthetic rows: {enumeration([shorten(name, 40) for name in names[:5]])}",
        what="synthetic: rows drawn from a model of published tables, of which none is a person",
        keys=[("synthetic rows", f"{facts.rows:,}"), ("tables that they were fitted to", f"{len(facts.met):,}")],
        reading=facts.together,
        parts=[
            Part("met", "How well the synthetic rows meet every published table", _met(facts, figures)),
            Part("unmeasured", "What nobody measured", _unmeasured_pairs(facts)),
            *([Part("sources", "What the synthetic rows were made from", _sources(facts))] if facts.sources else []),
        ],
    )


def _met(facts: SyntheticFacts, figures: bool) -> list[Block]:
    worst = sorted(facts.met, key=lambda one: (-one.apart, one.source, one.name))
    several = len(facts.sources) > 1
    names = {(one.source, one.name): f"{one.source + 1}: {one.name}" if several else one.name for one in worst}
    rows = [
        [
            label(names[one.source, one.name]),
            label(", ".join(one.columns)),
            f"{one.cells:,}",
            f"{100 * one.apart:.2f} %",
            f"{100 * one.noise:.2f} %",
            "the published table" if one.is_missed(facts.rows) else "rows or table",
        ]
        for one in worst
    ]
    heads = ["table", "columns", "cells", "rows are apart", "noise of the table", "use"]
    table = Table(heads, rows, "Every published table, the farthest first", {2, 3, 4}, folded=figures)
    blocks: list[Block] = [_MET.format(many=facts.counted.many), *([_KEEP] if facts.unmet_tables else [])]
    if figures:
        drawn = worst[:_MOST_DRAWN]
        texts = distinct_labels([names[one.source, one.name] for one in drawn], _LONGEST)
        points = [(texts[names[one.source, one.name]], 100 * one.apart, 0.0, 100 * one.noise) for one in drawn]
        which = f" The farthest {_MOST_DRAWN} of {len(worst)}." if len(worst) > len(drawn) else ""
        what = "how far rows are from a table (dot), and the noise of the table (line)"
        caption = f"Percent of {facts.counted.many}: {what}.{which}"
        blocks.append(figure(lambda narrow: interval_chart(points, narrow=narrow), caption))
    return [*blocks, table]


def _unmeasured_pairs(facts: SyntheticFacts) -> list[Block]:
    """Return the pairs of columns that no table has together, and how many larger combinations no table has."""
    names = list(facts.columns)
    tables = [set(one.columns) for one in facts.met]
    pairs = [pair for pair in combinations(names, 2) if not any(set(pair) <= table for table in tables)]
    measured = {triple for one in facts.met for triple in combinations(sorted(one.columns), 3)}
    triples = comb(len(names), 3) - len(measured)
    blocks: list[Block] = []
    if pairs:
        rows = [[label(one), label(other)] for one, other in pairs[:_MOST_LISTED]]
        more = f" (the first {_MOST_LISTED} of {len(pairs):,})" if len(pairs) > _MOST_LISTED else ""
        blocks.append(
            f"Pairs of columns that no published table has together: {len(pairs):,}. What the rows show of them "
            "follows from the model alone; draw no conclusion from it."
        )
        blocks.append(Table(["column", "and column"], rows, f"Pairs of columns that nobody measured{more}"))
    else:
        blocks.append("Every pair of columns is in a published table.")
    if triples:
        blocks.append(
            f"Combinations of three columns that no published table has: {triples:,} of {comb(len(names), 3):,}. "
            "The model joins what was measured as simply as it can."
        )
    return blocks


def _sources(facts: SyntheticFacts) -> list[Block]:
    rows = [
        [
            f"{at}",
            label(one.release.about.get("title") or f"a release of kind {one.release.kind}"),
            _guarantee(one),
            Markup("<code>{}</code>").format(one.digest),
        ]
        for at, one in enumerate(facts.sources, 1)
    ]
    said = "Whatever is computed from published files keeps what they guarantee, so that these rows cost no privacy."
    if len(facts.sources) > 1:
        said += " The guarantee above is of all sources together; each has its own, which is stronger."
    heads = ["", "release", "its guarantee", "digest of its certificate"]
    return [said, Table(heads, rows, "The releases that the synthetic rows were made from")]


def _guarantee(source: Source) -> str:
    guarantee = source.certificate.differential() or source.certificate.guarantees[0]
    return shorten(guarantee.words(), 300)

"""Stratified samples in a report: how to read their numbers, and the rate and the k of every stratum."""

from __future__ import annotations

from crowdblend.estimates import strata_of
from crowdblend.reading.strata import stratum_sentences
from crowdblend.reports.folder import Folder
from crowdblend.reports.html import Html, element, join, label, table
from crowdblend.reports.view import Part

_MOST = 100


def reading_of_strata(folder: Folder) -> list[str]:
    """How to read the numbers of a stratified sample; nothing where the sample has no strata."""
    strata = strata_of(folder.facts)
    return [] if strata is None else stratum_sentences(folder.facts, strata)


def keys_of_strata(folder: Folder) -> tuple[tuple[str, str], ...]:
    """The range of rates and of k over the strata."""
    strata = strata_of(folder.facts)
    found = [] if strata is None else [own for own in strata.estimators().values() if own is not None]
    sizes = [own.law.shown_from or own.law.exact_from for own in found]
    known = [size for size in sizes if size is not None]
    if not found or not known:
        return ()
    least, most = min(own.design.least for own in found), max(own.design.most for own in found)
    return (
        ("k, by stratum", f"{min(known):,} – {max(known):,}"),
        ("share of people sampled, by stratum", f"{100 * least:.4g} – {100 * most:.4g} %"),
    )


def strata_part(folder: Folder) -> tuple[Part, ...]:
    """A table of all strata, for a section of its own."""
    strata = strata_of(folder.facts)
    if strata is None:
        return ()
    rows: list[list[str]] = []
    for name, own in [*strata.estimators().items()][:_MOST]:
        if own is not None:
            least, most, rate = own.design.least, own.design.most, own.design.rate
            ends = f"{100 * least:.4g} %" if least == most else f"{100 * least:.4g} – {100 * most:.4g} %"
            k = own.law.shown_from or own.law.exact_from
            rows.append([label(name), ends, f"{1 / rate:,.4g}" if rate else "–", f"{k:,}" if k else "–"])
    more = len(strata.facts) - _MOST
    listed = table(
        [label(strata.column, 40), "share sampled", "one person stands for", "k"],
        rows,
        caption="The strata" + (f"; {more:,} more are in datapackage.json" if more > 0 else ""),
        numbers=frozenset([1, 2, 3]),
    )
    said = element(
        "p", "People of every stratum were sampled at a rate of their own. The guarantee is that of the worst stratum."
    )
    return (Part("strata", "Strata of the sample", Html(join(said, listed))),)

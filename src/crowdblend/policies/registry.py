"""The seven kinds of release and the class of each one's policy, loaded when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from crowdblend.policies.key import keys_of, parts_of, sections_of
from crowdblend.policies.policy import Policy, has_columns


@dataclass(frozen=True)
class KindWords:
    """The class of a kind's policy, what the kind is called, and what it publishes in a sentence."""

    policy: str
    name: str
    publishes: str


WORDS = {
    "table": KindWords("Table", "table of counts", "Counts by class, exact where the crowd is large enough."),
    "microdata": KindWords(
        "Microdata",
        "microdata: rows by class",
        "A row for everybody in a large enough class; the recoding can be chosen.",
    ),
    "points": KindWords("Points", "points on a map", "Where people are, moved by noise within blocks."),
    "outlier-table": KindWords("OutlierTable", "outlier-private table", "Counts with more noise the smaller they are."),
    "statistics": KindWords(
        "Statistics",
        "statistics: averages, shares, counts",
        "Averages, shares, counts, medians and histograms of a few columns.",
    ),
    "synopsis": KindWords("Synopsis", "synopsis: synthetic rows", "Synthetic rows that answer many questions."),
    "graph": KindWords("Graph", "graph: figures of a network", "Figures of a network, from one link a row."),
}
KINDS = tuple(WORDS)


def policy_class(kind: str) -> type[Policy]:
    """Return the class of policies of a kind; its module is called as the kind is."""
    module = import_module(f"crowdblend.policies.{kind.replace('-', '_')}")
    found: type[Policy] = getattr(module, WORDS[kind].policy)
    return found


@cache
def sections(kind: str) -> dict[str, tuple[str, ...]]:
    """Return the sections of a kind's policy, each with the names of its keys; [columns] has columns instead."""
    policy = policy_class(kind)
    declared = {**sections_of(policy), **{part.name: keys_of(part.holder) for part in parts_of(policy).values()}}
    found = {name: tuple(key.name for key in keys.values()) for name, keys in declared.items()}
    columns: dict[str, tuple[str, ...]] = {"columns": ()} if has_columns(policy) else {}
    return {**found, "release": ("kind", *found.get("release", ())), **columns}


def kinds_with(section: str, key: str | None = None) -> list[str]:
    """Return the kinds whose policies have a section, or a key of it."""
    return [
        kind
        for kind in KINDS
        if section in (found := sections(kind)) and (key is None or section == "columns" or key in found[section])
    ]

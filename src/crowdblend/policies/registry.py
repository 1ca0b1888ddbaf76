"""Every kind of release: the one list of them, and where the parts of each are.

A kind is a package with the modules policy, plan, facts, view, verify and rehearse, loaded when they are used. Another
distribution adds a kind by an entry point of the group `crowdblend.kinds`, which is named as the kind is and loads a
`Kind`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy
from crowdblend.policies.key import keys_of, parts_of, sections_of
from crowdblend.policies.policy import Policy, has_columns

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = lazy("importlib.metadata")

GROUP = "crowdblend.kinds"


@dataclass(frozen=True)
class Kind:
    """Where a kind is, the class of its policies, what it is called, and what it publishes in a sentence."""

    package: str
    policy: str
    name: str
    publishes: str


def _ours(package: str, policy: str, name: str, publishes: str) -> Kind:
    return Kind(f"crowdblend.kinds.{package}", policy, name, publishes)


WORDS = {
    "table": _ours("table", "Table", "table of counts", "Counts by class, exact where the crowd is large enough."),
    "microdata": _ours(
        "microdata",
        "Microdata",
        "microdata: rows by class",
        "A row for everybody in a large enough class; the recoding can be chosen.",
    ),
    "points": _ours("points", "Points", "points on a map", "Where people are, moved by noise within blocks."),
    "outlier-table": _ours(
        "outlier_table", "OutlierTable", "outlier-private table", "Counts with more noise the smaller they are."
    ),
    "statistics": _ours(
        "statistics",
        "Statistics",
        "statistics: averages, shares, counts",
        "Averages, shares, counts, medians and histograms of a few columns.",
    ),
    "synopsis": _ours("synopsis", "Synopsis", "synopsis: synthetic rows", "Synthetic rows that answer many questions."),
    "graph": _ours("graph", "Graph", "graph: figures of a network", "Figures of a network, from one link a row."),
}
KINDS = tuple(WORDS)


def kind_of(name: str) -> Kind:
    """Return a kind by its name, ours or that of an entry point."""
    if name in WORDS:
        return WORDS[name]
    for point in metadata.entry_points(group=GROUP, name=name):
        found = point.load()
        if isinstance(found, Kind):
            return found
    raise InvalidInput(
        f"There is no kind {name[:60]!r}.",
        remedy=f"Use one of {', '.join(all_kinds())}.",
        where="[release] kind",
        code="policy.kind",
    )


def all_kinds() -> Iterator[str]:
    """Yield the names of all kinds, those of entry points last."""
    yield from KINDS
    yield from sorted(metadata.entry_points(group=GROUP).names)


def is_kind(name: object) -> bool:
    """Return whether a kind has this name."""
    return isinstance(name, str) and (name in WORDS or name in metadata.entry_points(group=GROUP).names)


def part(kind: str, name: str) -> ModuleType:
    """Return the module of a kind for one of its parts."""
    return import_module(f"{kind_of(kind).package}.{name}")


def policy_class(kind: str) -> type[Policy]:
    """Return the class of policies of a kind."""
    found: type[Policy] = getattr(part(kind, "policy"), kind_of(kind).policy)
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

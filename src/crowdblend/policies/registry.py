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

from crowdblend.errors import InvalidInput
from crowdblend.policies.key import Key, keys_of, parts_of
from crowdblend.policies.publication import COMMON, Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from importlib import metadata

GROUP = "crowdblend.kinds"


@dataclass(frozen=True)
class Kind:
    """A kind: its module, the class of its publications, its name, and a sentence about it."""

    package: str
    publication: str
    name: str
    publishes: str


def _ours(kind: str, name: str, publishes: str) -> dict[str, Kind]:
    """Return a kind of our own, whose package and class are called as it is."""
    package, publication = f"crowdblend.kinds.{kind.replace('-', '_')}", kind.title().replace("-", "")
    return {kind: Kind(package, publication, name, publishes)}


WORDS = {
    **_ours("table", "table of counts", "Counts by class, exact where the crowd is large enough."),
    **_ours("microdata", "microdata: rows by class", "Rows of the sample, where their class is large enough."),
    **_ours("points", "points on a map", "Points of a map, moved by noise within blocks."),
    **_ours("outlier-table", "outlier-private table", "Counts with more noise the smaller they are."),
    **_ours(
        *("statistics", "statistics: averages, shares, counts"),
        "Averages, shares, counts, medians and histograms of a few columns.",
    ),
    **_ours("synopsis", "synopsis: synthetic rows", "Synthetic rows that answer many questions."),
    "synthetic": Kind(
        *("crowdblend.publishing.synthesis", "Synthetic", "synthetic rows and their tables"),
        "Synthetic rows, drawn from a model of published tables; none is a person.",
    ),
    **_ours("graph", "graph: figures of a network", "Figures of a network, from one link a row."),
}
KINDS = tuple(WORDS)
# What a folder may hold that is no kind of publication: several of them under one budget.
WHOLES = {
    "programme": Kind(
        "crowdblend.kinds.programme",
        "Programme",
        "programme: several publications",
        "Several publications under one budget.",
    ),
}


def kind_of(name: str) -> Kind:
    """Return a kind by its name, ours or that of an entry point."""
    if name in WORDS:
        return WORDS[name]
    if name in WHOLES:
        return WHOLES[name]
    for point in metadata.entry_points(group=GROUP, name=name):
        found = point.load()
        if isinstance(found, Kind):
            return found
    message = f"There is no kind {name[:60]!r}."
    remedy = f"Use one of {', '.join(all_kinds())}."
    raise InvalidInput(message, remedy=remedy, where="`publish.kind`", code="policy.kind")


def all_kinds() -> Iterator[str]:
    """Yield the names of all kinds, those of entry points last."""
    yield from KINDS
    yield from sorted(metadata.entry_points(group=GROUP).names)


def is_kind(name: object) -> bool:
    """Return whether a kind has this name."""
    if not isinstance(name, str) or name in WHOLES:
        return False
    return name in WORDS or name in metadata.entry_points(group=GROUP).names


def part(kind: str, name: str) -> ModuleType:
    """Return the module of a kind for one of its parts."""
    return import_module(f"{kind_of(kind).package}.{name}")


def publication_class(kind: str) -> type[Publication]:
    """Return the class of publications of a kind."""
    found: type[Publication] = getattr(part(kind, "policy"), kind_of(kind).publication)
    return found


def policy_class(kind: str) -> type[PublicationPolicy]:
    """Return the class of publications of a kind under the terms of a policy."""
    found: type[PublicationPolicy] = getattr(part(kind, "policy"), f"{kind_of(kind).publication}Policy")
    return found


@cache
def publication_keys(kind: str) -> dict[str, Key]:
    """Return the keys that publications of a kind alone have, by the names of their fields; inline sections too."""
    publication = publication_class(kind)
    inside = (part for part in parts_of(publication).values() if part.inline)
    own = {field: key for field, key in keys_of(publication).items() if field not in COMMON}
    return {**own, **{field: key for part in inside for field, key in keys_of(part.holder).items()}}


def common_keys(kind: str) -> dict[str, Key]:
    """Return the keys that publications of a kind share with those of most others."""
    return {field: key for field, key in keys_of(publication_class(kind)).items() if field in COMMON}

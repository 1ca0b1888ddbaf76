"""The declared domain of a release, from the facts of its certificate: every label, published or not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from crowdblend.estimates import domain_sizes, number_of_blocks

Facts = Mapping[str, Any]
Labels = tuple[str, ...]
_MOST = 2**40


def declared_domain(facts: Facts) -> dict[str, Labels | None]:
    """The labels of every published column in their order; None where they are not listed."""
    columns = facts.get("columns")
    if not isinstance(columns, Mapping):
        return {}
    axes = facts.get("axes")
    names = [str(name) for name in columns if not (isinstance(axes, Mapping) and name in axes)]
    return {name: _labels(columns[name]) for name in names}


def classes_of(facts: Facts, domain: Mapping[str, Labels | None]) -> dict[str, int | None]:
    """How many classes every column has; the blocks of points are one more column, called ''."""
    sizes = domain_sizes(facts)
    known = {name: sizes[name] for name in domain if name in sizes}
    return known if facts.get("kind") != "points" else {**known, "": number_of_blocks(facts)}


def ordered_columns(facts: Facts) -> frozenset[str]:
    """The columns whose labels have an order of their own: intervals and dates."""
    columns = facts.get("columns")
    found = columns.items() if isinstance(columns, Mapping) else ()
    return frozenset(str(name) for name, domain in found if isinstance(domain, Mapping) and _is_ordered(domain))


def combinations(sizes: Sequence[int | None]) -> int | None:
    """How many combinations columns of these sizes have; None where one is open or there are too many."""
    found = None if None in sizes else math.prod(size for size in sizes if size is not None)
    return None if found is None or found > _MOST else found


def _is_ordered(domain: Facts) -> bool:
    return domain.get("recoding") in ("intervals", "breaks", "dates")


def _labels(domain: Any) -> Labels | None:
    labels = domain.get("labels") if isinstance(domain, Mapping) else None
    return tuple(map(str, labels)) if isinstance(labels, list) else None

"""The universe of a synopsis: its columns in order, the class of queries over it, and its cells as rows with labels."""

from __future__ import annotations

import numpy as np

from crowdblend.kinds.synopsis.facts import Queries, other_queries
from crowdblend.kinds.synopsis.policy import SynopsisPolicy
from crowdblend.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.mechanisms.synopsis.fitted_synopsis import Synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass
from crowdblend.releases.outputs import RowsOutput


def rows_output(policy: SynopsisPolicy, shape: tuple[int, ...], rows: Synopsis) -> RowsOutput:
    """Return the rows with their labels, columns in the order of the policy."""
    order, places = universe_order(policy), np.unravel_index(rows.cells, shape)
    codes = np.empty((len(rows.cells), len(order)), np.int32)
    for axis, place in enumerate(order):
        codes[:, place] = places[axis]
    names = tuple(column.name for column in policy.columns)
    return RowsOutput(policy.file, names, tuple(policy.labels(name) for name in names), codes)


def universe_order(policy: SynopsisPolicy) -> list[int]:
    """Return the columns by size, the largest first, so that sums over the universe run through memory in order."""
    sizes = [len(policy.labels(column.name)) for column in policy.columns]
    return sorted(range(len(sizes)), key=lambda place: -sizes[place])


def asked_queries(policy: SynopsisPolicy, queries: QueryClass | None = None) -> Queries:
    """Return the queries of the policy, and the way in which conjunctions are measured."""
    return Queries(
        conjunctions=policy.conjunctions,
        add_up=queries.add_up if isinstance(queries, Conjunctions) else 0,
        ranges=policy.ranges,
        listed=None if policy.queries is None else tuple(dict(condition) for condition in policy.queries),
    )


def variants(policy: SynopsisPolicy) -> list[QueryClass]:
    """Return the class of queries over the universe, in every way to measure it."""
    labels = {column.name: policy.labels(column.name) for column in policy.columns}
    names = [policy.columns[place].name for place in universe_order(policy)]
    sizes = {name: len(labels[name]) for name in names}
    if policy.conjunctions is not None:
        return list(conjunctions(tuple(sizes.values()), policy.conjunctions))
    return [other_queries(asked_queries(policy), sizes, labels)]

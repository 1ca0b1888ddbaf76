"""Made-up people of the domain that a policy declares: rows to try a policy on, about nobody.

Every value follows from the policy alone, or from a public table that is given, and never from the people to be
protected. Columns are independent of each other; `spread` and `sparsity` say how uneven and how empty the classes are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.kinds.graph.policy import GraphPolicy
from crowdblend.kinds.outlier_table.policy import OutlierTablePolicy
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.synopsis.policy import SynopsisPolicy
from crowdblend.lab.rehearsal.made_up_values import Rng, draw_measure, draw_values
from crowdblend.methods.recoding.classes import Recoding
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.methods.recoding.values import Values
from crowdblend.policies.columns import Column
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.trusted.machine.packages import pyarrow

# Policies about people in rows.
RowsPolicy = CrowdPolicy | OutlierTablePolicy | StatisticsPolicy | SynopsisPolicy

MOST_MADE_UP = 10_000_000
USUAL_PEOPLE = 100_000
# In this many rounds of couples nearly everybody has met as many others as a made-up network needs.
_ROUNDS = 64


def make_up_people(
    policy: RowsPolicy | GraphPolicy,
    people: int | None = None,
    *,
    spread: float = 1.0,
    sparsity: float = 0.0,
    like: pyarrow.Table | None = None,
) -> pyarrow.Table:
    """Return rows about this many invented people with every column that the policy reads; for a network, its links.

    `people` is what the policy says, or 100,000 where it does not say it. `spread` 0 puts equally many people into
    every class of a column, 1 puts them there as 1, 1/2, 1/3, …, and more is more uneven. `sparsity` is the share of
    all cells that stay empty at least. `like` is a public table: rows are drawn from it with replacement, and columns
    that it lacks are made up. No two calls give the same people.
    """
    count = people_of(policy, people)
    if not 0 <= spread <= 100:
        message = f"spread takes a number from 0 to 100, got {spread!r}."
        raise _refusal("spread", message, "Write 0 for classes of equal size, or 1.")
    if not 0 <= sparsity < 1:
        message = f"sparsity takes a share from 0 to below 1, got {sparsity!r}."
        raise _refusal("sparsity", message, "Write 0.9 to leave nine cells of ten empty.")
    if like is not None and sparsity:
        message = "sparsity is given together with a public table, which has its own."
        raise _refusal("sparsity", message, "Leave one of them out.")
    rng = np.random.default_rng()
    if isinstance(policy, GraphPolicy):
        return _links(policy, count, spread, rng)
    persons = np.repeat(np.arange(1, count + 1), rng.integers(1, policy.unit.most + 1, count))
    rows = _rows(policy, len(persons), spread, sparsity, like, rng)
    return pyarrow.table(rows if policy.person is None else {policy.person: pyarrow.array(persons), **rows})


def make_up_for_all(
    policies: Sequence[RowsPolicy | GraphPolicy], people: int | None = None, *, spread: float = 1.0
) -> pyarrow.Table:
    """Return rows about this many invented people with every column that one of several publications reads."""
    made = [make_up_people(policy, people, spread=spread) for policy in policies]
    columns = {name: table.column(name) for table in reversed(made) for name in table.column_names}
    return pyarrow.table(columns)


def make_up_vertices(policy: GraphPolicy, people: int | None = None, *, spread: float = 1.0) -> pyarrow.Table:
    """Return a row for everybody in a network, with the data of people that its statistics read."""
    count, rng = people_of(policy, people), np.random.default_rng()
    columns = {policy.publication.graph.vertex: pyarrow.array(np.arange(count))}
    for made in policy.publication.statistics:
        if made.column is not None:
            recoding: Recoding
            if made.values is not None:
                recoding = Values(made.values)
            else:
                assert made.start is not None, "an average has bounds"
                assert made.stop is not None, "an average has bounds"
                recoding = Intervals(made.start, made.stop, made.stop - made.start)
            columns[made.column] = draw_values(recoding, count, spread, rng)
    return pyarrow.table(columns)


def people_of(policy: RowsPolicy | GraphPolicy, people: int | None) -> int:
    """Return how many people to make up: as many as the policy declares, or as are wanted where it declares none."""
    declared = policy.publication.graph.people if isinstance(policy, GraphPolicy) else policy.people
    if isinstance(policy, StatisticsPolicy) and policy.sampling.weight is not None:
        # Anyone who has a weight is in the sample already, and people are those of the population.
        declared = None
    if declared is not None and people not in (None, declared):
        message = f"The policy declares {declared:,} people, so {people:,} cannot be made up for it."
        raise _refusal("people", message, "Change people in the policy, or leave it out here.")
    count = declared if declared is not None else USUAL_PEOPLE if people is None else people
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_MADE_UP:
        message = f"Between 1 and {MOST_MADE_UP:,} people can be made up, got {count!r}."
        raise _refusal("people", message, "Rehearse with fewer people.")
    return count


def _refusal(where: str, message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where=where, code=f"rehearsal.{where}")


def _rows(
    policy: RowsPolicy, count: int, spread: float, sparsity: float, like: pyarrow.Table | None, rng: Rng
) -> dict[str, pyarrow.Array]:
    """Return the columns by name: copied from the public table where it has them, drawn otherwise."""
    design = policy.sampling.declare(policy.columns, policy.beside)
    # The published columns, and strata or weights beside them.
    columns = (*policy.columns, *(() if design is None else design.unpublished_columns))
    pool = _pool(columns, count, sparsity)
    found = {column.name: _column(policy, column, pool, spread, rng) for column in columns}
    if pool < count:
        places = rng.integers(0, pool, count)
        found = {name: values.take(places) for name, values in found.items()}
    if like is not None:
        if like.num_rows == 0:
            raise _refusal("like", "The public table has no rows.", "Give another one.")
        places = rng.integers(0, like.num_rows, count)
        shared = [name for name in found if name in like.column_names]
        if not shared:
            message = "The public table has none of the policy's columns."
            raise _refusal("like", message, "Give a table whose columns are named as in `columns`.")
        found |= {name: like.column(name).combine_chunks().take(places) for name in shared}
    return found


def _pool(columns: tuple[Column, ...], count: int, sparsity: float) -> int:
    """Return how many different people there are, so that at least this share of the cells is empty."""
    if not sparsity:
        return count
    sizes = [column.recoding.size if column.recodings else None for column in columns]
    known: list[int] = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        message = "sparsity needs columns whose classes are all known beforehand."
        raise _refusal("sparsity", message, "Leave it out, or declare values, width, breaks or a hierarchy.")
    return max(1, min(count, math.floor((1 - sparsity) * math.prod(known))))


def _column(policy: RowsPolicy, column: Column, count: int, spread: float, rng: Rng) -> pyarrow.Array:
    if isinstance(policy, StatisticsPolicy) and not column.recodings:
        return draw_measure(policy.measures[column.name], count, spread, rng)
    return draw_values(column.recoding, count, spread, rng)


def _links(policy: GraphPolicy, count: int, spread: float, rng: Rng) -> pyarrow.Table:
    """Return links of random couples, round by round: at most one for everybody in each, and fewer in later ones."""
    bounds, half = policy.publication.graph.bounds, count // 2
    room = math.floor(bounds.average_bound * count / 2)
    found = np.empty((0, 2), np.int64)
    for number in range(min(bounds.degree_bound, math.ceil(bounds.average_bound), _ROUNDS)):
        order = rng.permutation(count)[: 2 * half].reshape(half, 2)
        order = np.sort(order[rng.random(half) < (number + 1.0) ** -spread], axis=1)
        found = np.unique(np.concatenate([found, order]), axis=0)
    found = rng.permutation(found)[:room]
    return pyarrow.table({policy.publication.graph.source: found[:, 0], policy.publication.graph.target: found[:, 1]})

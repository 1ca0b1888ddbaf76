"""Publications about the same people, counted in one reading: by all their columns, and then added up for each.

It gives what readings of their own would give where everybody has one row and every column lists its classes: a count
by fewer columns is a sum of counts by more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from crowdblend.designs.draw import Draw
from crowdblend.engines.engine import Engine, Progress
from crowdblend.policies.columns import Column
from crowdblend.randomness import ReleaseKey
from crowdblend.releases.class_counts import ClassCountsPlan
from crowdblend.releases.plan import AnyPlan, Reading

# Counting by more classes than this takes longer than reading the people once more.
MOST_CLASSES = 1 << 20


def groups(plans: Mapping[str, AnyPlan]) -> list[list[str]]:
    """Put the names of plans that can be counted together into one group, every other name into one of its own."""
    found: list[list[str]] = []
    for name, plan in plans.items():
        for group in found:
            if _can_count_together([*(plans[one] for one in group), plan]):
                group.append(name)
                break
        else:
            found.append([name])
    return found


def read_together(
    plans: Sequence[AnyPlan], engine: Engine, key: ReleaseKey, progress: Progress | None, draw: Draw | None
) -> list[Reading]:
    """Return the reading of every plan of a group, from one look at the people."""
    if len(plans) == 1:
        return [plans[0].read(engine, key, progress, draw)]
    counting = [plan for plan in plans if isinstance(plan, ClassCountsPlan)]
    counted = counting[0].count([*_columns(plans).values()], engine, key, progress, draw)
    return [plan.reading_of(counted) for plan in counting]


def _can_count_together(plans: Sequence[AnyPlan]) -> bool:
    if not all(map(_adds_up, plans)):
        return False
    columns, first = _columns(plans), plans[0].policy
    return (
        all(columns[column.name] == column for plan in plans for column in plan.policy.columns)
        and all((one.policy.data, one.policy.resources) == (first.data, first.resources) for one in plans)
        and math.prod(column.recoding.size or 0 for column in columns.values()) <= MOST_CLASSES
    )


def _adds_up(plan: AnyPlan) -> bool:
    """Return whether what a plan counts can be added up from finer classes."""
    return (
        isinstance(plan, ClassCountsPlan)
        and type(plan).read is ClassCountsPlan.read
        and plan.policy.data.person is not None
        and not plan.policy.data.keeps_some_rows
        and plan.design is None
        and all(column.recoding.closed for column in plan.policy.columns)
    )


def _columns(plans: Iterable[AnyPlan]) -> dict[str, Column]:
    """Return all columns of some plans, by name."""
    return {column.name: column for plan in plans for column in plan.policy.columns}

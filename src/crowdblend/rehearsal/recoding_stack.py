"""Copies of a population side by side, each of which chooses a recoding of its own (see `batch` and `stack`).

All copies are read together: the coins decide of every person whether they choose, are published, or neither. Then each
copy chooses, and the copies that chose the same recoding are published together, as a stack with that recoding.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from crowdblend.kinds.recoding_choice import recode
from crowdblend.mechanisms import SampledClasses
from crowdblend.policies.offered import lattice_of
from crowdblend.randomness import ReleaseKey
from crowdblend.rehearsal.made_up_people import Files, Population, people_in_memory
from crowdblend.rehearsal.stack import Slice, copy_names, slices, stacked, with_copies
from crowdblend.selection import ChosenRecoding, Node


class RecodingStack:
    """So many copies of a population, each with a choice of its own."""

    def __init__(self, planned: Any, population: Population, copies: int) -> None:
        self._plan, self._files, self._names = planned, Files(), copy_names(copies)
        columns = with_copies(planned.policy.columns, self._names)
        self._side_by_side = replace(planned, policy=replace(planned.policy, columns=columns, format="csv"))
        names = [column.name for column in columns]
        self._engine = people_in_memory(self._side_by_side.policy.data, names, stacked(population, self._names))

    def publish(self, key: ReleaseKey) -> list[tuple[Slice, ChosenRecoding]]:
        """What is published of each copy, and the recoding that it chose."""
        reading = self._side_by_side.read(self._engine, key)
        chosen = self._choose(reading.deciding, key)
        by_node: dict[Node, list[int]] = defaultdict(list)
        for copy, one in enumerate(chosen):
            by_node[one.node].append(copy)
        found: list[Slice] = [()] * len(chosen)
        for node, copies in sorted(by_node.items()):
            own = reading.released.where(np.isin(reading.released.codes[:, 0], copies))
            of_all = ChosenRecoding((0, *node))
            sample = recode(self._side_by_side.policy.columns, own, of_all.node)
            published = self._side_by_side.publish_sample(sample, of_all, key.part(repr(node).encode()))
            cut = slices(self._files.of(published), self._names)
            for copy in copies:
                found[copy] = cut[copy]
        return list(zip(found, chosen, strict=True))

    def _choose(self, deciding: SampledClasses, key: ReleaseKey) -> list[ChosenRecoding]:
        """The choice of every copy; copies with the same people who decide are scored together."""
        alike: dict[bytes, list[int]] = defaultdict(list)
        rows = np.column_stack([deciding.codes, deciding.counts]).astype(np.int64)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        starts = np.searchsorted(rows[:, 0], np.arange(len(self._names) + 1))
        for copy in range(len(self._names)):
            alike[rows[starts[copy] : starts[copy + 1], 1:].tobytes()].append(copy)
        lattice = lattice_of(self._plan.policy.columns, deciding.labels[1:])
        found: dict[int, ChosenRecoding] = {}
        for number, (people, copies) in enumerate(alike.items()):
            classes = np.frombuffer(people, np.int64).reshape(-1, rows.shape[1] - 1)
            codes, counts = classes[:, :-1].astype(np.int32), classes[:, -1]
            own = key.part(b"people who decide, %d" % number)
            found |= zip(copies, self._plan.choice.several(lattice, codes, counts, own, len(copies)), strict=True)
        return [found[copy] for copy in range(len(self._names))]

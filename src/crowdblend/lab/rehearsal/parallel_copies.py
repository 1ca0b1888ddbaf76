"""Copies of a population side by side, told apart by a column of their own, and released together (see `subject`).

Theorem. Let a mechanism treat every class by itself: its coin, its noise and whether it is shown depend on that class
alone, with independent randomness, and nothing else is published. Then the slices of the release of R disjoint copies
are R independent releases of one copy.

Proof. Classes of different copies are different classes, and no person is in two copies. So the slices are functions of
disjoint, independent parts of the randomness; and each slice is computed as it would be from its copy alone. ∎

Suppressed tables, noise below k, microdata and points are of this kind once `show_from` is fixed, and so are strata,
noise on every cell, and programmes of these: a copy is in all publications, and each has randomness of its own.
Where a recoding is chosen, all copies are read together: the coins decide of every person whether they choose, are
published, or neither. Then each copy chooses, and the copies that chose the same recoding are published together.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.class_counts import ChoiceReading, ClassCountsPlan
from crowdblend.kinds.shared.plan import Result
from crowdblend.kinds.shared.recoding_choice import recode
from crowdblend.kinds.table.plan import TablePlan
from crowdblend.lab.rehearsal.made_up_people import Crowd, Files, Population, people_in_memory
from crowdblend.lab.rehearsal.observers import ShownFile
from crowdblend.methods.mechanisms import NoisyHistogram, SampledClasses
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.methods.recoding.values import Values
from crowdblend.methods.selection.lattice import Node
from crowdblend.policies.columns import Column
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.trusted.randomness import ReleaseKey

COPY = "which copy"
# Of every file the name, the header, and the lines of one copy.
Slice = tuple[tuple[str, str, tuple[str, ...]], ...]


class ParallelCopies:
    """Copies of a population, released together."""

    def __init__(self, plan: ClassCountsPlan[Any], population: Population, copies: int, files: Files) -> None:
        columns, mechanism = plan.policy.columns, plan.mechanisms[0]
        if isinstance(mechanism, NoisyHistogram) and mechanism.show_from is None:
            copies = min(copies, MOST_CELLS_LISTED // (plan.policy.cells or 1))
        self._names = tuple(f"{copy:06d}" for copy in range(copies))
        self._single, self._files, self._plan = plan, files, self.plan_copies(plan)
        people = tuple(Crowd((name, *crowd.values), crowd.size) for name in self._names for crowd in population)
        self._engine = people_in_memory([COPY, *(column.name for column in columns)], people)

    def plan_copies(self, plan: ClassCountsPlan[Any]) -> ClassCountsPlan[Any]:
        """Return the plan for all copies, told apart by a column."""
        policy, mechanism = plan.policy, plan.mechanisms[0]
        # Lines of text are cut apart by the name of their copy.
        changes: dict[str, Any] = {"format": "csv"}
        if isinstance(mechanism, NoisyHistogram) and policy.recoding is None:
            # By default it depends on the number of cells, and here there are more of them.
            changes["show_from"] = mechanism.show_from
        here = policy.replace(columns=(Column(COPY, (Values(self._names),)), *policy.columns), **changes)
        return cast(ClassCountsPlan[Any], replace(cast(Any, plan), policy=here))

    def draw(self, key: ReleaseKey) -> list[tuple[Slice, Node | None]]:
        """Return what is published of each copy, and the recoding that it chose, if it did."""
        reading = self._plan.read(self._engine, key)
        if not isinstance(reading, ChoiceReading):
            return [(cut, None) for cut in self._slices(self._plan.publish(reading, key))]
        assert isinstance(self._plan, TablePlan), "batches with a choice are of tables"
        chosen = self._choose(reading.deciding, key)
        by_node: dict[Node, list[int]] = defaultdict(list)
        for copy, one in enumerate(chosen):
            by_node[one].append(copy)
        found: dict[int, Slice] = {}
        for node, copies in sorted(by_node.items()):
            own = reading.released.where(np.isin(reading.released.codes[:, 0], copies))
            sample = recode(self._plan.policy.columns, own, (0, *node))
            cut = self._slices(self._plan.publish_sample(sample, (0, *node), key.part(repr(node).encode())))
            found |= {copy: cut[copy] for copy in copies}
        return [(found[copy], node) for copy, node in enumerate(chosen)]

    def show(self, outcomes: Sequence[tuple[Slice, Node | None]]) -> list[tuple[dict[str, ShownFile], Node | None]]:
        """Return the files of each copy as they are read, and the recoding that it chose."""
        return [
            (
                {name: ShownFile(next(csv.reader([header])), list(csv.reader(lines))) for name, header, lines in cut},
                node,
            )
            for cut, node in outcomes
        ]

    def _choose(self, deciding: SampledClasses, key: ReleaseKey) -> list[Node]:
        """Return the choice of every copy; copies with the same people who decide are scored together."""
        assert isinstance(self._single, TablePlan), "batches with a choice are of tables"
        alike: dict[bytes, list[int]] = defaultdict(list)
        rows = np.column_stack([deciding.codes, deciding.counts]).astype(np.int64)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        starts = np.searchsorted(rows[:, 0], np.arange(len(self._names) + 1))
        for copy in range(len(self._names)):
            alike[rows[starts[copy] : starts[copy + 1], 1:].tobytes()].append(copy)
        lattice = lattice_of(self._single.policy.columns, deciding.labels[1:])
        found: dict[int, Node] = {}
        for number, (people, copies) in enumerate(alike.items()):
            classes = np.frombuffer(people, np.int64).reshape(-1, rows.shape[1] - 1)
            codes, counts = classes[:, :-1].astype(np.int32), classes[:, -1]
            own = key.part(b"people who decide, %d" % number)
            found |= zip(copies, self._single.choice.several(lattice, codes, counts, own, len(copies)), strict=True)
        return [found[copy] for copy in range(len(self._names))]

    def _slices(self, result: Result) -> list[Slice]:
        """Return the lines of each copy in every file, without the column that tells copies apart."""
        cut = []
        for name, content in sorted(self._files.contents(result).items()):
            header, *rows = content.decode().rstrip("\n").split("\n")
            lines: dict[str, list[str]] = {copy: [] for copy in self._names}
            try:
                for row in rows:
                    copy, rest = row.split(",", 1)
                    lines[copy.strip('"')].append(rest)
            except (ValueError, KeyError):
                message = "A label has a line break, by which the releases of a batch cannot be told apart."
                remedy = "Audit one release at a time."
                raise InvalidInput(message, remedy=remedy, where="`--batch`", code="rehearsal.batch") from None
            cut.append((name, header.split(",", 1)[1], lines))
        return [tuple((name, header, tuple(lines[copy])) for name, header, lines in cut) for copy in self._names]

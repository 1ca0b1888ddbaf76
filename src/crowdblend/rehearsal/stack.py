"""Many releases in one: copies of a population side by side, told apart by a column of their own.

Theorem. Let a mechanism treat every class by itself: its coin, its noise and whether it is shown depend on that class
alone, with independent randomness, and nothing else is published. Then the slices of the release of R disjoint copies
are R independent releases of one copy.

Proof. Classes of different copies are different classes, and no person is in two copies. So the slices are functions of
disjoint, independent parts of the randomness; and each slice is computed as it would be from its copy alone. ∎

Suppressed tables, noise below k, microdata and points are of this kind once `show_from` is fixed; a chosen recoding is
not, since all copies choose it together. The audit uses this for its own power, where millions of runs are needed; a
policy is audited one release at a time, which assumes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.randomness import new_key
from crowdblend.recoding import Values
from crowdblend.recoding.classes import MOST_CELLS_LISTED
from crowdblend.rehearsal.looking import Shown, shown_in
from crowdblend.rehearsal.made_up_people import Crowd, Population, Rehearsal

_COPY = "which copy"


class Stack:
    """So many copies of a population, released together."""

    def __init__(self, planned: Any, population: Population, copies: int) -> None:
        policy = planned.policy
        if policy.recoding is not None or policy.tables:
            raise InvalidInput("a stack must have a fixed recoding and one table, got others. Rehearse one at a time.")
        fixed = {}
        if policy.below_k == "noise":
            # By default it depends on the number of cells, and here there are more of them.
            fixed = {"show_from": planned.mechanism().show_from}
            if fixed["show_from"] is None:
                copies = min(copies, MOST_CELLS_LISTED // policy.cells)
        self._names = tuple(f"{copy:06d}" for copy in range(copies))
        columns = (Column(_COPY, (Values(self._names),)), *policy.columns)
        stacked = tuple(Crowd((name, *crowd.values), crowd.size) for name in self._names for crowd in population)
        self._rehearsal = Rehearsal(replace(policy, columns=columns, **fixed), stacked, planned)

    def releases(self) -> Iterator[Shown]:
        """One release after the other, without end."""
        while True:
            yield from self.publish(new_key())

    def publish(self, key: bytes) -> list[Shown]:
        """What is shown of each copy."""
        files, _ = self._rehearsal.publish(key)
        ((name, content),) = files.items()
        whole = shown_in(name, content)
        rows: dict[str, list[list[str]]] = defaultdict(list)
        for copy, *row in whole.rows:
            rows[copy].append(row)
        return [Shown(whole.header[1:], rows.get(copy, [])) for copy in self._names]

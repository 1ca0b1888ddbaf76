"""Points as the audit sees them: the person at one end of a block, and the crowd at the other end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdblend.policies.points import BLOCK, Points
from crowdblend.rehearsal.crowd_classes import CLASSES, ReleaseSubject, released
from crowdblend.rehearsal.crowd_classes import subject as subject_of_classes
from crowdblend.rehearsal.looking import Looking, Shown, digest, shown_in
from crowdblend.rehearsal.made_up_people import Crowd, Values
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.rehearsed import Neighbours
from crowdblend.rehearsal.values import examples


def subject(policy: Points, request: AuditRequest) -> ReleaseSubject:
    """The policy with crowds of the hardest sizes."""
    return subject_of_classes(policy, request, PointsSubject)


@dataclass(frozen=True)
class PointsSubject(ReleaseSubject):
    """What a policy publishes about made-up people who are somewhere."""

    def pairs(self) -> list[Neighbours]:
        """The person in the first block and in the last, as far as can be from others who are in the same class."""
        first, last = self._block(0), self._block(-1)
        blocks = [("first block", first, last)] + ([("last block", last, first)] if first != last else [])
        pairs = [
            self._among(f"{name}, {why}", mine, other, size) for name, mine, other in blocks for why, size in self.sizes
        ]
        return [*released(pairs), *self.further]

    def onlooker(self, values: Values) -> Looking:
        """Somebody who knows the person's block, and where in it the person is."""
        return PointsOnlooker(self.policy, values)

    def _among(self, name: str, mine: tuple[Values, Values], other: tuple[Values, Values], size: int) -> Neighbours:
        near, far = mine
        rest = (Crowd(other[1], max(self.people - size, 1)),) if other != mine else ()
        others = (Crowd(far, size - 1), *rest)
        return Neighbours(f"{name} ({size})", (Crowd(near, 1), *others), (Crowd(near, 0), *others))

    def _block(self, place: int) -> tuple[Values, Values]:
        """Two people of the first class or the last, at opposite corners of the block."""
        policy: Points = self.policy
        number = np.array([place % policy.blocks.count])
        low = policy.blocks.first(number)[0]
        high = low + policy.blocks.size(number)[0] - 1
        along = [examples(column.recoding, CLASSES)[place] for column in policy.columns[: -policy.dimension]]
        corners = [
            (*along, *(repr(float(axis.midpoints(cell))) for (_, axis), cell in zip(policy.axes, cells, strict=True)))
            for cells in (low, high)
        ]
        return corners[0], corners[1]


@dataclass(frozen=True)
class PointsOnlooker:
    """Somebody who wants to know about a person with these raw values, one for each column."""

    policy: Points
    values: Values

    def at(self, files: Mapping[str, bytes], _outcome: None) -> dict[str, str]:
        """Several ways of looking at one release."""
        ((name, content),) = files.items()
        return {"the files": digest(content), **self._counts(shown_in(name, content))}

    def at_shown(self, shown: Mapping[str, Shown], _outcome: None) -> dict[str, str]:
        """The same of rows that were read before."""
        (points,) = shown.values()
        return {"the files": digest(points.rows), **self._counts(points)}

    def _counts(self, shown: Shown) -> dict[str, str]:
        """How many points there are, in the person's block, and on the person's side of it."""
        own = self._labels
        alike = [row for row in shown.rows if row[: len(own)] == own]
        inside = near = 0
        if alike:
            cells = self._cells(shown.header, alike)
            block, mine, size = self._own
            if self.policy.show_blocks:
                inside = sum(row[shown.header.index(BLOCK)] == str(block) for row in alike)
            else:
                within = (cells >= 0) & (cells < [axis.cells for _, axis in self.policy.axes])
                inside = int((self.policy.blocks.of(cells[within.all(axis=1)]) == block).sum())
            near = int((2 * abs(cells - mine) < size).all(axis=1).sum())
        return {
            "points in the person's block": str(inside),
            "points near the person": str(near),
            "points near the person, and in the block": f"{near} of {inside}",
            "points": str(len(shown.rows)),
        }

    @cached_property
    def _labels(self) -> list[str]:
        """What travels along with the person; these columns come first."""
        along = self.policy.columns[: -self.policy.dimension]
        return [str(column.recoding.label(value)) for column, value in zip(along, self.values, strict=False)]

    @cached_property
    def _own(self) -> tuple[int, Any, Any]:
        """The person's block, cell, and the size of the block."""
        own = self.values[-self.policy.dimension :]
        cell = np.array([axis.code(value) for (_, axis), value in zip(self.policy.axes, own, strict=True)])
        block = self.policy.blocks.of(cell[np.newaxis])
        return int(block[0]), cell, self.policy.blocks.size(block)[0]

    def _cells(self, header: list[str], rows: list[list[str]]) -> Any:
        """The cells of published points, which lie in their middles."""
        axes = self.policy.axes
        at = [header.index(column.name) for column in self.policy.columns[-self.policy.dimension :]]
        places = np.array([[row[place] for place in at] for row in rows], float)
        first, step = (np.array(some) for some in zip(*((axis.end(0), axis.step) for _, axis in axes), strict=True))
        return np.floor((places - first) / step).astype(np.int64)

"""Points as the audit sees them: the person at one end of a block, and the crowd at the other end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.kinds.points.policy import BLOCK, PointsPolicy
from crowdblend.kinds.shared.plan import Outcome
from crowdblend.lab.rehearsal.crowds import CrowdSubject, crowd_subject
from crowdblend.lab.rehearsal.made_up_people import Population, Values
from crowdblend.lab.rehearsal.made_up_values import CLASSES, examples
from crowdblend.lab.rehearsal.observers import PublishedFiles, ShownFile, Views, digest_of
from crowdblend.lab.rehearsal.subject import AuditRequest

Cells = NDArray[np.int64]


def subject(policy: PointsPolicy, request: AuditRequest) -> CrowdSubject:
    """Return the policy with crowds of the hardest sizes."""
    return crowd_subject(policy, request, PointsSubject)


@dataclass(frozen=True)
class PointsSubject(CrowdSubject):
    """A policy on made-up people with places."""

    policy: PointsPolicy
    corners_are = "block"

    def observer(self, population: Population) -> PointsObserver:
        """Return an observer who knows the person's block, and where in it the person is."""
        return PointsObserver(self.policy, population[0].values)

    def corner(self, place: int) -> tuple[Values, Values]:
        """Return two people of the first class or the last, as far apart in its block as can be."""
        policy = self.policy
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
class PointsObserver:
    """An observer who looks for a person with these raw values, one for each column."""

    policy: PointsPolicy
    values: Values

    def observe(self, files: PublishedFiles, _outcome: Outcome) -> Views:
        """Return how many points there are, in the person's block, and on the person's side of it."""
        (shown,) = files.values()
        own = self._labels
        alike = [row for row in shown.rows if row[: len(own)] == own]
        inside = near = 0
        if alike:
            cells = self._cells(shown, alike)
            block, mine, size = self._own
            if self.policy.publication.show_blocks:
                inside = sum(row[shown.header.index(BLOCK)] == str(block) for row in alike)
            else:
                within = (cells >= 0) & (cells < [axis.cells for _, axis in self.policy.axes])
                inside = int((self.policy.blocks.of(cells[within.all(axis=1)]) == block).sum())
            near = int((2 * abs(cells - mine) < size).all(axis=1).sum())
        return {
            "the files": digest_of(files),
            "points in the person's block": str(inside),
            "points near the person": str(near),
            "points near the person, and in the block": f"{near} of {inside}",
            "points": str(len(shown.rows)),
        }

    @cached_property
    def _labels(self) -> list[str]:
        """The labels that travel with the person; these columns come first."""
        along = self.policy.columns[: -self.policy.dimension]
        return [str(column.recoding.label(value)) for column, value in zip(along, self.values, strict=False)]

    @cached_property
    def _own(self) -> tuple[int, Cells, Cells]:
        """The person's block, cell, and the size of the block."""
        own = self.values[-self.policy.dimension :]
        cell = np.array([axis.code(value) for (_, axis), value in zip(self.policy.axes, own, strict=True)])
        block = self.policy.blocks.of(cell[np.newaxis])
        return int(block[0]), cell, self.policy.blocks.size(block)[0]

    def _cells(self, file: ShownFile, rows: list[list[str]]) -> Cells:
        """Return the cells of published points, which lie in their middles."""
        axes = self.policy.axes
        at = [file.header.index(column.name) for column in self.policy.columns[-self.policy.dimension :]]
        places = np.array([[row[place] for place in at] for row in rows], float)
        first, step = (np.array(some) for some in zip(*((axis.end(0), axis.step) for _, axis in axes), strict=True))
        cells: Cells = np.floor((places - first) / step).astype(np.int64)
        return cells

"""Points: on the declared grid and within its bounds where they are kept, at least k of every combination of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.kinds.points.facts import PointsFacts
from crowdblend.kinds.shared.facts import CellTable, contradiction
from crowdblend.methods.estimates.cells import BLOCK
from crowdblend.reading.cells import ESTIMATES, Cells, Estimates
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import RowOrder, check_point_estimates
from crowdblend.reading.verification.shown_people import ShownPeople

# Coordinates are doubles: the middle of a cell is met up to this share of its width.
_NEAR = 1e-6
# Beyond this many cells doubles no longer tell the middle of one.
_FARTHEST = 1e9


def check(release: PublishedRelease) -> tuple[ShownPeople]:
    """Refuse points off the grid or beyond bounds that were kept, fewer than k of one kind, and other estimates.

    Return the people who are shown.
    """
    facts = release.facts
    assert isinstance(facts, PointsFacts)
    table = facts.tables["data"]
    blocks = [BLOCK] if facts.show_blocks else []
    (file,) = require_files(release, "data")
    cells = require_cells(file, [*table.columns, *blocks, *facts.axes, *ESTIMATES])
    labels: dict[str, pa.DataType] = dict.fromkeys(table.columns, pa.string())
    numbers = dict.fromkeys(blocks, pa.int64()) | dict.fromkeys(facts.axes, pa.float64())
    ends = dict(zip(ESTIMATES, (pa.float64(), pa.int64(), pa.int64()), strict=True))
    groups = _Groups(table, cells)
    for piece in cells.typed_pieces({**labels, **numbers, **ends}):
        coordinates = {name: piece.column(name).to_numpy() for name in numbers}
        _check_coordinates(facts, coordinates)
        groups.add(piece, list(coordinates.values()), len(blocks))
    groups.check()
    rows, counts = facts.unit.most, np.array([groups.people])
    return (ShownPeople(table.shown_by[0], facts.published_sample, counts, each=rows, in_one=rows),)


class _Groups:
    """Points with the same labels, and in the same block where it is shown: they follow each other.

    Of each group is kept how many they are and what is said of it, so that memory follows the number of groups.
    """

    def __init__(self, table: CellTable, cells: Cells) -> None:
        self.table, self.cells = table, cells
        self.order = RowOrder(list(table.columns.values()), cells.file.name)
        self._keys: list[NDArray[np.int64]] = []
        self._sizes: list[NDArray[np.int64]] = []
        self._said: list[NDArray[np.float64]] = []

    def add(self, piece: pa.Table, numbers: list[NDArray[Any]], blocks: int) -> None:
        """Count these points; refuse another order, other labels, and different things said of one group."""
        places = self.order.check([piece.column(name) for name in self.table.columns], numbers)
        for known, (name, domain) in zip(self.order.labels, self.table.columns.items(), strict=True):
            if domain.labels is not None and len(known) > len(domain.labels):
                raise contradiction(f"column {name!r} of {self.cells.file.name} has a label outside its domain")
        keys = np.column_stack([*places, *numbers[:blocks], np.zeros(piece.num_rows, np.int64)])
        said = np.column_stack([piece.column(name).cast(pa.float64()).fill_null(-1).to_numpy() for name in ESTIMATES])
        starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        sizes = np.diff(starts, append=len(keys))
        if (np.repeat(said[starts], sizes, axis=0) != said).any():
            raise contradiction(f"{self.cells.file.name} says different things of points of one kind")
        if self._keys and (self._keys[-1][-1] == keys[0]).all() and (self._said[-1][-1] == said[0]).all():
            self._sizes[-1][-1] += sizes[0]
            starts, sizes = starts[1:], sizes[1:]
        if len(starts):
            self._keys.append(keys[starts])
            self._sizes.append(sizes)
            self._said.append(said[starts])

    @property
    def people(self) -> int:
        """The number of points."""
        return sum(int(sizes.sum()) for sizes in self._sizes)

    def check(self) -> None:
        """Refuse a group that comes twice, that is too small, or of which something is said that does not follow."""
        if not self._keys:
            return
        keys, sizes, said = np.concatenate(self._keys), np.concatenate(self._sizes), np.concatenate(self._said)
        if len(np.unique(keys, axis=0)) < len(keys):
            raise contradiction(f"{self.cells.file.name} has points of one kind in different places")
        laws, labels = self.table.laws, None
        least = np.full(len(keys), min(law.shown_from or 0 for law in self.table.shown_by))
        if laws.stratum is not None:
            place = list(self.table.columns).index(laws.stratum)
            labels = np.array([*self.order.labels[place], None], object)[keys[:, place]]
            shown = {name: law.shown_from or 0 for name, law in zip(laws.strata, self.table.shown_by, strict=True)}
            least = np.array([shown[label] for label in labels])
        if (sizes < least).any():
            raise contradiction(f"{self.cells.file.name} has fewer points of one kind than are shown")
        estimate = np.where(said[:, 0] < 0, np.nan, said[:, 0])
        low, high = (said[:, at].astype(np.int64) for at in (1, 2))
        check_point_estimates(laws, self.cells, Estimates(estimate, low, high, sizes, None, labels))


def _check_coordinates(facts: PointsFacts, coordinates: dict[str, NDArray[Any]]) -> None:
    kept = facts.keep_in != "none"
    for name, axis in facts.axes.items():
        low, high, step = axis.low, axis.high, axis.resolution
        cells = (coordinates[name] - low) / step
        if not np.isfinite(cells).all() or (kept and ((cells < 0) | (cells * step > high - low)).any()):
            raise contradiction(f"a point lies beyond the bounds of {name!r}")
        near = cells[np.abs(cells) < _FARTHEST]
        if (np.abs(near - np.floor(near) - 0.5) > _NEAR * np.maximum(1, np.abs(near))).any():
            raise contradiction(f"a point lies off the grid of {name!r}")

"""Mechanisms, as values of their parameters, written into the facts as they ran.

Anyone who reads the facts has the mechanism again, and derives from it what it guarantees and what published values
say. A sample goes in, and a publication comes out, as counts of finest classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs import Claims
from crowdblend.methods.estimates.laws import Law
from crowdblend.methods.recoding.code_rows import rolled_up

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Labels = tuple[tuple[str, ...], ...]
Crowd = Annotated[int, msgspec.Meta(ge=1)]


class Mechanism(Claims, msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="mechanism"):
    """Parameters of a mechanism; the data come with the call."""

    @property
    def law(self) -> Law:
        """The law of a published cell, given the sampled people in it."""
        raise NotImplementedError


@dataclass(frozen=True)
class SampledClasses:
    """Counts of a sample by finest class. Secret: nothing of it is published as it is.

    Column i of `codes` indexes `labels[i]`: the whole declared domain of a closed column, or the sorted labels that
    occur, for an open one. Rows are distinct and sorted by code, so they do not depend on the order of the input.
    """

    columns: tuple[str, ...]
    labels: Labels
    codes: Codes
    counts: Counts

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.counts), len(self.columns)):
            raise ValueError("there must be a code for every class and column")

    @property
    def people(self) -> int:
        """The number of people in the sample."""
        return int(self.counts.sum())

    def where(self, keep: NDArray[np.bool_]) -> SampledClasses:
        """Return the classes that pass the mask."""
        return SampledClasses(self.columns, self.labels, self.codes[keep], self.counts[keep])

    def narrow(self, columns: Sequence[str]) -> SampledClasses:
        """The same people counted by fewer columns."""
        places, codes, counts = _sum_classes(self.columns, self.codes, self.counts, columns)
        return SampledClasses(tuple(columns), tuple(self.labels[place] for place in places), codes, counts)

    @property
    def cells(self) -> int:
        """The number of cells of the table of all classes, empty ones included."""
        return math.prod(len(labels) for labels in self.labels)


@dataclass(frozen=True)
class PublishedClasses:
    """The published classes, with the counts that are shown, sorted by code.

    `labels` are cut to those that occur in a published class, and codes renumbered to match. A label that only
    suppressed people have would say that they exist, and dictionaries are written to files whole.
    """

    columns: tuple[str, ...]
    labels: Labels
    codes: Codes
    counts: Counts
    exact: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        labels, codes = only_used(self.labels, self.codes)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "codes", codes)

    def narrow(self, columns: Sequence[str]) -> PublishedClasses:
        """The same publication by fewer columns: sums of what is published, so post-processing."""
        places, codes, counts = _sum_classes(self.columns, self.codes, self.counts, columns)
        # A sum of shown cells misses those that are not shown, so no sum is called exact.
        return PublishedClasses(tuple(columns), tuple(self.labels[place] for place in places), codes, counts)


def only_used(labels: Labels, codes: NDArray[np.int32] | NDArray[np.int64]) -> tuple[Labels, Codes]:
    """Return the labels that are published, and codes among those: any other label would say that someone has it."""
    kept, renumbered = [], np.empty(codes.shape, np.int32)
    for place, known in enumerate(labels):
        used, renumbered[:, place] = np.unique(codes[:, place], return_inverse=True)
        kept.append(tuple(known[code] for code in used))
    return tuple(kept), renumbered


def _sum_classes(
    columns: tuple[str, ...], codes: Codes, counts: Counts, columns_kept: Sequence[str]
) -> tuple[list[int], Codes, Counts]:
    """Return the places of the columns that are kept, and the counts of classes that differ in those."""
    places = [columns.index(name) for name in columns_kept]
    kept = codes[:, places]
    return places, *rolled_up(kept, counts, [int(column.max(initial=0)) + 1 for column in kept.T])

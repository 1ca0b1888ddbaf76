"""The sample as a release sees it: how many sampled people are in each finest class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SampledClasses:
    """Counts of a sample by finest class. Secret: nothing of it is published as it is.

    Column i of `codes` indexes `labels[i]`: the whole declared domain of a closed column, or the sorted labels that
    occur, for an open one. Rows are distinct and sorted by code, so they do not depend on the order of the input.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.counts), len(self.columns)):
            raise ValueError("there must be a code for every class and column")

    @property
    def people(self) -> int:
        """How many people are in the sample."""
        return int(self.counts.sum())

    def where(self, keep: NDArray[np.bool_]) -> SampledClasses:
        """Some of the classes."""
        return SampledClasses(self.columns, self.labels, self.codes[keep], self.counts[keep])

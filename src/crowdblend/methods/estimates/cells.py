"""Laws of the cells of a published table: from published counts to numbers of people.

Each cell is read by the rate of its stratum, sums over strata stratum by stratum. A sum over strata adds the estimates
of the strata. Its interval adds their ends, each at a level so small that all of them cover together
(docs/proofs.md#strata).

Points say how many people have their labels, and are in their block. Where the data name the block of every point, the
points of one block and one combination of labels are all of a class. Otherwise they are all points of some classes with
these labels, and nobody knows of which blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates import laws
from crowdblend.methods.estimates.estimator import CONFIDENCE, Estimator, Intervals, Variances, nothing_known
from crowdblend.methods.estimates.laws import Floats, Law, Whole

# Facts may come from anywhere. Beyond these nothing is estimated: it would take minutes, or no array would hold it.
_LARGEST_K, _LARGEST_NOISY, _SMALLEST_RATE = 10**6, 10**5, 1e-12
_SMALLEST_LOSS, _LARGEST_LOSS = 2.0**-40, 700.0
_MOST_CELLS = 2**40
# The column of points that names the block of each.
BLOCK = "block"


@dataclass(frozen=True)
class CellLaws:
    """Estimators of cells: one for all, or one for each stratum by its label in a column.

    `sizes` says how many labels every column of the finest table has; None where a domain is open. Of points `blocks`
    says how many blocks there are, which the data may name; None where that is not stated. People are `repeated` where
    they are counted in several cells.
    """

    estimator: Estimator | None
    sizes: Mapping[str, int | None] = field(default_factory=dict)
    stratum: str | None = None
    strata: Mapping[str, Estimator | None] = field(default_factory=dict)
    blocks: int | None = 1
    blocks_shown: bool = False
    repeated: bool = False

    @property
    def counter(self) -> str:
        """The name of the column of numbers: counts of a sample, unless everybody was counted."""
        known = [one for one in (self.estimator, *self.strata.values()) if one is not None]
        return "count" if known and all(one.stratum.low == 1 for one in known) else "sampled"

    @property
    def add_up(self) -> bool:
        """True if sums of cells have a meaning: no cells shown by noise, nobody in several."""
        return not self.repeated and not any(
            one is not None and not one.law.noiseless and one.law.shown_from is not None
            for one in (self.estimator, *self.strata.values())
        )

    def level(self, confidence: float) -> float:
        """Return the confidence for each stratum at which all of them cover together."""
        return 1 - (1 - confidence) / max(len(self.strata), 1)

    def finest_classes(self, columns: Iterable[str]) -> int | None:
        """Return the number of classes in one cell of a table by these columns; None if unknown."""
        known = set(columns)
        blocks = 1 if self.blocks_shown and BLOCK in known else self.blocks
        return combinations((blocks, *(size for name, size in self.sizes.items() if name not in known)))

    @property
    def classes_in_a_row(self) -> int | None:
        """The number of classes in a row of the data: one, unless points hide their block."""
        return 1 if self.blocks_shown else self.blocks

    def largest_unpublished(self, estimator: Estimator | None = None, *, confidence: float = CONFIDENCE) -> int | None:
        """The upper end for a row that is not shown: larger ones are shown with `confidence`; None without one."""
        estimator, inside = estimator or self.estimator, self.classes_in_a_row
        if estimator is None or estimator.law.shown_from is None or inside is None:
            return None
        if inside == 1:
            return estimator.largest_unpublished(confidence=confidence)
        nothing = np.zeros(1, np.int64)
        found = estimator.sums(nothing, nothing, np.array([inside]), confidence=confidence)
        return int(found.high[0]) if estimator.law.noiseless else None

    def intervals(
        self,
        counts: Whole,
        exact: NDArray[np.bool_] | None = None,
        labels: NDArray[np.generic] | None = None,
        *,
        confidence: float = CONFIDENCE,
    ) -> Intervals:
        """Return intervals for rows of the data, or for groups of points; `labels` are their strata."""
        if self.stratum is None or labels is None:
            return self._row_intervals(self.estimator, counts, exact, confidence)
        found = nothing_known(len(counts))
        for label, estimator in self.strata.items():
            here = np.flatnonzero(labels == label)
            if len(here):
                fill(found, here, self._row_intervals(estimator, counts[here], None, confidence))
        return found

    @property
    def estimated(self) -> bool:
        """True if every cell has an estimate, by the rate of its stratum where there are strata."""
        each = [self.estimator] if self.stratum is None else [*self.strata.values()]
        return all(one is not None and one.stratum.rate is not None for one in each)

    def estimates(self, counts: Whole, labels: NDArray[np.generic] | None = None) -> Floats:
        """Return the estimates of single cells, NaN where there are none; `labels` are their strata."""
        if labels is None:
            return np.full(len(counts), np.nan) if self.estimator is None else self.estimator.estimates(counts)
        found = np.full(len(counts), np.nan)
        for label, estimator in self.strata.items():
            if estimator is not None:
                found[labels == label] = estimator.estimates(counts[labels == label])
        return found

    def variances(self, counts: Whole, labels: NDArray[np.generic] | None = None) -> Variances:
        """Return the variances of the estimates of single cells; `labels` are their strata."""
        unknown = Variances(np.full(len(counts), np.nan), np.full(len(counts), np.nan))
        if self.stratum is None or labels is None:
            return unknown if self.estimator is None else self.estimator.variances(counts)
        for label, estimator in self.strata.items():
            here = np.flatnonzero(labels == label)
            if estimator is not None and len(here):
                own = estimator.variances(counts[here])
                unknown.noise[here], unknown.sampling[here] = own.noise, own.sampling
        return unknown

    def _row_intervals(
        self, estimator: Estimator | None, counts: Whole, exact: NDArray[np.bool_] | None, confidence: float
    ) -> Intervals:
        if estimator is None:
            return nothing_known(len(counts))
        inside = self.classes_in_a_row
        if inside == 1:
            return estimator.cells(counts, exact, confidence=confidence)
        # At least one class of every row is shown; which, nobody can tell.
        hidden = None if inside is None else np.full(len(counts), inside - 1)
        return estimator.sums(counts, np.ones(len(counts), np.int64), hidden, confidence=confidence)


def combinations(sizes: Iterable[int | None]) -> int | None:
    """Return the number of combinations of columns; None where one is open or there are too many."""
    known = list(sizes)
    found = None if None in known else math.prod(size for size in known if size is not None)
    return None if found is None or found > _MOST_CELLS else found


def estimator_of(law: Law, inclusion: Stratum | None) -> Estimator | None:
    """Return the estimator for this law and these inclusion rates; None where there is none."""
    if inclusion is None or not _SMALLEST_RATE <= inclusion.low <= inclusion.high:
        return None
    return Estimator(law, inclusion) if _is_computable(law) else None


def total_intervals(losses: Sequence[float], numbers: Whole) -> Intervals:
    """Return the intervals for noisy totals of a register, each by the law of its own noise."""
    each = []
    for loss, number in zip(losses, numbers.tolist(), strict=True):
        estimator = estimator_of(laws.NoiseOnEveryCell(loss), Stratum.at_rate(1.0))
        each.append(nothing_known(1) if estimator is None else estimator.cells(np.array([number])))
    return Intervals(*(np.concatenate([getattr(one, name) for one in each]) for name in ("estimate", "low", "high")))


def noise_error(law: Law) -> int | None:
    """Return the error of the noise on a large cell that holds 95 times in 100; None where nothing is estimated."""
    estimator, large = estimator_of(law, Stratum.at_rate(1.0)), 10**6
    return None if estimator is None else int(estimator.cells(np.array([large])).high[0]) - large


def fill(whole: Intervals, here: Whole, part: Intervals) -> None:
    """Write the intervals of some rows to their places."""
    whole.estimate[here], whole.low[here], whole.high[here] = part.estimate, part.low, part.high


def sum_strata(parts: Intervals, rows: Whole, sums: int) -> Intervals:
    """Sums over strata: `rows` says which sum each part belongs to; what one part does not know, the sum does not."""
    estimate = np.bincount(rows, parts.estimate, minlength=sums)
    low, high = (np.zeros(sums, np.int64), np.zeros(sums, np.int64))
    np.add.at(low, rows, np.maximum(parts.low, 0))
    np.add.at(high, rows, parts.high)
    unknown = np.zeros(sums, np.bool_)
    unknown[rows[parts.high < 0]] = True
    high[unknown] = -1
    nothing = np.zeros(sums, np.bool_)
    nothing[rows[parts.low < 0]] = True
    low[nothing] = -1
    return Intervals(np.round(estimate, 1), low, high)


def _is_computable(law: Law) -> bool:
    shown_from = 1 if law.shown_from is None else law.shown_from
    match law:
        case laws.ExactCounts():
            return law.k <= _LARGEST_K
        case laws.NoiseBelowK():
            return max(law.k, shown_from) <= _LARGEST_NOISY and _is_loss(law.noise_epsilon)
        case laws.OutlierNoise():
            sizes = max(law.transition, law.limit, shown_from)
            return sizes <= _LARGEST_NOISY and _is_loss(law.epsilon) and _is_loss(law.widest_loss)
        case laws.NoiseFromThreshold():
            return shown_from * law.noise_epsilon <= _LARGEST_LOSS and _is_loss(law.noise_epsilon)
        case laws.NoiseOnEveryCell():
            return _is_loss(law.noise_epsilon)
    return isinstance(law, laws.GaussianOnEveryCell)


def _is_loss(value: float) -> bool:
    return _SMALLEST_LOSS <= value <= _LARGEST_LOSS

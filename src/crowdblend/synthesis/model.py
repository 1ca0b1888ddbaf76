"""A mixture of products, fitted to published tables: people of a few sorts, whose columns are independent in each.

The model has weights w (people of each sort) and for every sort k and column c a distribution p(k, c, ·). The number
of people in a cell of a table is Σ w(k)·Π p(k, c, label), and the fit is by least squares in units of the variances
that the tables state; a cell that is not shown costs nothing while it stays below the most that it may hold. More
sorts are tried until what is left is what noise explains, since a closer fit would be one to the noise. Several fits
from different starts are averaged, which is again a mixture: what they learned of the noise is different in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.frozen import dataclass
from crowdblend.synthesis.tables import Floats, PublishedTable, PublishedTables

Places = NDArray[np.int64]
# Sorts of people and steps, from the quickest fit on.
_EFFORTS = ((50, 400), (70, 560), (100, 800), (140, 1120), (200, 1600), (280, 2240), (400, 3200))
_MEMBERS = 10
# A fit is close enough where squared errors in units of their variances are this large in the mean.
_CLOSE = 0.9
# Multiplications that all fits together may take, about; a core does a billion or more in a second.
_WORK = 4e10
# Of Adam (Kingma and Ba 2015): the size of a step, and how slowly moments are forgotten.
_STEP, _FIRST, _SECOND = 0.1, 0.9, 0.99
_SPREAD = 1.0


@dataclass(frozen=True)
class Mixture:
    """Weights of the sorts, in people, and for each the probabilities of all labels of all columns side by side."""

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    weights: Floats
    probabilities: Floats

    @cached_property
    def starts(self) -> Places:
        """The places where the labels of every column begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    def of_column(self, column: str) -> Floats:
        """Return the probabilities of a column's labels, a row for every sort."""
        at = self.columns.index(column)
        return self.probabilities[:, self.starts[at] : self.starts[at] + self.sizes[at]]

    def people(self, columns: Sequence[str]) -> Floats:
        """Return the number of people in every cell of a table by these columns."""
        *first, last = (self.of_column(column) for column in columns)
        cells: Floats = _products(self.weights, first).T @ last
        return cells.reshape([self.sizes[self.columns.index(column)] for column in columns])

    @cached_property
    def pairs(self) -> Floats:
        """The number of people with any two labels; those of one column are no pairs."""
        found: Floats = self.probabilities.T @ (self.probabilities * self.weights[:, None])
        return found


@dataclass(frozen=True)
class Fit:
    """A mixture, and the mean squared error of all cells in units of their variances."""

    mixture: Mixture
    misfit: float


def fit(published: PublishedTables, random: np.random.Generator) -> Fit:
    """Return the mean of several fits, with as many sorts of people as the tables need."""
    problem = _Problem(published)
    for sorts, steps in _EFFORTS:
        first = problem.fit(sorts, steps, random)
        if first.misfit <= _CLOSE or problem.work(sorts, steps) > _WORK / 3:
            break
    members = max(1, min(_MEMBERS, int(_WORK / problem.work(sorts, steps))))
    fits = [first, *(problem.fit(sorts, steps, random) for _ in range(members - 1))]
    weights = np.concatenate([one.mixture.weights for one in fits]) / len(fits)
    probabilities = np.concatenate([one.mixture.probabilities for one in fits])
    mixture = Mixture(first.mixture.columns, first.mixture.sizes, weights, probabilities)
    return Fit(mixture, problem.misfit(mixture))


class _Problem:
    """The tables as the fit sees them: those of two columns in one matrix of all labels by all labels."""

    def __init__(self, published: PublishedTables) -> None:
        self.columns, self.sizes = tuple(published.columns), tuple(published.sizes.values())
        labels = sum(self.sizes)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        self.column_of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        merged = [_Target.of(tables) for tables in _by_columns(published.tables)]
        self.others = [one for one in merged if len(one.columns) != 2]
        self.cells = sum(int((one.precisions > 0).sum()) for one in merged)
        self.pairs = _Target((), *(np.zeros((labels, labels)) for _ in range(3)))
        for one in (one for one in merged if len(one.columns) == 2):
            here = tuple(self._place(column) for column in one.columns)
            self.pairs.low[here], self.pairs.high[here] = one.low, one.high
            self.pairs.precisions[here] = one.precisions
        self.people, self.start = self._start(merged)

    def _place(self, column: str) -> slice:
        at = self.columns.index(column)
        return slice(int(self.starts[at]), int(self.starts[at]) + self.sizes[at])

    def _start(self, merged: Sequence[_Target]) -> tuple[float, Floats]:
        """Return the number of people, and the logarithms of the shares of all labels, from the tables' sums."""
        totals = [float(one.low.sum()) for one in merged]
        shares = np.zeros(sum(self.sizes))
        for column in self.columns:
            each = []
            for one in (one for one in merged if column in one.columns):
                axes = tuple(place for place, name in enumerate(one.columns) if name != column)
                each.append(one.low.sum(axis=axes))
            found = np.maximum(np.sum(each, axis=0), 0.0)
            whole = max(float(found.sum()), 1.0)
            shares[self._place(column)] = np.log(np.maximum(found / whole, 1e-4))
        return max(float(np.median(totals)), 1.0), shares

    def work(self, sorts: int, steps: int) -> float:
        """Return about how many multiplications a fit takes."""
        cells = sum(self.sizes) ** 2 * bool(self.pairs.precisions.any()) + sum(one.low.size for one in self.others)
        return 3.0 * sorts * steps * cells

    def fit(self, sorts: int, steps: int, random: np.random.Generator) -> Fit:
        """Return the best mixture that gradient descent finds from a random start."""
        logits = self.start + _SPREAD * random.standard_normal((sorts, len(self.start)))
        sizes = np.full((sorts, 1), np.log(self.people / sorts))
        moments = [np.zeros_like(one) for one in (logits, logits, sizes, sizes)]
        for step in range(1, steps + 1):
            weights, probabilities = np.exp(sizes[:, 0]), self._probabilities(logits)
            by_weight, by_probability = self._gradient(weights, probabilities)
            inner = np.add.reduceat(by_probability * probabilities, self.starts, axis=1)[:, self.column_of]
            gradients = probabilities * (by_probability - inner), (weights * by_weight)[:, None]
            # Full steps in the first half, then shorter and shorter ones.
            length = _STEP * min(1.0, 2 * (steps - step) / steps)
            for at, gradient in enumerate(gradients):
                first, second = moments[2 * at], moments[2 * at + 1]
                first += (1 - _FIRST) * (gradient - first)
                second += (1 - _SECOND) * (gradient**2 - second)
                root = np.sqrt(second / (1 - _SECOND**step)) + 1e-12
                (logits, sizes)[at][...] -= length * first / (1 - _FIRST**step) / root
        mixture = Mixture(self.columns, self.sizes, np.exp(sizes[:, 0]), self._probabilities(logits))
        return Fit(mixture, self.misfit(mixture))

    def misfit(self, mixture: Mixture) -> float:
        """Return the mean squared error of all cells in units of their variances."""
        squares = self.pairs.square(mixture.pairs)
        squares += sum(one.square(mixture.people(one.columns)) for one in self.others)
        return squares / max(self.cells, 1)

    def _probabilities(self, logits: Floats) -> Floats:
        raised = np.exp(logits - np.maximum.reduceat(logits, self.starts, axis=1)[:, self.column_of])
        found: Floats = raised / np.add.reduceat(raised, self.starts, axis=1)[:, self.column_of]
        return found

    def _gradient(self, weights: Floats, probabilities: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of half the squared errors by the weights and by the probabilities."""
        weighted = probabilities * weights[:, None]
        off = self.pairs.pull(probabilities.T @ weighted)
        by_probability = weighted @ (off + off.T)
        by_weight = np.einsum("ks,ks->k", probabilities @ off, probabilities)
        for one in self.others:
            parts = [probabilities[:, self._place(column)] for column in one.columns]
            pulled = one.pull((_products(weights, parts[:-1]).T @ parts[-1]).reshape(one.low.shape))
            for at, column in enumerate(one.columns):
                rest = [part for place, part in enumerate(parts) if place != at]
                turned = np.moveaxis(pulled, at, -1).reshape(-1, pulled.shape[at])
                alone = _products(np.ones_like(weights), rest) @ turned
                by_probability[:, self._place(column)] += weights[:, None] * alone
                if at == 0:
                    by_weight += np.einsum("ks,ks->k", alone, parts[at])
        return by_weight, by_probability


@dataclass(frozen=True)
class _Target:
    """A table's target for the model: the range of people in a cell, and its weight.

    Of a cell that is shown both ends are its estimate.
    """

    columns: tuple[str, ...]
    low: Floats
    high: Floats
    precisions: Floats

    @classmethod
    def of(cls, tables: Sequence[PublishedTable]) -> _Target:
        """Return the mean of tables of the same columns, in which the surer one counts more."""
        precisions = np.sum([np.where(np.isnan(one.estimates), 0.0, 1 / one.variances) for one in tables], axis=0)
        sums = np.sum([np.nan_to_num(one.estimates) / one.variances for one in tables], axis=0)
        hidden, most = precisions == 0, np.min([one.high for one in tables], axis=0)
        mean = sums / np.where(hidden, 1.0, precisions)
        # Above the most that it may hold, a cell that is not shown counts as one with half of that as standard error.
        unsure = np.where(np.isfinite(most), 1 / np.maximum(most / 2, 1.0) ** 2, 0.0)
        return cls(
            tables[0].columns, mean, np.where(hidden, np.maximum(most, 0.0), mean), np.where(hidden, unsure, precisions)
        )

    def _off(self, people: Floats) -> Floats:
        off: Floats = people - np.clip(people, self.low, self.high)
        return off

    def pull(self, people: Floats) -> Floats:
        """Return how far the model is off, weighted: the derivative by the number of people in every cell."""
        return self._off(people) * self.precisions

    def square(self, people: Floats) -> float:
        """Return the squared errors in units of their variances."""
        off = self._off(people)
        return float((off * off * self.precisions).sum())


def _by_columns(tables: Sequence[PublishedTable]) -> list[list[PublishedTable]]:
    grouped: dict[tuple[str, ...], list[PublishedTable]] = {}
    for one in tables:
        grouped.setdefault(one.columns, []).append(one)
    return list(grouped.values())


def _products(weights: Floats, parts: Sequence[Floats]) -> Floats:
    """Return the product of independent columns, a row for every sort, times the weight of the sort."""
    found = weights[:, None]
    for part in parts:
        found = (found[:, :, None] * part[:, None, :]).reshape(len(weights), -1)
    return found

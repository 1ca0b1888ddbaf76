"""A mixture of products, fitted to published tables: people of a few sorts, whose columns are independent in each.

The model has weights w (people of each sort) and for every sort k and column c a distribution p(k, c, ·). The number
of people in a cell of a table is Σ w(k)·Π p(k, c, label), and the fit is by least squares in units of the variances
that the tables state; a cell that is not shown costs nothing while it stays below the most that it may hold. More
sorts are tried until what is left is what noise explains, since a closer fit would be one to the noise. Several fits
from different starts are averaged, which is again a mixture: what they learned of the noise is different in each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.publishing.synthesis.tables import Floats, PublishedTable, PublishedTables

Places = NDArray[np.int64]
# Sorts of people and steps, from the quickest fit on.
_EFFORTS = ((70, 280), (100, 400), (140, 560), (200, 1600), (280, 2240), (400, 3200))
_MEMBERS = 8
# A fit is close enough where squared errors in units of their variances are this large in the mean.
_CLOSE = 1.0
# Multiplications that all fits together may take, about; a core does a billion or more in a second.
_WORK = 4e10
# Of Adam (Kingma and Ba 2015): the size of a step, and how slowly moments are forgotten.
_STEP, _FIRST, _SECOND = 0.2, 0.9, 0.99
_SPREAD = 1.0
# What single precision tells apart.
_TOLD_APART = 1e6
# Multiplications up to which BLAS starts no threads, which cost more than they gain, and the least sorts in a product.
_ONE_THREAD, _SMALLEST_PART = 1 << 18, 8


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
    """A mixture, the people with any two labels, and the mean squared error of all cells in units of their variances.

    `pairs` is what rows should have: the model, corrected in tables that it does not explain.
    """

    mixture: Mixture
    pairs: Floats
    misfit: float


def fit(tables: PublishedTables, random: np.random.Generator) -> Fit:
    """Return the mean of several fits, with as many sorts of people as the tables need."""
    problem = _Problem(tables)
    for sorts, steps in _EFFORTS:
        first = problem.fit(sorts, steps, random)
        if problem.misfit(first) <= _CLOSE or problem.work(sorts, steps) > _WORK / 3:
            break
    members = max(1, min(_MEMBERS, int(_WORK / problem.work(sorts, steps))))
    each = [first, *(problem.fit(sorts, steps, random) for _ in range(members - 1))]
    weights = np.concatenate([one.weights for one in each]) / len(each)
    probabilities = np.concatenate([one.probabilities for one in each])
    mixture = Mixture(first.columns, first.sizes, weights, probabilities)
    return Fit(mixture, problem.shrunk(mixture), problem.misfit(mixture))


class _Problem:
    """The tables as the fit sees them: those of two columns in one symmetric matrix of all labels."""

    def __init__(self, published_tables: PublishedTables) -> None:
        self.columns, self.sizes = tuple(published_tables.columns), tuple(published_tables.sizes.values())
        labels = sum(self.sizes)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        self.column_of = np.repeat(np.arange(len(self.sizes)), self.sizes)
        grouped: dict[tuple[str, ...], list[PublishedTable]] = {}
        for table in published_tables.tables:
            grouped.setdefault(table.columns, []).append(table)
        merged = [_Target.of(tables) for tables in grouped.values()]
        complete = [one for one in merged if np.array_equal(one.low, one.high)]
        self.people, self.people_are_known = _people(complete or merged), bool(complete)
        self.start = self._start(merged)
        # Of single precision where it tells fewer people apart than the surest cell does.
        surest = max(float(one.precisions.max()) for one in merged)
        self.kind = np.float32 if self.people * math.sqrt(surest) < _TOLD_APART else np.float64
        self.targets = [one.of_kind(self.kind) for one in merged]
        self.others = [one for one in self.targets if len(one.columns) != 2]
        self.cells = sum(int((one.precisions > 0).sum()) for one in self.targets)
        self.pairs = _Target((), *(np.zeros((labels, labels), self.kind) for _ in range(3)))
        for one in (one for one in self.targets if len(one.columns) == 2):
            here, there = (self._place(column) for column in one.columns)
            for whole, part in zip(self.pairs.arrays, one.arrays, strict=True):
                whole[here, there], whole[there, here] = part, part.T

    def _place(self, column: str) -> slice:
        at = self.columns.index(column)
        return slice(int(self.starts[at]), int(self.starts[at]) + self.sizes[at])

    def _start(self, targets: Sequence[_Target]) -> Floats:
        """Return the logarithms of the shares of all labels, from the tables' sums."""
        shares = np.zeros(sum(self.sizes))
        for column in self.columns:
            each = []
            for one in (one for one in targets if column in one.columns):
                axes = tuple(place for place, name in enumerate(one.columns) if name != column)
                each.append(one.low.sum(axis=axes))
            found = np.maximum(np.sum(each, axis=0), 0.0)
            whole = max(float(found.sum()), 1.0)
            shares[self._place(column)] = np.log(np.maximum(found / whole, 1e-4))
        return shares

    def work(self, sorts: int, steps: int) -> float:
        """Return about how many multiplications a fit takes."""
        cells = sum(self.sizes) ** 2 * bool(self.pairs.precisions.any()) + sum(one.low.size for one in self.others)
        return 3.0 * sorts * steps * cells

    def fit(self, sorts: int, steps: int, random: np.random.Generator) -> Mixture:
        """Return the best mixture that gradient descent finds from a random start."""
        labels = len(self.start)
        # Logits of all labels, and in the last column the logarithm of the number of people.
        point = np.full((sorts, labels + 1), np.log(self.people / sorts), self.kind)
        point[:, :labels] = self.start + _SPREAD * random.standard_normal((sorts, labels))
        slope, first, second = (np.zeros_like(point) for _ in range(3))
        for step in range(1, steps + 1):
            weights, probabilities = self._weights(point[:, labels]), self._probabilities(point[:, :labels])
            by_weight, by_probability = self._gradient(weights, probabilities)
            np.multiply(by_probability, probabilities, out=slope[:, :labels])
            inner = np.add.reduceat(slope[:, :labels], self.starts, axis=1)[:, self.column_of]
            slope[:, :labels] -= inner * probabilities
            slope[:, labels] = weights * (by_weight - self.people_are_known * (weights @ by_weight) / self.people)
            first += (1 - _FIRST) * (slope - first)
            second += (1 - _SECOND) * (slope * slope - second)
            # Full steps in the first half, then shorter and shorter ones.
            length = _STEP * min(1.0, 2 * (steps - step) / steps) / (1 - _FIRST**step)
            point -= length * first / (np.sqrt(second / (1 - _SECOND**step)) + 1e-12)
        weights, probabilities = self._weights(point[:, labels]), self._probabilities(point[:, :labels])
        return Mixture(self.columns, self.sizes, weights.astype(np.float64), probabilities.astype(np.float64))

    def shrunk(self, mixture: Mixture) -> Floats:
        """Return the people with any two labels: the model, or of a table that it does not explain something between.

        Where squared errors in units of their variances are c > 1 in the mean, 1 - 1/c of the way from the model to the
        table is taken (after James and Stein 1961): a table that the model does not fit is kept nearly as it is.
        """
        pairs = mixture.pairs.copy()
        for one in (one for one in self.targets if len(one.columns) == 2):
            here, there = (self._place(column) for column in one.columns)
            pairs[here, there] = np.maximum(one.shrunk(pairs[here, there]), 0.0)
            pairs[there, here] = pairs[here, there].T
        return pairs

    def misfit(self, mixture: Mixture) -> float:
        """Return the mean squared error of all cells in units of their variances."""
        squares = self.pairs.square(mixture.pairs) / 2
        squares += sum(one.square(mixture.people(one.columns)) for one in self.others)
        return squares / max(self.cells, 1)

    def _weights(self, logits: Floats) -> Floats:
        """Return the people of each sort, in all as many as the tables have, where one of them shows all its cells.

        No model meets cells that noise made negative. With a sum of its own it has too many people in empty cells, and
        too few in the others once that sum is divided by the true one.
        """
        raised: Floats = np.exp(logits)
        return raised * self.kind(self.people / raised.sum()) if self.people_are_known else raised

    def _probabilities(self, logits: Floats) -> Floats:
        raised = np.exp(logits - np.maximum.reduceat(logits, self.starts, axis=1)[:, self.column_of])
        found: Floats = raised / np.add.reduceat(raised, self.starts, axis=1)[:, self.column_of]
        return found

    def _gradient(self, weights: Floats, probabilities: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of half the squared errors by the weights and by the probabilities."""
        pulled = _times(probabilities, self.pairs.pull(_gram(probabilities, weights)))
        by_weight, by_probability = np.einsum("ks,ks->k", pulled, probabilities) / 2, pulled * weights[:, None]
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

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.low, self.high, self.precisions

    def of_kind(self, kind: type[np.floating[Any]]) -> _Target:
        """Return the same with numbers of another precision."""
        return _Target(self.columns, *(array.astype(kind) for array in self.arrays))

    def _off(self, people: Floats) -> Floats:
        off: Floats = people - np.clip(people, self.low, self.high)
        return off

    def pull(self, people: Floats) -> Floats:
        """Return how far the model is off, weighted: the derivative by the number of people in every cell."""
        return self._off(people) * self.precisions

    def shrunk(self, people: Floats) -> Floats:
        """Return the numbers of people between the model and the table that err less than the table."""
        cells, off = int((self.precisions > 0).sum()), self._off(people)
        return people - max(0.0, 1 - cells / max(self.square(people), 1e-9)) * off

    def square(self, people: Floats) -> float:
        """Return the squared errors in units of their variances."""
        off = self._off(people)
        return float((off * off * self.precisions).sum())


def _people(targets: Sequence[_Target]) -> float:
    """Return how many people the tables have, in the mean in which the surer one counts more."""
    sureness = [1 / float((1 / np.maximum(one.precisions, 1e-12)).sum()) for one in targets]
    return max(float(np.average([one.low.sum() for one in targets], weights=sureness)), 1.0)


def _gram(probabilities: Floats, weights: Floats) -> Floats:
    """Return the number of people with any two labels."""
    rooted = probabilities * np.sqrt(weights)[:, None]
    sorts, labels = rooted.shape
    parts = _parts(sorts, labels * labels)
    if parts == 1:
        whole: Floats = rooted.T @ rooted
        return whole
    cut = rooted.reshape(parts, -1, labels)
    found: Floats = (cut.transpose(0, 2, 1) @ cut).sum(axis=0)
    return found


def _times(probabilities: Floats, square: Floats) -> Floats:
    """Return the product of both."""
    sorts, labels = probabilities.shape
    parts = _parts(sorts, labels * labels)
    return (probabilities.reshape(parts, -1, labels) @ square).reshape(sorts, labels)


def _parts(sorts: int, each: int) -> int:
    """Return in how many parts of the same size products are computed, so that each takes one thread."""
    fitting = (parts for parts in range(1, sorts // _SMALLEST_PART + 1) if sorts % parts == 0)
    return next((parts for parts in fitting if sorts // parts * each <= _ONE_THREAD), 1)


def _products(weights: Floats, parts: Sequence[Floats]) -> Floats:
    """Return the product of independent columns, a row for every sort, times the weight of the sort."""
    found = weights[:, None]
    for part in parts:
        found = (found[:, :, None] * part[:, None, :]).reshape(len(weights), -1)
    return found

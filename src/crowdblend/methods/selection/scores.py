"""Scores of a recoding with a proved bound on what one person can change.

Every score here has one shape: q = Σ w(c)·f(n_c) over the classes c of the node, with n_c the number of people in c,
w(c) a whole number from 0 to W that depends on the class alone, and f a fixed whole-number function with f(0) = 0 that
never falls.

Theorem (sensitivity). Adding one person raises q by at most W·Δ, Δ = max f(n + 1) − f(n) over n ≥ 0, and never lowers
it.

Proof. A recoding puts a person into exactly one class c of each node. Adding the person turns n_c into n_c + 1 and
leaves every other class as it is, so q changes by w(c)·(f(n_c + 1) − f(n_c)), at most W·Δ and not below 0. ∎

Δ follows from k and the rate (numerics/expected_people), so that anyone who verifies a choice can compute it again. The
list of f's values is compared with it in whole numbers, so how those were rounded does not matter. Beyond the list f
goes on in equal steps of `slope`, which counts as a step too.

    published     the people a release is expected to publish
    loss          the same, each person weighted by what the class keeps of the values (1 − ARX's loss)

The classical rows kept, n·[n ≥ k], has Δ = k. A release samples with rate β before it drops classes below k, and what
it publishes of n people on average, E[X·1(X ≥ k)] with X ~ Bin(n, β), has steps of at most β(1 + (k−1)·max P[X = k−1])
only: about √k instead of k people. It is also what the steward gets. So that is what is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.trusted.machine.packages import special
from crowdblend.trusted.numerics.expected_people import UNITS, largest_step

ScoreName = Literal["loss", "published"]
SCORES: tuple[ScoreName, ...] = ("loss", "published")

# Where few of a class are seen, classes count from the size on of which this many are seen on average: someone who is
# seen alone may have been alone.
FEWEST_SEEN = 3
# Scores list their values for classes up to this size.
LARGEST_SIZE = 10_000_000
# No score is larger, so that all of them are 64-bit numbers.
TOP = 1 << 62


@dataclass(frozen=True)
class ScoredRelease:
    """The release whose expected publication a score counts; one person who decides stands for this many."""

    counted_from: int
    rate: float
    stands_for: int

    @property
    def step(self) -> int:
        """The proved bound on a step of the score."""
        return largest_step(self.counted_from, self.rate, self.stands_for)


@dataclass(frozen=True)
class Score:
    """A function of class sizes: `values[n]` for small n, then steps of `slope`; `weighted` by what classes keep.

    `published` says what is counted, which bounds the steps.
    """

    name: str
    values: NDArray[np.int64]
    slope: int
    published: ScoredRelease
    weighted: bool = False

    def __post_init__(self) -> None:
        if not len(self.values) or self.values[0] != 0:
            raise InvalidInput(
                "A score must be 0 for an empty class. Let values begin with 0.", where="values", code="selection.score"
            )
        least = min(self.slope, int(np.diff(self.values).min(initial=0)))
        if least < 0 or self.published.step < self.step:
            message = "The values of a score must rise within the proved bound; name one level per column."
            raise NotProved(message, where="values", code="selection.not-proved")

    @cached_property
    def step(self) -> int:
        """The largest rise of f from one size to the next."""
        return max(self.slope, int(np.diff(self.values).max(initial=0)))

    def parts(self, most: int) -> int:
        """W: `most` for weighted scores."""
        return most if self.weighted else 1

    def sensitivity(self, most: int) -> int:
        """W·Δ, the most that one person changes the score."""
        return self.published.step * self.parts(most)

    def of(self, sizes: NDArray[np.int64], parts: NDArray[np.int64]) -> int:
        """Return the score of a node from the sizes of its classes and the parts that they keep, at most `TOP`.

        Capping moves no two scores apart and keeps their order, so it weakens no guarantee; a sum that ran over
        the end of 64 bits would.
        """
        # f(n) ≤ Δn, as f(0) = 0.
        most = self.step * int(sizes.sum()) * (int(parts.max(initial=0)) if self.weighted else 1)
        if most > TOP:
            # Python's own numbers have no end.
            sizes, parts = sizes.astype(object), parts.astype(object)
        last = len(self.values) - 1
        value = self.values[np.minimum(sizes, last).astype(np.int64, copy=False)].astype(sizes.dtype, copy=False)
        if sizes.max(initial=0) > last:
            value = value + self.slope * np.maximum(sizes - last, 0)
        return min(int(value @ parts) if self.weighted else int(value.sum()), TOP)


def score(name: ScoreName, *, k: int, rate: float, share_seen: float = 1.0) -> Score:
    """Return the score of that name for a release that samples with `rate` and publishes from k on.

    `share_seen` is the share of people whom the choice sees: one of them stands for 1/share_seen, and classes of which
    fewer than three are seen on average do not count. Everything is fixed beforehand.

    >>> quarter = score("published", k=5, rate=0.25)
    >>> round(quarter.step / UNITS, 2), round(quarter.slope / UNITS, 2)
    (0.39, 0.25)
    """
    if name not in SCORES:
        raise InvalidInput(
            f"The score {name!r} is unknown. Use one of {', '.join(SCORES)}.", where="score", code="selection.score"
        )
    stated, k = k, max(k, math.ceil(FEWEST_SEEN * rate / share_seen) if share_seen < 1 else 1)
    # From here on fewer than k of a class are drawn hardly ever: k lies ten deviations below the mean.
    enough = (k + 50 + 10 * (k + 50) ** 0.5) / rate
    if 8 * enough > LARGEST_SIZE:
        raise InvalidInput(
            f"k divided by the rate must be below about {LARGEST_SIZE // 10:,} for a choice, got k = {stated} with "
            f"rate {rate:g}. Lower k, or name one level per column.",
            where="k",
            code="selection.k",
        )
    sizes = np.arange(int(np.ceil(enough * share_seen)) + 2)
    people = np.rint(sizes / share_seen)
    # E[X·1(X ≥ k)] = n·rate·P[Bin(n − 1, rate) ≥ k − 1], which is an incomplete beta function at the rate.
    others, least = np.maximum(people - 1, 0), k - 1
    tail = special.betainc(least, np.maximum(others - least + 1, 0), rate) if least else np.ones(len(people))
    drawn = people * rate * np.where(others >= least, tail, 0.0)
    values = np.maximum.accumulate(np.rint(UNITS * drawn).astype(np.int64))
    counted = ScoredRelease(k, rate, max(1, int(np.diff(people).max())))
    return Score(name, values, round(UNITS * rate / share_seen), counted, weighted=name == "loss")

"""Our own release as an attacker meets it: drawn, suppressed or noised by the code that publishes, many times over.

Cells of a table do not influence each other: everybody has a coin of their own, a cell is shown or not by its own
count, and every cell has noise of its own. So one table with a further column `run` is as many independent releases as
that column has labels, and thousands of releases cost no more than one large one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from crowdblend.lab.attacks.trial import Bound, Trial, exactly, in_runs
from crowdblend.methods.mechanisms import NoisyHistogram, SampledClasses, SuppressedHistogram
from crowdblend.methods.planning.plan import SolvedPlan, plan
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import ReleaseKey, SystemSource, coins, new_key, thin

Law = dict[int, Fraction]


@cache
def binomial(people: int, rate: Fraction) -> tuple[Fraction, ...]:
    """P[X = 0], P[X = 1], … for the number of sampled people of a class."""
    return tuple(math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1))


def at_least(people: int, rate: Fraction, k: int) -> Fraction:
    """P[X ≥ k]."""
    return sum(binomial(people, rate)[max(k, 0) :], Fraction(0))


def published_law(people: int, rate: Fraction, k: int) -> Law:
    """The law of the published count of one class, 0 when it is suppressed."""
    pmf = binomial(people, rate)
    return {0: sum(pmf[:k], Fraction(0)), **{j: pmf[j] for j in range(k, people + 1)}}


def chance_of_more(first: Law, second: Law) -> Fraction:
    """P[X > Y] for independent X and Y."""
    values = sorted(second)
    below = [Fraction(0), *accumulate(second[value] for value in values)]
    return sum((chance * below[bisect_left(values, value)] for value, chance in first.items()), Fraction(0))


def laplace_reaches(least: int, epsilon: float) -> float:
    """P[Y ≥ least] for discrete Laplace noise of loss epsilon."""
    if least >= 1:
        return math.exp(-epsilon * least) / (1 + math.exp(-epsilon))
    return 1 - laplace_reaches(1 - least, epsilon)


RATE, EPSILON, DELTA = 0.25, 1.0, 1e-6

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class OurTable:
    """A table of sampled people under a plan: small classes are dropped, or noised where the plan says so."""

    plan: SolvedPlan

    @property
    def k(self) -> int:
        """The smallest crowd that is shown exactly."""
        return self.plan.k

    @property
    def rate(self) -> float:
        """The share of people who are sampled."""
        assert self.plan.rate is not None
        return self.plan.rate

    @property
    def name(self) -> str:
        """The name of the release beside others."""
        return f"ours, k = {self.k}, of a sample at {self.rate:g}"

    def bound(self, relation: Relation = Relation.ADD_REMOVE) -> Bound:
        """Return the bound of the certificate when a person is added, removed or replaced."""
        stated = self.plan.certificate().differential(relation)
        assert stated is not None, "a certificate has both relations"
        return Bound(stated.epsilon, stated.delta, "our certificate")

    def shows(
        self,
        runs: int,
        place: int,
        hit: tuple[int, ...],
        miss: tuple[int, ...],
        relation: Relation = Relation.ADD_REMOVE,
    ) -> Trial:
        """Return the trial whether one class is shown, when classes have these sizes in either world."""
        rate = Fraction(self.rate)
        exact = exactly(*(at_least(sizes[place], rate, self.k) for sizes in (hit, miss)))

        def count_shown(person: bool) -> int:
            return int((self.publish(repeat_sizes(runs, *(hit if person else miss)))[:, place] > 0).sum())

        return Trial(self.name, True, self.bound(relation), exact, in_runs(runs, count_shown))

    def publish(self, people: Counts) -> Counts:
        """Sample and publish: a row of class sizes for every run; in the answer 0 stands for what is not shown."""
        return self.sanitize(thin(people.ravel(), self.rate, SystemSource()).reshape(people.shape))

    def sanitize(self, sample: Counts) -> Counts:
        """Publish counts that were already drawn."""
        places, numbers = np.nonzero(sample), tuple(tuple(map(str, range(size))) for size in sample.shape)
        classes = SampledClasses(("run", "class"), numbers, np.column_stack(places).astype(np.int32), sample[places])
        if self.plan.noise_epsilon is None:
            published = SuppressedHistogram(self.k).publish(classes)
        else:
            published = NoisyHistogram(self.k, self.plan.noise_epsilon).publish(classes, ReleaseKey(new_key()))
        counts = np.zeros_like(sample)
        if len(published.counts):
            run, column = (np.array(some, int)[published.codes[:, at]] for at, some in enumerate(published.labels))
            counts[run, column] = published.counts
        return counts


@cache
def our_table(rate: float = RATE, k: int | None = None, *, below_k: str = "suppress") -> OurTable:
    """Return the release that a steward would plan for ε = 1 and δ = 10⁻⁶, with the δ that is proved for its k."""
    if k is None:
        k = plan(rate=rate, epsilon=EPSILON, delta=DELTA, below_k=below_k).k
    return OurTable(plan(rate=rate, k=k, epsilon=EPSILON, below_k=below_k))


def repeat_sizes(runs: int, *classes: int) -> Counts:
    """The same class sizes for every run."""
    return np.tile(np.array(classes, dtype=np.int64), (runs, 1))


def drawn(runs: int, people: int, rate: float) -> NDArray[np.bool_]:
    """Return who is in the sample of each run, by the keyed coin: a row per run, a column per person."""
    return coins(new_key(), np.arange(runs * people), rate).reshape(runs, people)

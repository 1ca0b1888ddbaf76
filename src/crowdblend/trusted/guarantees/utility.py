"""Statements about accuracy and scores that other theorems consume and produce."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import Aggregate
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.guarantees.wording import at_most

AVERAGE = "average"
HISTOGRAM = "histogram"
CONNECTED = "distance to connectedness"
CYCLE_FREE = "distance to cycle-freeness"
EULERIAN = "distance to an Euler path"
AVERAGE_DEGREE = "average degree"
DEGREES = "degree distribution"
RELEASED = "released statistic"
STATISTICS = (AVERAGE, HISTOGRAM, CONNECTED, CYCLE_FREE, EULERIAN, AVERAGE_DEGREE, DEGREES, RELEASED)


@dataclass(frozen=True)
class _Estimate(Guarantee):
    statistic: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.statistic not in STATISTICS:
            raise InvalidInput(f"statistic must be one of {', '.join(STATISTICS)}, got {self.statistic!r}.")


@dataclass(frozen=True)
class Sampler(_Estimate):
    """ZKP Definition 10: the aggregate suffices to estimate the statistic within `accuracy` (in L1), except with
    probability `failure`, on every table. The range of the statistic has the L1 length `width`."""

    accuracy: float
    failure: float
    width: float
    aggregate: Aggregate

    def words(self) -> str:
        return (
            f"the {self.statistic} can be estimated within {at_most(self.accuracy)} from {self.aggregate.words()}, "
            f"except with probability {at_most(self.failure)}"
        )


@dataclass(frozen=True)
class Estimator(_Estimate):
    """docs/proofs.md#networks: on every table the aggregate gives an estimate whose error E (in L1) has
    E[e^{E/λ}] ≤ e^{reach/λ} for every λ from `least_scale` on, so noise of such a scale hides it as well as an error
    that is always `reach`. The range of the statistic has the L1 length `width`."""

    reach: float
    least_scale: float
    width: float
    aggregate: Aggregate

    def words(self) -> str:
        return (
            f"the {self.statistic} can be estimated from {self.aggregate.words()}, with an error that noise of scale "
            f"{at_most(self.least_scale)} or more hides as well as one of {at_most(self.reach)}"
        )


@dataclass(frozen=True)
class QuerySampler(Guarantee):
    """ZKP Definition 19: `samples` random people answer every query of a class within `accuracy` at once, except
    with probability `failure`."""

    samples: int
    accuracy: float
    failure: float

    def words(self) -> str:
        return (
            f"{self.samples} random people answer every query of the class within {at_most(self.accuracy)}, "
            f"except with probability {at_most(self.failure)}"
        )


@dataclass(frozen=True)
class Useful(Guarantee):
    """ZKP Definition 18: every query of a class is answered within `accuracy`, except with probability `failure`."""

    accuracy: float
    failure: float

    def words(self) -> str:
        return (
            f"every query of the class is answered within {at_most(self.accuracy)}, "
            f"except with probability {at_most(self.failure)}"
        )


@dataclass(frozen=True)
class NoisyTotals(Guarantee):
    """Totals over people, each person adding whole numbers, with discrete Laplace noise on every total.

    All three are sums over the totals, each in units of its noise. `step`: how far concealing one person and rounding
    an estimate moves them. `drift`: the standard deviations of what a person adds. `reach`: how far two people's
    contributions are apart, which is also how far replacing one person moves them.
    """

    step: float
    drift: float
    reach: float

    def words(self) -> str:
        """Return the guarantee as a clause of a sentence."""
        return f"noise hides one person's part in the totals up to a factor of e^{at_most(self.reach)}"


@dataclass(frozen=True)
class BoundedScore(Guarantee):
    """One person more or less moves the score of every candidate by at most `sensitivity`; if it is `monotone`, a
    further person never lowers one."""

    sensitivity: float
    monotone: bool

    def words(self) -> str:
        rises = ", and a further person never lowers one" if self.monotone else ""
        return f"one person more or less moves every score by at most {at_most(self.sensitivity)}{rises}"

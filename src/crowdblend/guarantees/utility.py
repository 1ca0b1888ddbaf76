"""Statements about accuracy that the zero-knowledge theorems consume and produce."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.guarantees.aggregates import Aggregate
from crowdblend.guarantees.promises import Guarantee
from crowdblend.guarantees.wording import at_most


@dataclass(frozen=True)
class Sampler(Guarantee):
    """ZKP Definition 10: the aggregate suffices to estimate a statistic within `accuracy` (in L1), except with
    probability `failure`, on every table."""

    accuracy: float
    failure: float
    aggregate: Aggregate

    def words(self) -> str:
        return (
            f"the statistic can be estimated within {at_most(self.accuracy)} from {self.aggregate.words()}, "
            f"except with probability {at_most(self.failure)}"
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

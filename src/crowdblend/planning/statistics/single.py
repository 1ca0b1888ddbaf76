"""One statistic planned from numbers alone, before there is a policy: its error, the people it takes, or its ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.choice import TotalsPlan, TotalsRequest, plan_statistics
from crowdblend.planning.statistics.quantiles import QuantileShape
from crowdblend.planning.statistics.ways import AnyShape

Name = Literal["fraction", "average", "median", "histogram"]
NAMES: tuple[Name, ...] = ("fraction", "average", "median", "histogram")
# Averages and medians are planned on a grid of a thousand steps, as those of intervals are.
_STEPS = 1_000
_LEAST_EPSILON, _LARGEST_EPSILON = 1e-4, 500.0
_CLOSE = 1 + 1e-6


@dataclass(frozen=True)
class StatisticPlan:
    """A statistic with nothing left open; its error is a share: of people, of the range of an average, or of ranks."""

    statistic: Name
    people: int
    sample: int
    epsilon: float
    error: float
    confidence: float
    way: str
    solved: str

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        return asdict(self)


def plan_statistic(
    *,
    statistic: Name = "fraction",
    people: int,
    sample: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    confidence: float = 0.95,
    bins: int = 2,
) -> StatisticPlan:
    """Solve for the one of sample, epsilon and error that is left out: the fewest people, the least ε, or the error.

    `sample` is how many random people the guarantee is relative to; all of them for plain differential privacy.
    """
    given = {"sample": sample, "epsilon": epsilon, "error": error}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise InvalidInput(
            f"Leave exactly one of sample, epsilon and error unset; {' and '.join(missing) or 'none'} is unset.",
            remedy="Give the other two.",
            where="sample",
            code="plan.unknown",
        )
    shape, failure = _shape(statistic, bins), float(1 - Decimal(repr(float(confidence))))

    def planned(sample: int, epsilon: float) -> TotalsPlan:
        plain = sample == people
        return plan_statistics(TotalsRequest((shape,), epsilon, sample, people, failure, plain=plain))

    def share(sample: int, epsilon: float) -> float:
        return planned(sample, epsilon).error(0) / shape.span

    if sample is None:
        loss = float(epsilon or 0)
        sample = _fewest(lambda k: share(k, loss), people, float(error or 0))
    elif epsilon is None:
        known = sample
        epsilon = _smallest(lambda loss: share(known, loss), float(error or 0))
    assert epsilon is not None, "it is given or solved for"
    return StatisticPlan(
        statistic,
        people,
        sample,
        epsilon,
        share(sample, epsilon),
        confidence,
        planned(sample, epsilon).ways[0][1].mechanism if sample < people else "everybody",
        missing[0],
    )


def _shape(statistic: Name, bins: int) -> AnyShape:
    if statistic == "median":
        return QuantileShape(Fraction(1, 2), _STEPS + 1)
    return Shape(_STEPS if statistic == "average" else 1, bins if statistic == "histogram" else 1)


def _fewest(share: Callable[[int], float], people: int, error: float) -> int:
    if share(people) > error:
        raise _infeasible(share(people))
    low, high = 1, people
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if share(middle) <= error else (middle + 1, high)
    return high


def _smallest(share: Callable[[float], float], error: float) -> float:
    low, high = _LEAST_EPSILON, _LARGEST_EPSILON
    if share(high) > error:
        raise _infeasible(share(high))
    while high / low > _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if share(middle) <= error else (middle, high)
    return high


def _infeasible(least: float) -> Infeasible:
    return Infeasible(
        f"The error is at least {least:.4g} of the range.",
        remedy="Raise error, sample or epsilon.",
        where="error",
        code="plan.error",
    )

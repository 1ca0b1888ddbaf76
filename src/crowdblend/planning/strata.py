"""Plans of stratified samples: every stratum gets the smallest k of its own that one ε and δ for all of them need.

One person more or less touches one stratum (rule strata.worst), so the strata are planned one by one and the largest ε
and δ counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crowdblend.calculus.rules import strata
from crowdblend.planning.plan import Plan, answer
from crowdblend.planning.request import PlanRequest

# In strata whose rates differ, noise below k uses this share of what sampling makes good for: more would need a far
# larger k, and the loss of the noise falls only by the logarithm.
_NOISE_SHARE = 0.25


class Ends(Protocol):
    """The rates of the people of one stratum."""

    @property
    def low(self) -> float:
        """The smallest rate of its people."""

    @property
    def high(self) -> float:
        """The largest rate of its people."""

    @property
    def rate(self) -> float:
        """The rate that estimates divide by."""


class Rates(Ends, Protocol):
    """The same with a name."""

    @property
    def label(self) -> str:
        """What the stratum is called."""


@dataclass(frozen=True)
class StratumPlan:
    """One stratum with nothing left open."""

    label: str
    low: float
    high: float
    rate: float
    parameters: Plan
    noise_epsilon: float | None

    @property
    def k(self) -> int:
        """From which size on its classes are shown, or are exact."""
        return self.parameters.k


@dataclass(frozen=True)
class StrataPlan:
    """All strata under one ε and δ."""

    strata: tuple[StratumPlan, ...]
    epsilon: float
    delta: float
    solved: str

    @property
    def k(self) -> int:
        """The largest k of any stratum."""
        return max(stratum.k for stratum in self.strata)

    @property
    def sampled_with(self) -> float:
        """The largest sampling probability of anybody."""
        return max(stratum.high for stratum in self.strata)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        shown: dict[str, Any] = {"k": self.k, "rate": None, "epsilon": self.epsilon, "delta": self.delta}
        return shown | {"solved": self.solved, "rule": strata.worst_stratum.id, "bounds": {}}


def plan_strata(
    rates: Sequence[Rates], given: Mapping[str, Any], *, noise_epsilon: float | None = None, noisy: bool = False
) -> StrataPlan:
    """Plan every stratum; `given` are the parameters of a request without its rates, of which one is left out.

    >>> from crowdblend.policies.strata import Stratum
    >>> three = [Stratum(name, rate, rate, rate) for name, rate in (("a", 0.05), ("b", 0.1), ("c", 0.5))]
    >>> [stratum.k for stratum in plan_strata(three, {"k": None, "epsilon": 1.0, "delta": 1e-6}).strata]
    [6, 8, 35]
    """
    found: dict[tuple[float, float], tuple[Plan, float | None]] = {}
    for stratum in rates:
        if (stratum.low, stratum.high) not in found:
            found[stratum.low, stratum.high] = _plan_one(stratum, given, noise_epsilon, noisy)
    planned = tuple(StratumPlan(one.label, one.low, one.high, one.rate, *found[one.low, one.high]) for one in rates)
    epsilon = max(stratum.parameters.epsilon for stratum in planned)
    delta = max(stratum.parameters.delta for stratum in planned)
    return StrataPlan(planned, epsilon, delta, planned[0].parameters.solved)


def _plan_one(
    stratum: Rates, given: Mapping[str, Any], noise_epsilon: float | None, noisy: bool
) -> tuple[Plan, float | None]:
    if stratum.low == stratum.high:
        below: dict[str, Any] = {"below_k": "noise", "noise_epsilon": noise_epsilon} if noisy else {}
        planned = answer(PlanRequest(rate=stratum.low, **below, **given))
        return planned, planned.noise_epsilon
    if not noisy:
        planned = answer(PlanRequest(low=stratum.low, high=stratum.high, **given))
        return planned, planned.noise_epsilon
    loss = noise_epsilon or _noise_between(stratum, given["epsilon"])
    return answer(PlanRequest(low=stratum.low, high=stratum.high, blend_epsilon=loss, **given)), loss


def _noise_between(stratum: Rates, epsilon: float) -> float:
    """The loss of noise below k where rates differ: δ is small only while P·R·e^loss + 1 − P stays below e^ε."""
    ratio = stratum.high * (1 - stratum.low) / (stratum.low * (1 - stratum.high))
    return math.log1p(_NOISE_SHARE * math.expm1(epsilon) / (stratum.high * ratio))

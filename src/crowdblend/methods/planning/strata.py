"""Plans of crowds by strata: each gets the smallest k of its own that one ε and δ for all of them need.

One person more or less touches one stratum (rule strata.worst), so the strata are planned one by one and the largest ε
and δ counts. A sample without strata is one stratum, which has no label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crowdblend.errors import Infeasible
from crowdblend.methods.designs import Stratum
from crowdblend.methods.planning.bounds import profile_once
from crowdblend.methods.planning.plan import SolvedPlan, answer
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import profiles, strata
from crowdblend.trusted.numerics.search import first_true

# In strata whose rates differ, noise below k uses this share of what sampling makes good for: more would need a far
# larger k, and the loss of the noise falls only by the logarithm.
_NOISE_SHARE = 0.25
# In a series people may change their stratum, which costs more than one stratum every time: all crowds are raised by
# this many hundredths until they keep to the totals together.
_MOST_RAISED = 1_000


def plan_strata(rates: Mapping[str, Stratum], parameters: Mapping[str, Any]) -> SolvedPlan:
    """Plan every stratum; `parameters` are the parameters of a request without its rates, of which one is left out.

    >>> three = {name: Stratum(rate, rate, rate) for name, rate in (("a", 0.05), ("b", 0.1), ("c", 0.5))}
    >>> [one.k for one in plan_strata(three, {"k": None, "epsilon": 1.0, "delta": 1e-6}).strata.values()]
    [6, 8, 35]
    """
    ends = dict.fromkeys((one.low, one.high) for one in rates.values())
    found = {(low, high): answer(_request(low, high, parameters)) for low, high in ends}
    planned = SolvedPlan.of_strata(
        {label: replace(found[one.low, one.high], rate=one.rate or one.low) for label, one in rates.items()}
    )
    delta = parameters.get("delta")
    if parameters.get("releases", 1) == 1:
        return planned
    if planned.solved == "delta":
        joint = profiles.profile_at_epsilon(_together(planned), epsilon=planned.epsilon)
        return replace(planned, delta=joint.conclusion.delta)
    if planned.solved == "epsilon":
        joint = profiles.profile_at_delta(_together(planned), delta=delta)
        return replace(planned, epsilon=joint.conclusion.epsilon)
    try:
        return planned.raise_k(first_true(lambda more: _keeps(planned.raise_k(more)), 0, 0, _MOST_RAISED))
    except LookupError:
        raise Infeasible(
            f"No k keeps {parameters['releases']} releases of these strata to `epsilon = {planned.epsilon:g}` and "
            f"`delta = {delta:g}`.",
            remedy="Raise epsilon or delta, lower the rates, or plan fewer releases.",
            where="k",
            code="plan.no-k",
        ) from None


def _keeps(plan: SolvedPlan) -> bool:
    """Return whether all releases keep to the totals, at their epsilon or at their delta."""
    together, epsilon, delta = _together(plan), plan.epsilon, plan.delta
    if profiles.profile_at_epsilon.conclude(together.conclusion, epsilon=epsilon).delta <= delta:
        return True
    return bool(profiles.profile_at_delta.conclude(together.conclusion, delta=delta).epsilon <= epsilon)


def _together(plan: SolvedPlan) -> Derivation:
    """Return the profile of all releases: of every one the curve of its worst stratum."""
    distinct = {(one.request.low, one.request.high, one.rate): one for one in plan.strata.values()}.values()
    each = [profile_once(one.request, one.k, one.rate, one.epsilon) for one in distinct]
    once = strata.profile_of_strata(*each)
    return profiles.repeated_releases_compose(once, releases=plan.request.releases)


def _request(low: float, high: float, parameters: Mapping[str, Any]) -> PlanRequest:
    if low == high:
        return PlanRequest(rate=low, **parameters)
    if parameters.get("below_k", "suppress") == "suppress":
        return PlanRequest(low=low, high=high, **parameters)
    # Where rates differ, delta is small only while high·ratio·e^loss + 1 − high stays below e^epsilon.
    ratio = high * (1 - low) / (low * (1 - high))
    most = math.log1p(_NOISE_SHARE * math.expm1(parameters["epsilon"]) / (high * ratio))
    loss = parameters.get("noise_epsilon") or most
    parameters = {name: value for name, value in parameters.items() if name not in ("below_k", "noise_epsilon", "flag")}
    return PlanRequest(low=low, high=high, blend_epsilon=loss, **parameters)

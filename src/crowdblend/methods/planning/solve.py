"""Solve one rule for one parameter, on the safe side.

δ never grows with k (a larger threshold is post-processing), never grows with ε (by definition) and never falls
with the rate (LQS Theorem 1), so each search is monotone; what it returns was itself tested and reaches the target.
"""

from __future__ import annotations

from crowdblend.errors import Infeasible, NotApplicable
from crowdblend.methods.designs.poisson import LARGEST_COMPARED
from crowdblend.methods.planning.bounds import Bound
from crowdblend.methods.planning.parts import LARGEST_K, smallest_thresholds
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.trusted.numerics.search import first_true, largest_double, smallest_double

LARGEST_EPSILON = 600.0
SMALLEST_RATE = 1e-12


def solve(bound: Bound, request: PlanRequest, best: float | None = None) -> float:
    """Return the best value of the unknown under one rule; raise Infeasible or NotApplicable.

    `best` is the answer of a rule whose δ is the smallest true one: no sound rule does better, so the search starts
    there.
    """
    return _SOLVERS[request.unknown](bound, request, best)


def _reaches(bound: Bound, request: PlanRequest, k: int, rate: float | None, epsilon: float) -> bool:
    assert request.delta is not None
    try:
        return bound.delta(request, k, rate, epsilon) <= request.delta
    except NotApplicable:
        return False


def _solve_delta(bound: Bound, request: PlanRequest, _best: float | None) -> float:
    assert request.k is not None
    _worth_comparing(bound, request.k)
    assert request.epsilon is not None
    return bound.delta(request, request.k, request.rate, request.epsilon)


def _solve_k(bound: Bound, request: PlanRequest, best: float | None) -> float:
    assert request.epsilon is not None
    if request.shares:
        assert request.rate is not None
        assert request.delta is not None
        return max(smallest_thresholds(request.shares, request.rate, request.epsilon, request.delta))
    epsilon, least = request.epsilon, request.exceptions + 2 if request.biased else 1
    start, most = int(best or least), LARGEST_COMPARED if bound.compared else LARGEST_K
    _worth_comparing(bound, start)
    bound.delta(request, least + 1, request.rate, epsilon)  # a rule that does not apply says so in its own words
    try:
        return first_true(lambda k: _reaches(bound, request, k, request.rate, epsilon), start, start, most)
    except LookupError:
        message = f"No k up to {most:,} reaches `delta = {request.delta:g}`."
        remedy = "Raise epsilon or delta, or lower the rate."
        zero = next((name for name in ("epsilon", "delta") if getattr(request, name) == 0), None)
        if zero is not None:
            message, remedy = (
                f"{zero} must be above 0.",
                f"Raise {zero}, for example to {'1.0' if zero == 'epsilon' else '1e-6'}.",
            )
        elif request.biased:
            message = f"{message[:-1]}: probabilities from {request.low:.3g} to {request.high:.3g} differ too much."
            remedy = "Narrow low and high, or raise epsilon."
        raise Infeasible(message, remedy=remedy, where="k", code="plan.no-k") from None


def _solve_epsilon(bound: Bound, request: PlanRequest, best: float | None) -> float:
    assert request.k is not None
    k, rate = request.k, request.rate
    _worth_comparing(bound, k)
    if not _reaches(bound, request, k, rate, LARGEST_EPSILON):
        bound.delta(request, k, rate, LARGEST_EPSILON)  # likewise
        reason, remedy = _why_not(request)
        message = f"No epsilon reaches `delta = {request.delta:g}`: {reason}."
        raise Infeasible(message, remedy=remedy, where="epsilon", code="plan.no-epsilon")
    start = best or 0.0
    if _reaches(bound, request, k, rate, start):
        return start
    return smallest_double(
        lambda epsilon: _reaches(bound, request, k, rate, epsilon), start, LARGEST_EPSILON, bound.tolerance
    )


def _why_not(request: PlanRequest) -> tuple[str, str]:
    """Return why no epsilon is large enough, and a remedy."""
    if request.biased:
        remedy = "Raise k or delta, narrow low and high, allow fewer exceptions, or lower max_rate."
        return "the bias and the exceptions leave more than that", remedy
    remedy = "Raise k or delta, or lower the rate."
    if request.crowd_epsilon > 0:
        return "sampling leaves more than that to crowds of this size", remedy
    return f"a class of k = {request.k} people is published whole more often than that", remedy


def _solve_rate(bound: Bound, request: PlanRequest, best: float | None) -> float:
    assert request.k is not None
    assert request.epsilon is not None
    assert request.delta is not None
    k, epsilon = request.k, request.epsilon
    _worth_comparing(bound, k)

    def reaches(rate: float) -> bool:
        return _reaches(bound, request, k, rate, epsilon)

    if best is not None and reaches(best):
        return best
    # Sampling alone guarantees δ = rate, so a rate of δ always works, unless that is too small to mean anything.
    low = max(min(request.delta, 0.5), SMALLEST_RATE)
    while low > SMALLEST_RATE and not reaches(low):
        low = max(low / 16, SMALLEST_RATE)
    if not reaches(low):
        message = (
            f"No rate of at least {SMALLEST_RATE:g} reaches `delta = {request.delta:g}` at `epsilon = {epsilon:g}`."
        )
        raise Infeasible(message, remedy="Raise epsilon, delta or k.", where="rate", code="plan.no-rate")
    return largest_double(reaches, low, best or 1.0, bound.tolerance)


def _worth_comparing(bound: Bound, k: int) -> None:
    if bound.compared and k > LARGEST_COMPARED:
        raise NotApplicable(
            f"`k = {k:,}` is too large to compare {bound.rule.id}.",
            remedy=f"Compare it for k up to {LARGEST_COMPARED:,}.",
            where="k",
            code="plan.compared-k",
        )


_SOLVERS = {"k": _solve_k, "rate": _solve_rate, "epsilon": _solve_epsilon, "delta": _solve_delta}

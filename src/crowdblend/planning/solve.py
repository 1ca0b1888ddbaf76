"""Solve one rule for one parameter, on the safe side.

δ never grows with k (a larger threshold is post-processing), never grows with ε (by definition) and never falls
with the rate (LQS Theorem 1), so each search is monotone; what it returns was itself tested and reaches the target.
"""

from __future__ import annotations

from crowdblend.errors import Infeasible, NotApplicable
from crowdblend.numerics.search import first_true, largest_double, smallest_double
from crowdblend.planning.bounds import Bound
from crowdblend.planning.question import Question

LARGEST_K = 10**7
LARGEST_EPSILON = 600.0
SMALLEST_RATE = 1e-12


def solve(bound: Bound, question: Question) -> float:
    """The best value of the unknown under one rule; raises Infeasible or NotApplicable."""
    return _SOLVERS[question.unknown](bound, question)


def _reaches(bound: Bound, question: Question, k: int, rate: float | None, epsilon: float) -> bool:
    assert question.delta is not None
    try:
        return bound.delta(question, k, rate, epsilon) <= question.delta
    except NotApplicable:
        return False


def _solve_delta(bound: Bound, question: Question) -> float:
    assert question.k is not None
    assert question.epsilon is not None
    return bound.delta(question, question.k, question.rate, question.epsilon)


def _solve_k(bound: Bound, question: Question) -> float:
    assert question.epsilon is not None
    epsilon, least = question.epsilon, question.exceptions + 2 if question.biased else 1
    bound.delta(question, least + 1, question.rate, epsilon)  # a rule that does not apply says so in its own words
    try:
        return first_true(lambda k: _reaches(bound, question, k, question.rate, epsilon), least, least, LARGEST_K)
    except LookupError:
        raise Infeasible(
            f"no k up to {LARGEST_K:,} reaches delta = {question.delta:g}. Raise epsilon or delta, or lower the rate."
        ) from None


def _solve_epsilon(bound: Bound, question: Question) -> float:
    assert question.k is not None
    k, rate = question.k, question.rate
    if not _reaches(bound, question, k, rate, LARGEST_EPSILON):
        bound.delta(question, k, rate, LARGEST_EPSILON)  # likewise
        raise Infeasible(
            f"no epsilon reaches delta = {question.delta:g}: a class of k = {k} people is published whole more often "
            "than that. Raise k or delta, or lower the rate."
        )
    if _reaches(bound, question, k, rate, 0.0):
        return 0.0
    return smallest_double(lambda epsilon: _reaches(bound, question, k, rate, epsilon), 0.0, LARGEST_EPSILON)


def _solve_rate(bound: Bound, question: Question) -> float:
    assert question.k is not None
    assert question.epsilon is not None
    assert question.delta is not None
    k, epsilon = question.k, question.epsilon

    def reaches(rate: float) -> bool:
        return _reaches(bound, question, k, rate, epsilon)

    # Sampling alone promises δ = rate, so a rate of δ always works, unless that is too small to mean anything.
    low = max(min(question.delta, 0.5), SMALLEST_RATE)
    while low > SMALLEST_RATE and not reaches(low):
        low = max(low / 16, SMALLEST_RATE)
    if not reaches(low):
        raise Infeasible(
            f"no rate of at least {SMALLEST_RATE:g} reaches delta = {question.delta:g} at epsilon = {epsilon:g}. "
            "Raise epsilon, delta or k."
        )
    return largest_double(reaches, low, 1.0)


_SOLVERS = {"k": _solve_k, "rate": _solve_rate, "epsilon": _solve_epsilon, "delta": _solve_delta}

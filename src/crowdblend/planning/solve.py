"""Solve one rule for one parameter, on the safe side.

δ never grows with k (a larger threshold is post-processing), never grows with ε (by definition) and never falls
with the rate (LQS Theorem 1), so each search is monotone; what it returns was itself tested and reaches the target.
"""

from __future__ import annotations

from crowdblend.errors import Infeasible, NotApplicable
from crowdblend.numerics.search import first_true, largest_double, smallest_double
from crowdblend.planning.bounds import LARGEST_COMPARED, Bound
from crowdblend.planning.parts import LARGEST_K, smallest_thresholds
from crowdblend.planning.question import Question

LARGEST_EPSILON = 600.0
SMALLEST_RATE = 1e-12


def solve(bound: Bound, question: Question, best: float | None = None) -> float:
    """The best value of the unknown under one rule; raises Infeasible or NotApplicable.

    `best` is the answer of a rule whose δ is the smallest true one: no sound rule does better, so the search starts
    there.
    """
    return _SOLVERS[question.unknown](bound, question, best)


def _reaches(bound: Bound, question: Question, k: int, rate: float | None, epsilon: float) -> bool:
    assert question.delta is not None
    try:
        return bound.delta(question, k, rate, epsilon) <= question.delta
    except NotApplicable:
        return False


def _solve_delta(bound: Bound, question: Question, _best: float | None) -> float:
    assert question.k is not None
    _worth_comparing(bound, question.k)
    assert question.epsilon is not None
    return bound.delta(question, question.k, question.rate, question.epsilon)


def _solve_k(bound: Bound, question: Question, best: float | None) -> float:
    assert question.epsilon is not None
    if question.shares:
        assert question.rate is not None
        assert question.delta is not None
        return max(smallest_thresholds(question.shares, question.rate, question.epsilon, question.delta))
    epsilon, least = question.epsilon, question.exceptions + 2 if question.biased else 1
    start, most = int(best or least), LARGEST_COMPARED if bound.compared else LARGEST_K
    _worth_comparing(bound, start)
    bound.delta(question, least + 1, question.rate, epsilon)  # a rule that does not apply says so in its own words
    try:
        return first_true(lambda k: _reaches(bound, question, k, question.rate, epsilon), start, start, most)
    except LookupError:
        raise Infeasible(
            f"no k up to {most:,} reaches delta = {question.delta:g}. Raise epsilon or delta, or lower the rate."
        ) from None


def _solve_epsilon(bound: Bound, question: Question, best: float | None) -> float:
    assert question.k is not None
    k, rate = question.k, question.rate
    _worth_comparing(bound, k)
    if not _reaches(bound, question, k, rate, LARGEST_EPSILON):
        bound.delta(question, k, rate, LARGEST_EPSILON)  # likewise
        raise Infeasible(f"no epsilon reaches delta = {question.delta:g}: {_why_not(question)}")
    start = best or 0.0
    if _reaches(bound, question, k, rate, start):
        return start
    return smallest_double(
        lambda epsilon: _reaches(bound, question, k, rate, epsilon), start, LARGEST_EPSILON, _tolerance(bound)
    )


def _why_not(question: Question) -> str:
    if question.biased:
        return (
            "the bias and the exceptions leave more than that. Raise k or delta, narrow low and high, allow fewer "
            "exceptions, or lower max_rate."
        )
    if question.crowd_epsilon > 0:
        return "sampling leaves more than that to crowds of this size. Raise k or delta, or lower the rate."
    return (
        f"a class of k = {question.k} people is published whole more often than that. Raise k or delta, or lower the "
        "rate."
    )


def _solve_rate(bound: Bound, question: Question, best: float | None) -> float:
    assert question.k is not None
    assert question.epsilon is not None
    assert question.delta is not None
    k, epsilon = question.k, question.epsilon
    _worth_comparing(bound, k)

    def reaches(rate: float) -> bool:
        return _reaches(bound, question, k, rate, epsilon)

    if best is not None and reaches(best):
        return best
    # Sampling alone guarantees δ = rate, so a rate of δ always works, unless that is too small to mean anything.
    low = max(min(question.delta, 0.5), SMALLEST_RATE)
    while low > SMALLEST_RATE and not reaches(low):
        low = max(low / 16, SMALLEST_RATE)
    if not reaches(low):
        raise Infeasible(
            f"no rate of at least {SMALLEST_RATE:g} reaches delta = {question.delta:g} at epsilon = {epsilon:g}. "
            "Raise epsilon, delta or k."
        )
    return largest_double(reaches, low, best or 1.0, _tolerance(bound))


def _tolerance(bound: Bound) -> float:
    """Answers are found to eight digits; what they are compared with to four, on the safe side like all."""
    return 1e-4 if bound.compared else 1e-8


def _worth_comparing(bound: Bound, k: int) -> None:
    if bound.compared and k > LARGEST_COMPARED:
        raise NotApplicable(f"{bound.rule.id} is compared for k up to {LARGEST_COMPARED:,} only, got {k:,}.")


_SOLVERS = {"k": _solve_k, "rate": _solve_rate, "epsilon": _solve_epsilon, "delta": _solve_delta}

"""Plans for several releases together: epsilon and delta are totals, and each release draws a fresh sample.

Two ways to get there: by composing the releases' divergence curves, and by giving each release its share of epsilon and
delta. The first is nearly always far better; what the second would need is said beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import profiles
from crowdblend.errors import Infeasible, InvalidInput, NotApplicable
from crowdblend.guarantees import AmplifiedCurve, Profile, Uses
from crowdblend.numerics.search import first_true, largest_double
from crowdblend.planning.bounds import crowd
from crowdblend.planning.question import Question
from crowdblend.planning.solve import SMALLEST_RATE

LARGEST_K = 10**6
# Rates are found to five digits: every try composes all releases.
TOLERANCE = 1e-5
LARGEST_NOISE = 30.0
PROFILE, ADDED = "profile", "added"
RULES = {PROFILE: "composition.repeated", ADDED: "composition.differential"}


def profile_once(question: Question, k: int, rate: float | None) -> Derivation:
    """The profile of one release with these parameters."""
    if question.biased:
        return profiles.profile_of_biased_sampling(crowd(question, k), **question.sampling(None))
    if question.kind == "points":
        return profiles.profile_of_points(k=k, noise_epsilon=question.noise_epsilon, rate=rate)
    if question.noisy:
        return profiles.profile_of_noise_below_k(
            k=k, noise_epsilon=question.noise_epsilon, rate=rate, flag=question.flag
        )
    return profiles.profile_of_crowds(crowd(question, k), rate=rate)


def profile_together(question: Question, k: int, rate: float | None) -> Derivation:
    """The profile of all releases together."""
    return profiles.repeated_releases_compose(profile_once(question, k, rate), releases=question.releases)


def with_noise(question: Question) -> Question:
    """The question with the loss of the noise below k, where it is left open: the largest that leaves half of delta.

    The noise alone is a sampled mechanism of pure loss, whose releases compose like everything else.
    """
    if not question.noisy or question.noise_epsilon is not None:
        return question
    if question.rate is None or question.epsilon is None or question.delta is None:
        raise InvalidInput(
            "Several releases with noise below k are planned from rate, epsilon and delta, or with noise_epsilon. "
            "Pass noise_epsilon, or leave k out."
        )
    rate, epsilon, delta = question.rate, question.epsilon, question.delta

    def keeps(loss: float) -> bool:
        noise = Profile((Uses(AmplifiedCurve(loss, 0.0, rate), question.releases),))
        return _reaches(noise, epsilon, delta / 2)

    low = epsilon / question.releases
    return replace(question, noise_epsilon=largest_double(keeps, low, LARGEST_NOISE, 1e-3))


def solve_together(question: Question, alone: float | None) -> float:
    """The best value of the unknown for all releases, by their profiles; `alone` is the answer for one of them."""
    return _SOLVERS[question.unknown](question, alone)


def share_of(question: Question) -> Question:
    """The question about one release with its share of epsilon and delta."""

    def share(total: float | None) -> float | None:
        return None if total is None else math.nextafter(total / question.releases, 0.0)

    return replace(question, epsilon=share(question.epsilon), delta=share(question.delta), releases=1)


def added_up(question: Question, solved: float) -> float:
    """What shares come to: a loss is multiplied, k and rate are the same for each release."""
    if question.unknown not in ("epsilon", "delta"):
        return solved
    total = math.nextafter(solved * question.releases, math.inf)
    return min(total, 1.0) if question.unknown == "delta" else total


def _reaches(profile: Profile, epsilon: float, delta: float) -> bool:
    try:
        found: Any = profiles.profile_at_delta.conclude(profile, delta=delta)
    except (Infeasible, NotApplicable):
        return False
    return bool(found.epsilon <= epsilon)


def _keeps(question: Question, k: int, rate: float | None) -> bool:
    assert question.epsilon is not None
    assert question.delta is not None
    try:
        together = profile_together(question, k, rate).conclusion
    except NotApplicable:
        return False
    return _reaches(together, question.epsilon, question.delta)


def _solve_k(question: Question, alone: float | None) -> float:
    least = question.exceptions + 2 if question.biased else 1
    start = max(int(alone or least), least)
    try:
        return first_true(lambda k: _keeps(question, k, question.rate), start, start, LARGEST_K)
    except LookupError:
        raise Infeasible(
            f"no k up to {LARGEST_K:,} keeps {question.releases} releases to these totals. Raise epsilon or delta, "
            "lower the rate, or plan fewer releases."
        ) from None


def _solve_rate(question: Question, alone: float | None) -> float:
    k = question.k
    assert k is not None

    def keeps(rate: float) -> bool:
        return _keeps(question, k, rate)

    top = alone or 0.999
    if keeps(top):
        return top
    low = top / 2
    while low > SMALLEST_RATE and not keeps(low):
        low /= 4
    if not keeps(low):
        raise Infeasible(
            f"no rate of at least {SMALLEST_RATE:g} keeps {question.releases} releases to these totals. Raise epsilon, "
            "delta or k."
        )
    return largest_double(keeps, low, top, TOLERANCE)


def _solve_epsilon(question: Question, _alone: float | None) -> float:
    assert question.k is not None
    together = profile_together(question, question.k, question.rate).conclusion
    found: Any = profiles.profile_at_delta.conclude(together, delta=question.delta)
    return float(found.epsilon)


def _solve_delta(question: Question, _alone: float | None) -> float:
    assert question.k is not None
    together = profile_together(question, question.k, question.rate).conclusion
    found: Any = profiles.profile_at_epsilon.conclude(together, epsilon=question.epsilon)
    return float(found.delta)


_SOLVERS = {"k": _solve_k, "rate": _solve_rate, "epsilon": _solve_epsilon, "delta": _solve_delta}

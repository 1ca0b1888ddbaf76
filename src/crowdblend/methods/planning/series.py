"""Plans for several releases together: epsilon and delta are totals, and each release draws a fresh sample.

Two ways to get there: by composing the releases' divergence curves, and by giving each release its share of epsilon and
delta. The first is nearly always far better; what the second would need is said beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from crowdblend.errors import Infeasible, InvalidInput, NotApplicable
from crowdblend.methods.planning.bounds import crowd, profile_once
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.methods.planning.solve import SMALLEST_RATE
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import profiles
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    ClosenessCurve,
    LossCurve,
    Profile,
    ReplacedCurve,
    SurveyCurve,
    Uses,
)
from crowdblend.trusted.numerics.search import first_true, largest_double

LARGEST_K = 10**6
# Rates are found to five digits: every try composes all releases.
TOLERANCE = 1e-5
LARGEST_NOISE = 30.0
PROFILE, ADDED = "profile", "added"
RULES = {PROFILE: "composition.repeated", ADDED: "composition.differential"}


def profile_together(request: PlanRequest, k: int, rate: float | None) -> Derivation:
    """Return the profile of all releases together."""
    return profiles.repeated_releases_compose(profile_once(request, k, rate, 0.0), releases=request.releases)


def _compose(request: PlanRequest, k: int, rate: float | None) -> Profile:
    """The same as a value; where each release chooses its recoding, with the choices, of which the loss is known."""
    if request.choice_epsilon is None:
        return profile_together(request, k, rate).conclusion  # type: ignore[no-any-return]
    choice = Differential(request.choice_epsilon, 0.0, Relation.ADD_REMOVE)
    if request.choosing_share is not None:
        share, release = request.choosing_share, crowd(request, k).conclusion
        once = profiles.profile_of_split_recoding.conclude(choice, release, rate=rate, share=share)
    else:
        once = profiles.profile_of_population_recoding.conclude(choice, profile_once(request, k, rate, 0.0).conclusion)
    together: Profile = profiles.repeated_releases_compose.conclude(once, releases=request.releases)
    return together


def with_noise(request: PlanRequest) -> PlanRequest:
    """The request with the loss of the noise below k, where it is left open: the largest that leaves half of delta.

    The noise alone is a sampled mechanism of pure loss, whose releases compose like everything else.
    """
    if not request.noisy or request.noise_epsilon is not None:
        return request
    if request.rate is None or request.epsilon is None or request.delta is None:
        raise InvalidInput(
            "Several releases with noise below k are planned from rate, epsilon and delta, or with noise_epsilon. "
            "Pass noise_epsilon, or leave k out.",
            where="noise_epsilon",
            code="plan.unknown",
        )
    rate, epsilon, delta = request.rate, request.epsilon, request.delta

    def keeps(loss: float) -> bool:
        curve: LossCurve = AmplifiedCurve(loss, 0.0, rate)
        if request.survey_parameters:
            # Each release is of a survey of its own.
            curve = SurveyCurve(**request.survey_parameters, strata=False, uses=(Uses(ReplacedCurve(curve), 1),))
        uses = [Uses(curve, request.releases)]
        if request.choice_epsilon is not None:
            uses.append(Uses(ClosenessCurve(request.choice_epsilon, 0.0), request.releases))
        return _reaches(Profile(tuple(uses), request.relation), epsilon, delta / 2)

    low = epsilon / request.releases
    return replace(request, noise_epsilon=largest_double(keeps, low, LARGEST_NOISE, 1e-3))


def share_of(request: PlanRequest) -> PlanRequest:
    """The request about one release with its share of epsilon and delta."""

    def share(total: float | None) -> float | None:
        return None if total is None else math.nextafter(total / request.releases, 0.0)

    return replace(request, epsilon=share(request.epsilon), delta=share(request.delta), releases=1)


def added_up(request: PlanRequest, value: float) -> float:
    """Return the sum over shares: a loss is multiplied, k and rate are those of each release."""
    if request.unknown not in ("epsilon", "delta"):
        return value
    total = math.nextafter(value * request.releases, math.inf)
    return min(total, 1.0) if request.unknown == "delta" else total


def _reaches(profile: Profile, epsilon: float, delta: float) -> bool:
    try:
        found = profiles.profile_at_delta.conclude(profile, delta=delta)
    except (Infeasible, NotApplicable):
        return False
    return bool(found.epsilon <= epsilon)


def _keeps(request: PlanRequest, k: int, rate: float | None) -> bool:
    assert request.epsilon is not None
    assert request.delta is not None
    try:
        together = _compose(request, k, rate)
    except NotApplicable:
        return False
    return _reaches(together, request.epsilon, request.delta)


def _solve_k(request: PlanRequest, alone: float | None) -> float:
    _check_choices(request)
    least = request.exceptions + 2 if request.biased else 1
    start = max(int(alone or least), least)
    try:
        return first_true(lambda k: _keeps(request, k, request.rate), start, start, LARGEST_K)
    except LookupError:
        raise Infeasible(
            f"No k up to {LARGEST_K:,} keeps {request.releases} releases to these totals. Raise epsilon or delta, "
            f"lower {'noise_epsilon' if request.form == 'moved' else 'the rate'}, or plan fewer releases.",
            where="k",
            code="plan.no-k",
        ) from None


def _check_choices(request: PlanRequest) -> None:
    """Refuse choices on the population that lose more than the totals by themselves: no k mends that."""
    if request.choice_epsilon is None or request.choosing_share is not None:
        return
    assert request.epsilon is not None
    assert request.delta is not None
    choices = Profile((Uses(ClosenessCurve(request.choice_epsilon, 0.0), request.releases),))
    if not _reaches(choices, request.epsilon, request.delta):
        message = f"Choosing {request.releases} recodings costs more than `epsilon = {request.epsilon:g}` by itself."
        remedy = "Lower `recoding.epsilon`, raise `privacy.epsilon`, or plan fewer releases."
        raise Infeasible(message, remedy=remedy, where="`recoding.epsilon`", code="plan.choice-costs-all")


def _solve_rate(request: PlanRequest, alone: float | None) -> float:
    k = request.k
    assert k is not None

    def keeps(rate: float) -> bool:
        return _keeps(request, k, rate)

    top = alone or 0.999
    if keeps(top):
        return top
    low = top / 2
    while low > SMALLEST_RATE and not keeps(low):
        low /= 4
    if not keeps(low):
        raise Infeasible(
            f"No rate of at least {SMALLEST_RATE:g} keeps {request.releases} releases to these totals. Raise epsilon, "
            "delta or k.",
            where="rate",
            code="plan.no-rate",
        )
    return largest_double(keeps, low, top, TOLERANCE)


def _solve_loss(request: PlanRequest, _alone: float | None) -> float:
    """Return epsilon at the given delta, or delta at the given epsilon."""
    assert request.k is not None
    together = _compose(request, request.k, request.rate)
    if request.epsilon is None:
        return float(profiles.profile_at_delta.conclude(together, delta=request.delta).epsilon)
    return float(profiles.profile_at_epsilon.conclude(together, epsilon=request.epsilon).delta)


# The best value of the unknown for all releases, by their profiles, from the request and the answer for one of them.
SOLVERS = {"k": _solve_k, "rate": _solve_rate, "epsilon": _solve_loss, "delta": _solve_loss}

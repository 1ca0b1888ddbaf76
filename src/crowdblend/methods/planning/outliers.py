"""Plans for outlier-private tables: over how many people the noise must fade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.laplace import step_divergence
from crowdblend.trusted.numerics.search import first_true


@dataclass(frozen=True)
class OutlierPlan:
    """The guarantee of an outlier-private table: c·ε(j) to crowds of j, except with probability δ.

    ε(j) = tε/(K − j) below K − t, and ε from there on; t is the transition, K the limit and c the factor.
    """

    epsilon: float
    transition: int
    limit: int
    factor: float
    delta: float
    solved: str | None = None

    def loss(self, size: int) -> float:
        """ε(size), about; the noise on a bin of that size."""
        if size >= self.limit - self.transition:
            return self.epsilon
        return self.transition * self.epsilon / (self.limit - size)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data; the curve shows what crowds of some sizes are guaranteed."""
        sizes = curve_sizes(self.limit, self.transition)
        curve = {str(size): self.factor * self.loss(size) for size in sizes}
        return {
            "epsilon": self.epsilon,
            "transition": self.transition,
            "limit": self.limit,
            "factor": self.factor,
            "delta": self.delta,
            "solved": self.solved,
            "rule": mechanisms.outlier_histogram.id,
            "curve": curve,
        }


def curve_sizes(limit: int, transition: int) -> list[int]:
    """Return a few sizes at which the curve is worth a look: alone, on the way, and where it is flat."""
    flat = max(1, limit - transition)
    return sorted({1, *(1 + (flat - 1) * part // 4 for part in range(1, 4)), flat})


def plan_outliers(
    *,
    epsilon: float,
    limit: int,
    factor: float = 2.0,
    transition: int | None = None,
    delta: float | None = None,
) -> OutlierPlan:
    """Leave transition or delta out: the smallest transition that reaches delta, or the smallest delta.

    >>> plan_outliers(epsilon=0.2, limit=100, transition=50).delta
    1.6541290226069082e-07
    >>> plan_outliers(epsilon=0.2, limit=100, delta=1e-6).transition
    42
    """
    if (transition is None) == (delta is None):
        message = "Exactly one of transition and delta is solved for."
        remedy = "Leave one of them unset and give the other."
        raise InvalidInput(message, remedy=remedy, where="transition", code="plan.unknown")
    if transition is not None:
        delta = _claim(epsilon, transition, limit, factor).conclusion.delta
        return OutlierPlan(epsilon, transition, limit, factor, delta, "delta")
    assert delta is not None

    def reaches(transition: int) -> bool:
        return bool(_claim(epsilon, transition, limit, factor).conclusion.delta <= delta)

    # The noise changes most between the last two sizes at which it does: their divergence alone is a lower bound of
    # delta, and nearly always delta itself, so that hardly more than one transition is tried in full.
    def may_reach(transition: int) -> bool:
        here, before = arb(-epsilon).exp(), (arb(-epsilon) * transition / (transition + 1)).exp()
        return bool(step_divergence(balls, here, before, (arb(factor) * epsilon).exp()) < delta)

    try:
        if limit < 2:
            raise LookupError
        start = first_true(may_reach, 1, 1, limit - 1)
        found = first_true(reaches, start, start, limit - 1)
        return OutlierPlan(epsilon, found, limit, factor, delta, "transition")
    except LookupError:
        # With t = K − 1 the noise hardly changes from bin to bin: nothing guarantees a smaller delta.
        message = f"No transition below `limit = {limit}` reaches `delta = {delta:g}`."
        remedy = "Raise limit, factor, epsilon or delta."
        raise Infeasible(message, remedy=remedy, where="transition", code="plan.no-transition") from None


def _claim(epsilon: float, transition: int, limit: int, factor: float) -> Derivation:
    return mechanisms.outlier_histogram(epsilon=epsilon, transition=transition, limit=limit, factor=factor)

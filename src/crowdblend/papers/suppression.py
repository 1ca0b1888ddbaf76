"""Sampling and suppression at one point: LQS Theorem 5 beside the exact δ, both from the rules of the calculus."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus import Rule
from crowdblend.calculus.rules.sampling import suppression_exact, suppression_published
from crowdblend.figures.charts import Axis, Line, LineChart
from crowdblend.guarantees import CrowdBlending

EXACT, PUBLISHED = "exact", "published"


@dataclass(frozen=True)
class Point:
    """δ of suppression below k after sampling, by both rules."""

    k: int
    rate: float
    epsilon: float
    published: float
    exact: float


def point(k: int, rate: float, epsilon: float) -> Point:
    """Apply both rules."""
    published, exact = (delta(rule, k, rate, epsilon) for rule in (suppression_published, suppression_exact))
    return Point(k, rate, epsilon, published, exact)


def delta(rule: Rule, k: int, rate: float, epsilon: float) -> float:
    """The δ that one rule gives."""
    guarantee: Any = rule.conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
    return float(guarantee.delta)


def least_epsilon(rate: float) -> float:
    """−ln(1 − rate), from which on LQS Theorem 5 speaks."""
    return -math.log1p(-rate)


def inverse_delta_chart(points: Iterable[Point], label: Callable[[Point], str], *, title: str) -> LineChart:
    """Return 1/δ against ε, as LQS draws it: higher is better."""
    curves: dict[str, list[Point]] = {}
    for at in points:
        curves.setdefault(label(at), []).append(at)
    lines = [
        line
        for name, curve in curves.items()
        for line in (
            Line(name, [(at.epsilon, 1 / at.exact) for at in curve], "exact"),
            Line(name, [(at.epsilon, 1 / at.published) for at in curve], "published"),
        )
    ]
    return LineChart(
        lines,
        x=Axis("ε"),
        y=Axis("1/δ", log=True),
        title=title,
        subtitle="Higher is better. Solid: the exact δ. Dashed: LQS Theorem 5.",
    )

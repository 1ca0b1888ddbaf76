"""The figures of LQS section 3.3. The paper names their parameters in the text; the grids are ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crowdblend.errors import Infeasible
from crowdblend.figures.charts import Axis, Line, LineChart
from crowdblend.papers.reproduction import Reproduction
from crowdblend.papers.suppression import (
    EXACT,
    PUBLISHED,
    Point,
    inverse_delta_chart,
    least_epsilon,
    point,
)
from crowdblend.planning.bounds import BOUNDS, Bound
from crowdblend.planning.request import PlanRequest
from crowdblend.planning.solve import solve

FIGURE2_KS, FIGURE2_RATE = (5, 10, 20, 30, 50), 0.2
FIGURE3_K, FIGURE3_RATES = 20, (0.05, 0.1, 0.2, 0.3, 0.4)
FIGURE4_PAIRS = ((15, 0.05), (22, 0.1), (35, 0.2), (60, 0.4))
FIGURE5_KS, FIGURE5_RATE = (1, 2, 3, 4, 5), 0.025
FIGURE6_RATES, FIGURE6_DELTA = (0.05, 0.1, 0.2, 0.3, 0.4), 1e-6

EPSILONS = tuple(step / 20 for step in range(1, 41))
FIGURE6_KS = tuple(range(5, 101, 5))


def figure2() -> Reproduction:
    """Larger crowds protect more."""
    return _inverse_delta(
        "lqs-figure2",
        f"Larger k protects more (β = {FIGURE2_RATE:g})",
        [(k, FIGURE2_RATE) for k in FIGURE2_KS],
        lambda at: f"k = {at.k}",
    )


def figure3() -> Reproduction:
    """Smaller samples protect more."""
    return _inverse_delta(
        "lqs-figure3",
        f"Smaller samples protect more (k = {FIGURE3_K})",
        [(FIGURE3_K, rate) for rate in FIGURE3_RATES],
        lambda at: f"β = {at.rate:g}",
    )


def figure4() -> Reproduction:
    """What a doubled sampling rate costs in k."""
    return _inverse_delta(
        "lqs-figure4",
        "Each doubling of β, answered by a larger k",
        FIGURE4_PAIRS,
        lambda at: f"k = {at.k}, β = {at.rate:g}",
    )


def figure5() -> Reproduction:
    """Very small crowds at a very small rate."""
    return _inverse_delta(
        "lqs-figure5",
        f"Very small k (β = {FIGURE5_RATE:g})",
        [(k, FIGURE5_RATE) for k in FIGURE5_KS],
        lambda at: f"k = {at.k}",
    )


def _inverse_delta(
    name: str, title: str, curves: Iterable[tuple[int, float]], label: Callable[[Point], str]
) -> Reproduction:
    number = name.removeprefix("lqs-figure")
    points = [point(k, rate, epsilon) for k, rate in curves for epsilon in EPSILONS if epsilon > least_epsilon(rate)]
    return Reproduction(
        name=name,
        title=title,
        source=f"LQS, Figure {number}",
        columns=("k", "rate", "epsilon", "published", "exact"),
        rows=tuple((at.k, at.rate, at.epsilon, at.published, at.exact) for at in points),
        chart=inverse_delta_chart(points, label, title=f"LQS Figure {number}: {title}"),
        note="The last two columns are δ; the chart shows 1/δ. As in the paper, ε > −ln(1 − β): below it LQS Theorem 5 "
        "is silent, though suppression.exact is not.",
    )


def figure6() -> Reproduction:
    """The smallest ε that each k satisfies."""
    title = "The smallest ε that each k satisfies (δ ≤ 1e-6)"
    named = {bound.name: bound for bound in BOUNDS}
    published_bound, exact_bound = (named[name] for name in (PUBLISHED, EXACT))
    rows = [
        (k, rate, smallest_epsilon(published_bound, k, rate), smallest_epsilon(exact_bound, k, rate))
        for rate in FIGURE6_RATES
        for k in FIGURE6_KS
    ]
    lines = [
        line
        for rate in FIGURE6_RATES
        for line in (
            Line(f"β = {rate:g}", [(k, exact) for k, at, _, exact in rows if at == rate], "exact"),
            Line(f"β = {rate:g}", [(k, published) for k, at, published, _ in rows if at == rate], "published"),
        )
    ]
    return Reproduction(
        name="lqs-figure6",
        title=title,
        source="LQS, Figure 6",
        columns=("k", "rate", "published", "exact"),
        rows=tuple(rows),
        chart=LineChart(
            lines,
            x=Axis("k"),
            y=Axis("smallest ε", log=True),
            title=f"LQS Figure 6: {title[0].lower()}{title[1:]}",
            subtitle="Lower is better. Solid: the exact δ. Dashed: LQS Theorem 5, which ends at ε = −ln(1 − β).",
        ),
        note="The last two columns are ε; a cell is empty where no ε reaches the target. The paper does not name its k "
        "and β; these are ours.",
    )


def smallest_epsilon(bound: Bound, k: int, rate: float) -> float | None:
    """The smallest ε at which a rule guarantees the δ of Figure 6, or None where no ε does."""
    try:
        return solve(bound, PlanRequest(rate=rate, k=k, delta=FIGURE6_DELTA))
    except Infeasible:
        return None

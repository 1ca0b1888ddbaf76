"""The tables and figures of LQS (Li, Qardaji, Su: k-anonymization meets differential privacy).

LQS Theorem 5 stands beside the exact δ, both from the rules of the calculus. The paper names the parameters of its
figures in the text; the grids are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crowdblend.errors import Infeasible
from crowdblend.lab.papers.reproduction import Cell, Reproduction, agrees
from crowdblend.methods.planning.bounds import BOUNDS, Bound
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.methods.planning.solve import solve
from crowdblend.reading.figures.charts import Axis, Line, LineChart
from crowdblend.trusted.calculus import Rule
from crowdblend.trusted.calculus.rules.sampling import sampling_amplifies, suppression_exact, suppression_published
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, DifferentialUnderSampling, Relation

TABLE2_K = 20

# Printed in Table 1, left: rate, e^ε, ε, δ; right: rate, ε.
TABLE1_LEFT = ((1.0, "11", "2.40", "1e-5"), (0.1, "2", "0.69", "1e-6"), (0.01, "1.1", "0.095", "1e-7"))
TABLE1_RIGHT = ((1.0, "1"), (0.1, "0.159"), (0.01, "0.017"))

# Printed in Table 2, at k = 20: δ for each rate (rows) and ε (columns).
TABLE2_EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
TABLE2 = {
    0.05: ("6.83e-10", "2.50e-14", "3.19e-17", "1.76e-19", "3.97e-22", "2.00e-24"),
    0.1: ("4.19e-06", "1.61e-09", "3.44e-12", "4.07e-14", "3.22e-16", "1.89e-18"),
    0.2: ("2.16e-03", "8.02e-06", "1.89e-07", "6.03e-09", "4.79e-11", "1.59e-12"),
}

FIGURE6_RATES, FIGURE6_DELTA = (0.05, 0.1, 0.2, 0.3, 0.4), 1e-6
FIGURE6_KS = tuple(range(5, 101, 5))
EPSILONS = tuple(step / 20 for step in range(1, 41))


class Point(NamedTuple):
    """δ of suppression below k after sampling, by both rules."""

    k: int
    rate: float
    epsilon: float
    published: float
    exact: float


def point(k: int, rate: float, epsilon: float) -> Point:
    """Apply both rules."""
    rules = suppression_published, suppression_exact
    return Point(k, rate, epsilon, *(delta(rule, k, rate, epsilon) for rule in rules))


def delta(rule: Rule, k: int, rate: float, epsilon: float) -> float:
    """Return the δ that one rule gives."""
    guarantee = rule.conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
    assert isinstance(guarantee, DifferentialUnderSampling), "both rules are about sampling"
    return guarantee.delta


def least_epsilon(rate: float) -> float:
    """−ln(1 − rate), from which on LQS Theorem 5 speaks."""
    return -math.log1p(-rate)


def inverse_delta_chart(points: Iterable[Point], label: Callable[[Point], str], *, title: str) -> LineChart:
    """Return 1/δ against ε, as LQS draws it: higher is better."""
    curves: dict[str, list[Point]] = {}
    for at in points:
        curves.setdefault(label(at), []).append(at)
    lines = []
    for name, curve in curves.items():
        lines.append(Line(name, [(at.epsilon, 1 / at.exact) for at in curve], "exact"))
        lines.append(Line(name, [(at.epsilon, 1 / at.published) for at in curve], "published"))
    return LineChart(
        lines,
        x=Axis("ε"),
        y=Axis("1/δ", log=True),
        title=title,
        subtitle="Higher is better. Solid: the exact δ. Dashed: LQS Theorem 5.",
    )


def table1() -> Reproduction:
    """Reproduce how sampling strengthens two guarantees."""
    left = Differential(math.log(11), 1e-5, Relation.ADD_REMOVE)
    right = Differential(1.0, 0.0, Relation.ADD_REMOVE)
    rows = [_amplified_cells("(ln 11, 1e-5)", left, rate, *printed) for rate, *printed in TABLE1_LEFT]
    rows += [_amplified_cells("(1, 0)", right, rate, None, printed, None) for rate, printed in TABLE1_RIGHT]
    return Reproduction(
        name="lqs-table1",
        title="What sampling makes of two differentially private mechanisms",
        source="LQS, Table 1",
        columns=(
            "before sampling",
            "rate",
            "printed e^epsilon",
            "e^epsilon",
            "printed epsilon",
            "epsilon",
            "printed delta",
            "delta",
            "digits match",
        ),
        rows=tuple(rows),
        chart=None,
        note="Computed with the rule sampling.amplification (LQS Theorem 1).",
    )


def table2() -> Reproduction:
    """δ of suppression below 20 after sampling."""
    cells = [
        (printed, point(TABLE2_K, rate, epsilon))
        for rate, row in TABLE2.items()
        for epsilon, printed in zip(TABLE2_EPSILONS, row, strict=True)
    ]
    return Reproduction(
        name="lqs-table2",
        title=f"δ of sampling and suppression below k = {TABLE2_K}",
        source="LQS, Table 2",
        columns=("rate", "epsilon", "printed", "published", "exact", "published / exact", "digits match"),
        rows=tuple(
            (*at[1:3], printed, *at[3:], at.published / at.exact, agrees(printed, at.published))
            for printed, at in cells
        ),
        chart=inverse_delta_chart(
            (at for _, at in cells),
            lambda at: f"β = {at.rate:g}",
            title=f"LQS Table 2: suppression below k = {TABLE2_K}",
        ),
        note="Published is LQS Theorem 5 (rule suppression.published), exact the smallest δ that is true of the same "
        "release (rule suppression.exact).",
    )


def _amplified_cells(
    label: str, premise: Differential, rate: float, growth: str | None, epsilon: str | None, delta: str | None
) -> tuple[Cell, ...]:
    # Everybody sampled is no sampling: the first row of each half is the premise itself.
    after = premise if rate == 1 else sampling_amplifies.conclude(premise, rate=rate)
    assert isinstance(after, Differential | DifferentialUnderSampling), "sampling keeps differential privacy"
    ours = (math.exp(after.epsilon), after.epsilon, after.delta)
    pairs = tuple(zip((growth, epsilon, delta), ours, strict=True))
    matches = all(agrees(printed, value) for printed, value in pairs if printed is not None)
    return (label, rate, *(cell for pair in pairs for cell in pair), matches)


# By name: the title, k and rate of every curve, and how a curve is called.
FIGURES: dict[str, tuple[str, Sequence[tuple[int, float]], Callable[[Point], str]]] = {
    "lqs-figure2": (
        "Larger k protects more (β = 0.2)",
        [(k, 0.2) for k in (5, 10, 20, 30, 50)],
        lambda at: f"k = {at.k}",
    ),
    "lqs-figure3": (
        "Smaller samples protect more (k = 20)",
        [(20, rate) for rate in (0.05, 0.1, 0.2, 0.3, 0.4)],
        lambda at: f"β = {at.rate:g}",
    ),
    "lqs-figure4": (
        "Each doubling of β, answered by a larger k",
        [(15, 0.05), (22, 0.1), (35, 0.2), (60, 0.4)],
        lambda at: f"k = {at.k}, β = {at.rate:g}",
    ),
    "lqs-figure5": ("Very small k (β = 0.025)", [(k, 0.025) for k in range(1, 6)], lambda at: f"k = {at.k}"),
}


def inverse_delta_figure(name: str) -> Reproduction:
    """Return one of the figures with a curve for every k and rate."""
    title, curves, label = FIGURES[name]
    number = name.removeprefix("lqs-figure")
    points = [point(k, rate, epsilon) for k, rate in curves for epsilon in EPSILONS if epsilon > least_epsilon(rate)]
    return Reproduction(
        name=name,
        title=title,
        source=f"LQS, Figure {number}",
        columns=("k", "rate", "epsilon", "published", "exact"),
        rows=tuple(points),
        chart=inverse_delta_chart(points, label, title=f"LQS Figure {number}: {title}"),
        note="The last two columns are δ; the chart shows 1/δ. As in the paper, ε > −ln(1 − β): below it LQS Theorem 5 "
        "is silent, though suppression.exact is not.",
    )


def figure6() -> Reproduction:
    """Return the smallest ε that each k satisfies."""
    title = "The smallest ε that each k satisfies (δ ≤ 1e-6)"
    named = {bound.name: bound for bound in BOUNDS}
    rows = [
        (k, rate, *(smallest_epsilon(named[name], k, rate) for name in ("published", "exact")))
        for rate in FIGURE6_RATES
        for k in FIGURE6_KS
    ]
    lines = []
    for rate in FIGURE6_RATES:
        lines.append(Line(f"β = {rate:g}", [(k, exact) for k, at, _, exact in rows if at == rate], "exact"))
        lines.append(Line(f"β = {rate:g}", [(k, published) for k, at, published, _ in rows if at == rate], "published"))
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
    """Return the smallest ε at which a rule guarantees the δ of Figure 6, or None where no ε does."""
    try:
        return solve(bound, PlanRequest(rate=rate, k=k, delta=FIGURE6_DELTA))
    except Infeasible:
        return None

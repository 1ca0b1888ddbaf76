"""The figures of LQS section 3.3. The paper names their parameters in the text; the grids are ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from crowdblend.calculus import Rule
from crowdblend.calculus.rules.sampling import suppression_exact, suppression_published
from crowdblend.figures import Axis, line_chart
from crowdblend.numerics.search import first_true
from crowdblend.papers.reproduction import Reproduction
from crowdblend.papers.suppression import (
    EXACT,
    PUBLISHED,
    Point,
    delta,
    inverse_delta_chart,
    least_epsilon,
    point,
)

FIGURE2_KS, FIGURE2_RATE = (5, 10, 20, 30, 50), 0.2
FIGURE3_K, FIGURE3_RATES = 20, (0.05, 0.1, 0.2, 0.3, 0.4)
FIGURE4_PAIRS = ((15, 0.05), (22, 0.1), (35, 0.2), (60, 0.4))
FIGURE5_KS, FIGURE5_RATE = (1, 2, 3, 4, 5), 0.025
FIGURE6_RATES, FIGURE6_DELTA = (0.05, 0.1, 0.2, 0.3, 0.4), 1e-6

EPSILONS = tuple(step / 20 for step in range(1, 41))
FIGURE6_KS = tuple(range(5, 101, 5))
# ε is searched in steps of one ten-thousandth and rounded up, on the safe side.
STEPS = 10_000
# Beyond this a promise is worth little, and a k that needs more is shown as reaching nothing.
LARGEST_EPSILON = 5.0


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
        spec=inverse_delta_chart(points, label, title=f"LQS Figure {number}: {title}"),
        note="The last two columns are δ; the chart shows 1/δ. As in the paper, ε > −ln(1 − β): below it LQS Theorem 5 "
        "is silent, though suppression.exact is not.",
    )


def figure6() -> Reproduction:
    """The smallest ε that each k satisfies."""
    title = "The smallest ε that each k satisfies (δ ≤ 1e-6)"
    rules = (suppression_published, suppression_exact)
    rows = [
        (k, rate, published, exact)
        for rate in FIGURE6_RATES
        for k, published, exact in zip(FIGURE6_KS, *(smallest_epsilons(rule, rate) for rule in rules), strict=True)
    ]
    drawn = [
        {"series": f"β = {rate:g}", "k": k, "bound": bound, "epsilon": epsilon}
        for k, rate, published, exact in rows
        for bound, epsilon in ((EXACT, exact), (PUBLISHED, published))
    ]
    return Reproduction(
        name="lqs-figure6",
        title=title,
        source="LQS, Figure 6",
        columns=("k", "rate", "published", "exact"),
        rows=tuple(rows),
        spec=line_chart(
            drawn,
            x=Axis("k", "k"),
            y=Axis("epsilon", "smallest ε", log=True),
            series="series",
            title=f"LQS Figure 6: {title[0].lower()}{title[1:]}",
            subtitle="Lower is better. Solid: the exact δ. Dashed: LQS Theorem 5, which ends at ε = −ln(1 − β).",
        ),
        note="The last two columns are ε, rounded up to four decimals; a cell is empty where even ε = "
        f"{LARGEST_EPSILON:g} does not reach the target. The paper does not name its k and β; these are ours.",
    )


def smallest_epsilons(rule: Rule, rate: float) -> list[float | None]:
    """For each k of Figure 6 the smallest ε at which a rule promises its δ, or None where LARGEST_EPSILON does not."""
    silent = least_epsilon(rate) if rule is suppression_published else 0.0
    least, most = math.ceil(silent * STEPS) or 1, int(LARGEST_EPSILON * STEPS)
    found: list[float | None] = []
    guess = most
    for k in FIGURE6_KS:

        def holds(step: int, k: int = k) -> bool:
            return delta(rule, k, rate, step / STEPS) <= FIGURE6_DELTA

        try:
            step = first_true(holds, least, guess, most)
        except LookupError:
            found.append(None)
            continue
        found.append(step / STEPS)
        # ε falls about like 1/√k, so the next search starts close to its answer.
        guess = int(step * math.sqrt(k / (k + FIGURE6_KS[0])))
    return found

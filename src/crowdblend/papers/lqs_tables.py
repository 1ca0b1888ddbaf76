"""The tables of LQS (Li, Qardaji, Su: k-anonymization meets differential privacy)."""

from __future__ import annotations

import math
from typing import Any

from crowdblend.calculus.rules.sampling import sampling_amplifies
from crowdblend.guarantees import Differential, Relation
from crowdblend.papers.reproduction import Cell, Reproduction, agrees
from crowdblend.papers.suppression import inverse_delta_chart, point

TABLE2_K = 20

# Printed in Table 1, left: rate, e^ε, ε, δ; right: rate, ε.
TABLE1_LEFT = (
    (1.0, "11", "2.40", "1e-5"),
    (0.1, "2", "0.69", "1e-6"),
    (0.01, "1.1", "0.095", "1e-7"),
)
TABLE1_RIGHT = ((1.0, "1"), (0.1, "0.159"), (0.01, "0.017"))

# Printed in Table 2, at k = 20: δ for each rate (rows) and ε (columns).
TABLE2_EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
TABLE2 = {
    0.05: ("6.83e-10", "2.50e-14", "3.19e-17", "1.76e-19", "3.97e-22", "2.00e-24"),
    0.1: ("4.19e-06", "1.61e-09", "3.44e-12", "4.07e-14", "3.22e-16", "1.89e-18"),
    0.2: ("2.16e-03", "8.02e-06", "1.89e-07", "6.03e-09", "4.79e-11", "1.59e-12"),
}


def table1() -> Reproduction:
    """How sampling strengthens two guarantees."""
    left = Differential(math.log(11), 1e-5, Relation.ADD_REMOVE)
    right = Differential(1.0, 0.0, Relation.ADD_REMOVE)
    rows = [_amplified("(ln 11, 1e-5)", left, rate, *printed) for rate, *printed in TABLE1_LEFT]
    rows += [_amplified("(1, 0)", right, rate, None, printed, None) for rate, printed in TABLE1_RIGHT]
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
            (
                at.rate,
                at.epsilon,
                printed,
                at.published,
                at.exact,
                at.published / at.exact,
                agrees(printed, at.published),
            )
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


def _amplified(
    label: str, premise: Differential, rate: float, growth: str | None, epsilon: str | None, delta: str | None
) -> tuple[Cell, ...]:
    # Everybody sampled is no sampling: the first row of each half is the premise itself.
    after: Any = premise if rate == 1 else sampling_amplifies.conclude(premise, rate=rate)
    ours = (math.exp(after.epsilon), after.epsilon, after.delta)
    pairs = tuple(zip((growth, epsilon, delta), ours, strict=True))
    matches = all(agrees(printed, value) for printed, value in pairs if printed is not None)
    return (label, rate, *(cell for pair in pairs for cell in pair), matches)

"""What a plan gives: what readers see of groups of some sizes, and how its parameters trade off against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.errors import CrowdblendError
from crowdblend.figures.charts import Axis, Line, LineChart
from crowdblend.kinds import AnyPlan
from crowdblend.kinds.facts import DATA
from crowdblend.lazy import lazy
from crowdblend.planning import Plan, Sweep, sweep
from crowdblend.planning.sweep import TITLES

if TYPE_CHECKING:
    import numpy as np
    from scipy import special

    from crowdblend import estimates
else:
    estimates = lazy("crowdblend.estimates")
    np = lazy("numpy")
    special = lazy("scipy.special")

_OVER = {
    "rate": (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "epsilon": (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
}
SIZES = (10, 30, 100, 300, 1_000, 10_000)


@dataclass(frozen=True)
class GroupExpectation:
    """A group of so many people: how likely it is shown, and as what where its sample is the usual one.

    `low` and `high` are the ends of the 95 % interval that readers get; None where they get none.
    """

    people: int
    shown: float
    low: int | None
    high: int | None

    @property
    def off(self) -> int | None:
        """How far the ends of the interval are from the truth, at most."""
        if self.low is None or self.high is None:
            return None
        return max(self.people - self.low, self.high - self.people)

    def words(self) -> str:
        """Return the expectation as a sentence."""
        group = f"A group of {self.people:,} people"
        if self.shown < 0.0005:
            return f"{group} will not be shown."
        chance = "" if self.shown > 0.9995 else f" with a probability of {100 * self.shown:.3g} %"
        if self.off is None:
            return f"{group} will be shown{chance}."
        return f"{group} will be shown{chance}, as {self.people:,} ± {self.off:,}."


def expectations(planned: AnyPlan, sizes: tuple[int, ...] = SIZES) -> tuple[GroupExpectation, ...]:
    """Return what readers will see of groups of these sizes; nothing without counts by class, or with several."""
    facts = planned.facts()
    table = facts.tables.get(DATA)
    if table is None or table.laws.stratum is not None or table.laws.blocks != 1:
        return ()  # it depends on the stratum, or on the block
    law, rate = table.shown_by[0], facts.rate
    suppressed, k = law.noiseless, law.shown_from or 0
    if suppressed and rate is None:
        return ()
    estimator = table.laws.estimator if facts.rows_are_counted else None
    found = []
    for people in sizes:
        shown = 1.0
        if suppressed:
            shown = float(special.bdtrc(k - 1, people, rate)) if people >= k else 0.0
        low = high = None
        usual = round(people * rate) if rate is not None else people
        if estimator is not None and (not suppressed or usual >= k):
            ends = estimator.cells(np.array([usual], dtype=np.int64))
            low, high = (None if end < 0 else int(end) for end in (ends.low[0], ends.high[0]))
        found.append(GroupExpectation(people, shown, low, high))
    return tuple(found)


def sweep_chart(swept: Sweep) -> LineChart:
    """Return a swept plan as a chart with one line for each theorem."""
    # Totals of many releases lie far apart.
    log_y = swept.solved in ("delta", "rate") or swept.over == "releases"
    return LineChart(
        [Line(rule, [(row[swept.over], row[rule]) for row in swept.rows]) for rule in swept.rules],
        x=Axis(TITLES[swept.over], log=swept.over in ("delta", "releases")),
        y=Axis(TITLES[swept.solved], log=log_y),
        title=f"{TITLES[swept.solved].capitalize()} against {TITLES[swept.over]}",
    )


def may_sweep(planned: AnyPlan) -> bool:
    """Return whether a planned release has crowds of people and one parameter that is solved for."""
    parameters = getattr(planned, "parameters", None)
    return isinstance(parameters, Plan) and not parameters.request.biased and not parameters.request.shares


def trade_off_chart(planned: AnyPlan) -> LineChart | None:
    """Return what the planned parameter would be for other rates, or other ε where the rate is planned, or None."""
    parameters = getattr(planned, "parameters", None)
    if not isinstance(parameters, Plan) or not may_sweep(planned):
        return None
    over = "rate" if parameters.solved != "rate" else "epsilon"
    try:
        return sweep_chart(sweep(parameters.request, over, list(_OVER[over])))
    except CrowdblendError:
        return None

"""A chart of how the parameters of a plan trade off against each other."""

from __future__ import annotations

from crowdblend.errors import CrowdblendError
from crowdblend.figures.charts import Axis, Line, LineChart
from crowdblend.planning.plan import SolvedPlan
from crowdblend.planning.sweep import TITLES, Sweep, sweep

_OVER = {
    "rate": (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "epsilon": (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
}


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


def may_sweep(plan: object) -> bool:
    """Return whether a planned release has crowds of people and one parameter that is solved for."""
    parameters = getattr(plan, "parameters", None)
    return isinstance(parameters, SolvedPlan) and not parameters.request.biased and not parameters.request.shares


def trade_off_chart(plan: object) -> LineChart | None:
    """Return what the planned parameter would be for other rates, or other ε where the rate is planned, or None."""
    parameters = getattr(plan, "parameters", None)
    if not isinstance(parameters, SolvedPlan) or not may_sweep(plan):
        return None
    over = "rate" if parameters.solved != "rate" else "epsilon"
    try:
        return sweep_chart(sweep(parameters.request, over, list(_OVER[over])))
    except CrowdblendError:
        return None

"""The ledger: what was guaranteed to whom, as stairs over the releases, and every entry."""

from __future__ import annotations

from starlette.responses import Response

from crowdblend.errors import CrowdblendError
from crowdblend.ledger import Ledger
from crowdblend.ledger.budget import SpendingGroup, add_up
from crowdblend.reading.figures.charts import Axis, Line, LineChart
from crowdblend.studio.pictures import draw_chart
from crowdblend.studio.views import Visit, on_get
from crowdblend.trusted.guarantees.guessing import total_sentence


def show(visit: Visit) -> Response:
    """Totals and entries of every population."""
    ledger = Ledger(visit.studio.ledger)
    try:
        entries = ledger.entries()
    except CrowdblendError as refused:
        return visit.page(
            "ledger.html", populations=[], entries=[], place=None, error=refused.in_notation(None).to_dict()
        )
    populations = [_population(ledger, budget.population) for budget in ledger.budgets()]
    place = ledger.location.words()
    return visit.page("ledger.html", populations=populations, entries=entries, place=place, error=None)


def _population(ledger: Ledger, name: str) -> dict[str, object]:
    entries = [one for one in ledger.entries() if one.spending.population == name]
    spent = [SpendingGroup.of(one.spending) for one in entries]
    totals = [add_up(name, spent[:count]).differential for count in range(1, len(entries) + 1)]
    steps = [(count, one, sum_) for count, (one, sum_) in enumerate(zip(entries, totals, strict=True), 1)]
    budget = ledger.budget(name)
    points = [(count, one.epsilon) for count, _, one in steps if one is not None]
    axes = Axis("releases so far", whole=True), Axis("ε")
    stairs = LineChart([Line("ε", points)], *axes, "ε of all releases, added up", steps=True) if points[1:] else None
    total, limits = budget.differential, ledger.limits(name)
    composed = ledger.total(name)
    tighter = composed.tighter if composed.releases > 1 else None
    return {
        "name": name,
        "steps": steps,
        "total": total,
        "stated": len(budget.stated),
        "tighter": tighter,
        "limit": limits[-1].words() if limits else None,
        "lead": total and total_sentence(total, tighter),
        "assumptions": [one.value for one in (*budget.assumptions, *composed.assumptions)],
        "chart": stairs and draw_chart(stairs),
    }


ROUTES = [on_get("/ledger", show)]

"""Several tables of one population: from parts of one sample, or each from a fresh sample of its own.

Parts keep one ε for all tables but are thin: a table of a tenth of the sample counts a tenth of the people. Fresh
samples, composed by profile, need a larger k and count everybody who is drawn. What decides is how many people of the
population a class needs before it is usually published, k over the rate at which its table sees people.
"""

from __future__ import annotations

from dataclasses import replace

from crowdblend.errors import CrowdblendError
from crowdblend.frozen import dataclass
from crowdblend.planning.plan import SolvedPlan, answer_together


@dataclass(frozen=True)
class FreshSamples:
    """Fresh samples for as many tables, next to the planned parts."""

    k: int
    shown_from: float
    parts_shown_from: float

    @property
    def better(self) -> bool:
        """True if fresh samples publish smaller classes than parts do."""
        return self.shown_from < self.parts_shown_from

    def to_dict(self) -> dict[str, float]:
        """Return the comparison as JSON-ready data."""
        return {"k": self.k, "shown_from": self.shown_from, "parts_shown_from": self.parts_shown_from}

    def words(self) -> str:
        """Return the comparison in a sentence."""
        which = "Fresh samples show smaller classes" if self.better else "Parts show smaller classes"
        return (
            "If you hold the whole population, each table may have a fresh sample of its own instead "
            f'(split = "fresh" in [privacy]), with k = {self.k}. {which}: from about {self.shown_from:,.0f} people on, '
            f"and from about {self.parts_shown_from:,.0f} with parts."
        )


def fresh_instead(plan: SolvedPlan) -> FreshSamples | None:
    """Return the comparison for a plan with parts whose k was solved for; None where there is nothing to compare."""
    request = plan.request
    if not request.shares or plan.solved != "k" or plan.rate is None or request.releases > 1:
        return None
    try:
        fresh = answer_together(replace(request, shares=(), releases=len(request.shares)))
    except CrowdblendError:
        return None
    least = max(k / share for k, share in zip(plan.thresholds, request.shares, strict=True)) / plan.rate
    return FreshSamples(fresh.k, fresh.k / plan.rate, least)

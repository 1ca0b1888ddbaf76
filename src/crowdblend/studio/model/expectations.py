"""What readers will see of groups of some sizes, from the plan alone: how likely a group is shown, and how exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SIZES = (10, 30, 100, 300, 1_000, 10_000)


@dataclass(frozen=True)
class Expectation:
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
        """The expectation as a sentence."""
        group = f"A group of {self.people:,} people"
        if self.shown < 0.0005:
            return f"{group} will not be shown."
        chance = "" if self.shown > 0.9995 else f" with a probability of {100 * self.shown:.3g} %"
        if self.off is None:
            return f"{group} will be shown{chance}."
        return f"{group} will be shown{chance}, as {self.people:,} ± {self.off:,}."


def expectations(planned: Any, sizes: tuple[int, ...] = SIZES) -> tuple[Expectation, ...]:
    """What readers will see of groups of these sizes; nothing for kinds without counts by class."""
    import numpy as np  # noqa: PLC0415 - heavy
    from scipy.special import bdtrc  # noqa: PLC0415 - heavy

    from crowdblend.estimates import estimator_of  # noqa: PLC0415

    facts = planned.facts()
    if facts["kind"] not in ("table", "outlier-table", "microdata"):
        return ()
    parameters = facts["parameters"]
    rate, k = parameters.get("rate"), parameters.get("k")
    suppressed = isinstance(k, int) and facts.get("below_k") == "suppress"
    if suppressed and rate is None:
        return ()  # it depends on the stratum
    estimator = estimator_of(facts) if facts["kind"] != "microdata" else None
    found = []
    for people in sizes:
        shown = 1.0
        if suppressed:
            shown = float(bdtrc(k - 1, people, rate)) if people >= k else 0.0
        low = high = None
        usual = round(people * rate) if rate is not None else people
        if estimator is not None and (not suppressed or usual >= k):
            ends = estimator.cells(np.array([usual], dtype=np.int64))
            low, high = (None if end < 0 else int(end) for end in (ends.low[0], ends.high[0]))
        found.append(Expectation(people, shown, low, high))
    return tuple(found)
